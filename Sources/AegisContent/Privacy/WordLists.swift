/// The words behind ``Vocabulary``, by meaning and then by language.
///
/// Spelled as people write them; case and accents do not matter. A word may stand in several lists.
enum WordLists {
    static let spaced: [(words: String, meaning: Meaning)] =
        secrets + harmless + money + glue

    /// Ends of compounds that stand for the whole word.
    static let compoundEndings: [(ending: [UInt8], meaning: Meaning)] = [
        (Array("code".utf8), .secretCode), (Array("kode".utf8), .secretCode), (Array("kod".utf8), .secretCode),
        (Array("koden".utf8), .secretCode), (Array("passwort".utf8), .password),
        (Array("password".utf8), .password), (Array("wachtwoord".utf8), .password),
        (Array("kennwort".utf8), .password), (Array("losenord".utf8), .password),
        (Array("nummer".utf8), .reference),
    ]

    private static let secrets: [(words: String, meaning: Meaning)] = [
        (
            """
            code codes codigo codice kod kodu kody kodunuz koden kode code's código cod код кода коду кодом رمز الرمز
            कोड
            """, .code
        ),
        (
            """
            otp otps tan mtan pushtan smstan pin pins pinnya passcode passcodes totp otac 2fa mfa geheimzahl
            einmalpasswort einmalkennwort einmalcode zugangscode pincode pinkod tancode
            engangskod jednorazowe
            pinnummer pincodes
            """, .secretCode
        ),
        (
            """
            verification verify verifying security confirmation confirm authentication authenticator auth authorization
            login logon signin sign-in sign access one-time single-use passcode two-factor factor unlock activation
            activate recovery reset pickup pick-up locker door gate entry entrance temporary secret backup pairing
            registration sms step onetime usage unique uso solo einmalig jednorazowy eenmalige одноразовый
            bestatigung verifizierung anmeldung anmelde login zugang sicherheit freischalt aktivierung abhol
            verification verificación confirmación acceso seguridad recogida temporal inicio sesion autenticación
            vérification confirmation connexion sécurité retrait d'accès accès usage sécurisé activation
            verifica accesso conferma sicurezza ritiro autenticazione attivazione sblocco
            verificação confirmação acesso segurança retirada autenticação ativação desbloqueio
            weryfikacyjny potwierdzający dostępu bezpieczeństwa odbioru aktywacyjny autoryzacyjny logowania
            doğrulama onay giriş güvenlik aktivasyon
            подтверждения безопасности доступа проверки входа
            التحقق الأمان التأكيد الدخول
            सत्यापन सुरक्षा
            """, .securing
        ),
        (
            """
            password passwords passwd passwort passworts pwd passwort kennwort wachtwoord losenord lösenord adgangskode
            passe mdp contraseña contrasenya clave senha senhas hasło hasła haslo parola parolanız parolaniz şifre
            şifreniz şifresi sifre salasana heslo jelszo wifi-password пароль пароля parool passphrase passfrase
            passphrases пароля पासवर्ड المرور
            """, .password
        ),
        ("passphrase passphrases mnemonic", .phrase),
        (
            """
            token tokens key keys apikey apikeys secret secrets credential credentials schlüssel api-schlüssel
            zugriffstoken toegangstoken clé cle jeton clave llave chiave chave sleutel klucz klucza nyckel ключ токен
            signature anahtar anahtarı
            """, .credential
        ),
        ("bearer basic digest-auth", .scheme),
        (
            """
            call called calls caller calling callback phone phones telephone tel tél cell cellphone mobile mob voicemail
            whatsapp ring dial fax hotline sms sim handy contact contacts courier driver text texted
            anruf angerufen ruf rufen rückruf zurückrufen telefon telefonnummer handynummer mobilnummer mobil
            rufnummer fahrer techniker kontakt telefonisch
            appel appelez rappelez téléphone portable joindre livreur appeler mobile numéro
            llamada llama llame llámanos teléfono telefono móvil celular repartidor contacto
            chiamata chiama richiama cellulare cell telefonare corriere
            chamada ligue ligar telefone celular telemóvel contato
            oproep bel bellen gebeld telefoon telefoonnummer mobiel bezorger
            połączenie połączenia zadzwoń kurier telefonu komórka dzwonił tel kom
            arama telefonu kurye aradı cep
            звонок звоните позвоните телефон курьер тел номер
            samtal ring telefonnummer mobilnummer
            مكالمة هاتف جوال اتصل
            फ़ोन कॉल मोबाइल
            """, .phone
        ),
        (
            """
            ssn social nationalid itin steuer steuerid steuernummer identifikationsnummer idnr nir insee sécu sécurité
            vitale assuré dni nie nif codice fiscale cf pesel cpf contribuinte bsn burgerservicenummer sofinummer
            personnummer tckn sozialversicherungsnummer steueridentifikationsnummer versichertennummer
            fødselsnummer cedula cédula
            """, .nationalID
        ),
    ]

    private static let harmless: [(words: String, meaning: Meaning)] = [
        (
            """
            promo promotion promotional promocode discount coupon voucher gift giftcode referral offer zip zipcode postal
            post postcode area country dialing dialling error errorcode exit status qr barcode bar source sourcecode dress
            morse colour color unicode encode decode vscode xcode bytecode opcode review reviews quality swift sort
            airport product class geocode transcode conduct civil building tax hs hex machine response return style
            branch deal sale creator
            rabattcode gutscheincode aktionscode strichcode fehlercode landcode landescode quellcode plz postleitzahl
            statuscode gutschein rabatt hausordnung farbcode
            route pénal civil promotionnel réduction barres erreur postal cadeau
            descuento promocional cupón barras penal postal regalo error verano
            sconto promozionale barre strada postale errore regalo
            desconto promocional barras erro cupom cep
            kortingscode foutcode streepjescode actiecode broncode korting
            rabatowy rabatowego pocztowy błędu kreskowy promocyjny
            indirim posta hata
            rabattkod felkod postkod streckkod kampanjkod landskod
            ошибки промокод скидки почтовый
            """, .harmless
        ),
        (
            """
            order orders ordered parcel package packages shipment shipping tracking track trackingnumber delivery consignment
            waybill awb usps ups fedex dhl gls dpd hermes invoice receipt bill statement booking reservation ticket case
            claim reference ref serial sku isbn ean upc gtin item book article model part lot batch imei vin flight train
            bus gate seat seats platform track room table queue version build release update firmware app kernel job
            incident issue request meeting member membership loyalty policy contract account customer client lab
            prescription draw lottery numbers ending ends
            bestellung bestellnummer bestellnr auftrag auftragsnummer sendung sendungsnummer paket lieferung rechnung
            rechnungsnummer buchung reservierung vorgang aktenzeichen kundennummer seriennummer artikel artikelnummer
            zug flug zimmer los losnummer lottozahlen ziffern endet stromzähler zähler vertrag vertragsnummer ticket
            mitgliedsnummer kunden fahrt
            commande colis colissimo livraison suivi facture réservation dossier référence série vol train chambre tirage
            client ligne contrat billet
            pedido paquete envío seguimiento factura reserva expediente referencia vuelo tren habitación sorteo cliente
            mesa
            ordine pacco spedizione fattura prenotazione pratica treno volo camera riferimento estrazione
            encomenda objeto fatura nota protocolo voo reserva pedido rastreamento quarto
            bestelling pakket zending factuur zaaknummer trein vlucht kamer ordernummer
            zamówienie zamówienia paczka paczki przesyłka faktura sprawy pociąg lot pokój rezerwacja
            sipariş siparişiniz kargo kargonuz fatura uçuşu randevu
            paket order försändelse faktura tåg
            заказ заказа посылка поезд рейс счет
            طلب الطلب رحلة شحنة
            ऑर्डर ट्रेन
            """, .reference
        ),
        (
            """
            commit commits revision sha sha1 sha256 sha512 md5 hash checksum digest deploy deployed build image etag
            fingerprint version uuid trace request
            """, .digest
        ),
    ]

    private static let money: [(words: String, meaning: Meaning)] = [
        (
            """
            euro euros eur dollar dollars dólares dolares dólar bucks pence yen yuan złotych złote złoty zloty zlotych zl zł
            kr kronor kroner sek reais real pesos rupees rupee rupien rs franken francs rubles lira liras tl kč kc lei ft
            forint руб рублей рубля рубль р грн ر درهم ريال جنيه रुपये रुपए евро долларов доллара ريالا دولار يورو
            """, .currency
        ),
        (
            """
            usd eur gbp chf jpy cny rmb inr pln sek nok dkk isk czk huf ron bgn try rub uah brl mxn cad aud nzd sgd hkd
            krw twd thb idr myr vnd zar aed sar ils egp clp cop ars pen php qar kwd ngn kes mad tnd
            """, .isoCode
        ),
        ("php cop try cad pen mad ars ron kes", .ambiguousCurrency),
    ]

    private static let glue: [(words: String, meaning: Meaning)] = [
        (
            """
            is are as ist lautet lauten sind est es son sera è é sono e to jest är ar er lyder são será wynosi равен это
            هو हे है becomes now equals
            """, .copula
        ),
        (
            """
            enter type use using input submit reply geben gib tippen eingeben nutzen verwenden saisissez entrez tapez
            introduce introduzca ingresa ingrese escribe inserisci digita inserire digite insira informe voer vul typ
            wpisz podaj wprowadź введите girin ange
            """, .entering
        ),
        (
            """
            to in for into at when on sie ein pour dans afin para en per nel om aby żeby w чтобы içi için för and
            """, .purpose
        ),
        (
            """
            changed change updated reset expired expires expire sent requested required good strong weak correct wrong
            incorrect invalid managed manager forgotten set removed regenerated enabled disabled rotated rotation added
            strength must should please never none accepted rejected successful successfully confirmed
            geändert zurückgesetzt abgelaufen läuft verschickt gesendet falsch erforderlich wurde bestätigt
            modifié modifiée réinitialisé expire envoyé envoyée changé incorrect requis
            cambiada cambiado modificada caduca enviado enviada restablecida incorrecta actualizada
            modificata cambiata scade inviato inviata aggiornata reimpostata errata
            alterada alterado expira enviado redefinida incorreta atualizada
            gewijzigd verloopt verstuurd gestuurd hersteld onjuist verlopen
            zmienione wygasa wysłany wysłaliśmy zresetowane zmieniono nieprawidłowe
            değiştirildi gönderildi
            изменен отправлен истекает сброшен
            ändrats skickats ändrat
            merged
            """, .state
        ),
        (
            """
            your you my our this that the a an it its no nr num number numbers nos n new card id of following
            der die das den dem ihr ihre ihren ihrer dein deine mein nummer neue neuer neues vorläufiges vorläufige karte
            votre ton ta le la les l un une du de des d numéro nouveau nouvelle carte provisoire
            tu su el lo mi los las número nuevo nueva tarjeta
            il tuo tua suo numero nuovo nuova carta
            o seu sua os as um uma cartão
            je jouw uw het een kaart nieuwe
            twój twoje numer karta nowy nowe
            din ditt
            ваш ваша номер
            di da della do dos dell
            kartennummer kreditkartennummer kontonummer kortnummer kaartnummer rekeningnummer bankkonto konto account
            temporary initial temporal provvisoria provisória tijdelijk tymczasowe guest wifi wi fi wlan
            """, .filler
        ),
    ]

    /// Words of scripts without blanks between words.
    static let unspaced: [(words: String, meaning: Meaning)] = [
        (
            """
            認証コード 確認コード 認証番号 暗証番号 確認番号 ワンタイムパスワード ワンタイムコード ログインコード セキュリティコード 検証コード \
            アクセスコード 受取コード パスコード 验证码 驗證碼 动态码 动态密码 動態密碼 校验码 安全码 安全碼 取件码 取件碼 登录码 确认码 \
            一次性密码 提取码 激活码 인증번호 인증코드 보안코드 확인코드 일회용 접속코드
            """, .secretCode
        ),
        ("コード 代码 代碼 코드 码 暗号", .code),
        ("인증 보안 확인", .securing),
        (
            """
            クーポンコード エラーコード バーコード 国コード QRコード 郵便番号 优惠码 折扣码 邮政编码 错误代码 二维码 条形码 条码 号码 號碼 代金券码 \
            오류 쿠폰 우편번호 할인 邮编 编码 密码学 数码 源代码 ソースコード コードレビュー
            """, .harmless
        ),
        ("パスワード 密码 密碼 口令 비밀번호 암호", .password),
        ("カード番号 口座番号 卡号 卡號 银行卡号 账号 카드번호 계좌번호", .filler),
        ("密钥 密鑰 令牌 トークン キー 토큰 키", .credential),
        ("注文 お荷物 荷物 予約 便 订单 快递单 航班 列车 取餐号 单号 주문 택배 예약 운송장", .reference),
        (
            """
            電話番号 電話 着信 不在着信 携帯 発信 电话 電話號碼 手机号 手机 手机号码 来电 聯絡電話 联系电话 전화 전화번호 휴대폰 부재중
            """, .phone
        ),
    ]
}
