import AegisContent
import Testing

@Suite struct PrivacyGuardTests {
    private let screen = PrivacyGuard()

    private func finding(_ text: String) -> PrivacyFinding? {
        screen.finding(in: text, rule: .strict)
    }

    @Test(arguments: [
        ("Card 4111 1111 1111 1111 was charged", PrivacyFinding?.some(.cardNumber)),
        ("Card 4111-1111-1111-1111 was charged", .cardNumber), ("Card 4111111111111111", .cardNumber),
        ("Card 3782 822463 10005", .cardNumber), ("Card ４１１１ １１１１ １１１１ １１１１", .cardNumber),
        ("Card 4111\u{200B}1111\u{200B}1111\u{200B}1111", .cardNumber), ("Card ٤١١١١١١١١١١١١١١١", .cardNumber),
        ("Card 4111\u{2011}1111\u{2011}1111\u{2011}1111", .cardNumber),
        ("Card 4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", .cardNumber),
        // The last digit off by one; no issuer; two digits short; the number of an order.
        ("Card 4111 1111 1111 1112 was charged", nil), ("Card 9111 1111 1111 1113", nil),
        ("Card 4111 1111 1111 11", nil), ("Order 4111111111111111", nil), ("Card ending in 1111", nil),
    ]) func `card numbers are told by issuer and check digit`(text: String, expected: PrivacyFinding?) {
        #expect(finding(text) == expected)
    }

    @Test(arguments: [
        ("From DE89 3704 0044 0532 0130 00", PrivacyFinding?.some(.iban)), ("From DE89370400440532013000.", .iban),
        ("From de89370400440532013000", .iban), ("From GB82 WEST 1234 5698 7654 32", .iban),
        ("From DE89\u{00A0}3704\u{00A0}0044\u{00A0}0532\u{00A0}0130\u{00A0}00", .iban),
        // A wrong check digit, a digit too many, an unknown country.
        ("From DE88370400440532013000", nil), ("From DE893704004405320130001", nil),
        ("From QQ89370400440532013000", nil),
    ]) func `account numbers have their country's length and a checksum`(text: String, expected: PrivacyFinding?) {
        #expect(finding(text) == expected)
    }

    @Test(arguments: [
        ("Write to anna@example.com.", PrivacyFinding?.some(.email)), ("Write to o'neil+x@mail.example.co.uk", .email),
        ("Write to zoe＠example.com", .email), ("@anna@social.example followed you", nil), ("anna@home is here", nil),
        ("see you @ 7.30", nil), ("@maria: hello", nil), ("1080p@60fps", nil), ("a@@b.com", nil), ("a@1.2", nil),
        ("git@example.com:shop/web.git was pushed", nil),
    ]) func `addresses have a name and a domain`(text: String, expected: PrivacyFinding?) {
        #expect(finding(text) == expected)
    }

    @Test(arguments: [
        ("Call +49 170 1234567", PrivacyFinding?.some(.phone)), ("Call (555) 867-5309", .phone),
        ("0171/2345678", .phone), ("06 12 34 56 78", .phone), ("Call 612 345 678", .phone),
        ("8 (495) 123-45-67", .phone),
        ("04.12.2026 09:30", nil), ("2026-12-04", nil), ("+100 XP", nil), ("+12345678 XP", nil),
        ("Order 555-867-5309", nil), ("Version 10.4.12.8831", nil), ("37.7749,-122.4194", nil),
        ("Call me at 10:30", nil), ("192.168.178.100", nil),
    ]) func `telephone numbers are no dates, versions or orders`(text: String, expected: PrivacyFinding?) {
        #expect(finding(text) == expected)
    }

    @Test(arguments: [
        ("Your code is 1234", PrivacyFinding?.some(.oneTimeCode)), ("Your code is 12345678", .oneTimeCode),
        ("Your code: 2026", .oneTimeCode), ("123 456 is your code", .oneTimeCode), ("验证码：１２３４", .oneTimeCode),
        ("Enter 4711 to sign in", .oneTimeCode), ("Login code K7X-9QD", .oneTimeCode),
        ("Your code is 123", nil), ("Your code is 123456789", nil), ("Promo code 123456", nil),
        ("Error code: 4711", nil), ("Zip code 90210", nil), ("Use code SUMMER20", nil),
        ("Your code expires in 2026", nil),
        ("We sent a code. Order 4711 is ready", nil), ("Code review for #4821", nil), ("Your code is 15%", nil),
    ]) func `a code is a secret by what it is called`(text: String, expected: PrivacyFinding?) {
        #expect(finding(text) == expected)
    }

    @Test(arguments: [
        ("password: hunter2", PrivacyFinding?.some(.password)), ("Passwort: geheim", .password),
        ("Your password is \"Tr0ub4dor\"", .password), ("Tr0ub4dor is your password", .password),
        ("New passphrase: correct horse battery staple", .password), ("パスワード：sakura88", .password),
        ("password: changed", nil), ("Your password is about to expire", nil), ("Password changed at 14:05", nil),
        ("Never share your password. Rex2011 joined", nil), ("Password", nil), ("Password:", nil),
    ]) func `a password is what follows its name and no news about it`(text: String, expected: PrivacyFinding?) {
        #expect(finding(text) == expected)
    }

    @Test(arguments: [
        ("sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc", PrivacyFinding?.some(.credential)),
        ("AK" + "IAIOSFODNN7EXAMPLE", .credential), ("gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a", .credential),
        ("Bearer 9f8e7d6c5b4a39281706f5e4", .credential), ("-----BEG" + "IN EC PRIVATE KEY-----", .credential),
        ("https://example.com/reset?token=9f8e7d6c5b4a", .credential),
        ("key 9f8e7d6c5b4a39281706f5e4d3c2b1a0", .credential),
        ("commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432", nil), ("550e8400-e29b-41d4-a716-446655440000", nil),
        ("https://example.com/reports/884213?utm_source=push&utm_medium=ios", nil),
        ("Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz", nil),
        ("https://example.com/how-to-cook-pasta-in-12-minutes-without-a-pot", nil), ("1Z999AA10123456784", nil),
    ]) func `keys are told by their issuers' marks or by chance`(text: String, expected: PrivacyFinding?) {
        #expect(finding(text) == expected)
    }

    @Test(arguments: [
        ("Applicant 536-22-8841", PrivacyFinding?.some(.nationalID)), ("86095742719", .nationalID),
        ("DNI 12345678Z", .nationalID), ("NIE X1234567L", .nationalID), ("RSSMRA85T10A562S", .nationalID),
        ("PESEL 44051401359", .nationalID), ("CPF 529.982.247-25", .nationalID), ("BSN 111222333", .nationalID),
        ("NIR 255081416802538", .nationalID),
        // Areas and groups that do not exist, checksums off by one, no name.
        ("Applicant 000-22-8841", nil), ("Applicant 666-22-8841", nil), ("Applicant 536-00-8841", nil),
        ("Applicant 536-22-0000", nil), ("86095742718", nil), ("DNI 12345678A", nil), ("RSSMRA85T10A562T", nil),
        ("PESEL 44051401358", nil), ("CPF 529.982.247-26", nil), ("Code 111222333", nil), ("NIR 255081416802539", nil),
    ]) func `numbers of persons pass their country's check`(text: String, expected: PrivacyFinding?) {
        #expect(finding(text) == expected)
    }

    @Test(arguments: [
        "€1,234.56", "1.234,56 €", "USD 12", "12,50 zł", "¥1200", "1200円", "R$ 42,17", "CHF 1'250.00", "19,- €", "-$5",
        "25 euros", "٢٥٠ ر.س", "＄９９", "1 250 ₽", "₹250", "420 kr", "PHP 1,200",
    ]) func `amounts are found in every spelling, where they are not allowed`(amount: String) {
        #expect(finding("It was \(amount) today") == .amount)
        #expect(screen.finding(in: "It was \(amount) today", rule: .amountsAllowed) == nil)
    }

    @Test(arguments: [
        "$AAPL is up", "PHP 8.3 is out", "COP 28 opens", "try 2 of them", "12 km", "5 %", "€ and $", "3:2",
    ])
    func `what only looks like money passes`(text: String) {
        #expect(finding(text) == nil)
    }

    @Test func `allowed amounts do not hide what is graver`() {
        let text = "You paid €12 with 4111 1111 1111 1111"
        #expect(screen.finding(in: text, rule: .strict) == .cardNumber)
        #expect(screen.finding(in: text, rule: .amountsAllowed) == .cardNumber)
    }
}
