import APNsSimulator
import Testing

@Suite struct AuthenticationTests {
    private func outcome(_ authorization: String?, on fixture: SimulatorFixture) throws -> String {
        let client = try fixture.connect()
        return try client.response(client.push(authorization: authorization)).outcome
    }

    @Test(arguments: [nil, "", "bearer", "basic YTpi"] as [String?])
    func `no token at all is MissingProviderToken`(authorization: String?) throws {
        #expect(try outcome(authorization, on: SimulatorFixture()) == "403 MissingProviderToken")
    }

    @Test func `a valid token passes whatever the case of its scheme`() throws {
        let fixture = try SimulatorFixture()
        #expect(try outcome(fixture.bearer(), on: fixture) == "200")
        #expect(try outcome("Bearer" + fixture.bearer().dropFirst(6), on: fixture) == "200")
    }

    @Test(arguments: [
        #"{"alg":"HS256","kid":"ABC123DEFG"}"#, #"{"kid":"ABC123DEFG"}"#, #"{"alg":"ES256"}"#,
        #"{"alg":"ES256","kid":"ZZZZZZZZZZ"}"#, "not json",
    ])
    func `another algorithm, an unknown key or no header is InvalidProviderToken`(header: String) throws {
        let fixture = try SimulatorFixture()
        let token = try fixture.signer.bearer(issuedAt: fixture.clock.milliseconds / 1000, header: header)
        #expect(try outcome(token, on: fixture) == "403 InvalidProviderToken")
    }

    @Test(arguments: [
        #"{"iss":"XXXXXXXXXX","iat":1780000000}"#, #"{"iat":1780000000}"#, #"{"iss":"DEF123GHIJ"}"#,
        #"{"iss":"DEF123GHIJ","iat":"1780000000"}"#, #"{"iss":"DEF123GHIJ","iat":1780000000.5}"#,
        #"{"iss":"DEF123GHIJ","iat":1780000000000}"#,
    ])
    func `another team or no whole number of seconds is InvalidProviderToken`(claims: String) throws {
        let fixture = try SimulatorFixture()
        let token = try fixture.signer.bearer(issuedAt: 0, claims: claims)
        #expect(try outcome(token, on: fixture) == "403 InvalidProviderToken")
    }

    @Test func `a token of another key, a changed one and a padded one are InvalidProviderToken`() throws {
        let fixture = try SimulatorFixture()
        let stranger = try ProviderSigner().bearer(issuedAt: fixture.clock.milliseconds / 1000)
        #expect(try outcome(stranger, on: fixture) == "403 InvalidProviderToken")
        let good = try fixture.bearer()
        #expect(try outcome(good + "==", on: fixture) == "403 InvalidProviderToken")
        #expect(try outcome(String(good.dropLast(4)), on: fixture) == "403 InvalidProviderToken")
        #expect(try outcome(good + ".x", on: fixture) == "403 InvalidProviderToken")
    }

    @Test func `a DER signature passes in the lenient mode alone`() throws {
        for (isLenient, expected) in [(false, "403 InvalidProviderToken"), (true, "200")] {
            let fixture = try SimulatorFixture { $0.acceptDERSignatures = isLenient }
            let token = try fixture.signer.bearer(issuedAt: fixture.clock.milliseconds / 1000, inDER: true)
            #expect(try outcome(token, on: fixture) == expected)
        }
    }

    @Test func `a token of 3599 seconds passes, one of 3601 wedges its connection for ever`() throws {
        let fixture = try SimulatorFixture()
        #expect(try outcome(fixture.bearer(age: 3599), on: fixture) == "200")
        #expect(try outcome(fixture.bearer(age: 3600), on: fixture) == "200")
        let client = try fixture.connect()
        #expect(
            try client.response(client.push(authorization: fixture.bearer(age: 3601))).outcome
                == "403 ExpiredProviderToken")
        #expect(try client.response(client.push(authorization: fixture.bearer())).outcome == "403 ExpiredProviderToken")
        #expect(try outcome(fixture.bearer(), on: fixture) == "200")
    }

    @Test func `a token expires while its connection is open`() throws {
        let fixture = try SimulatorFixture()
        let bearer = try fixture.bearer()
        let client = try fixture.openConnection()
        fixture.clock.advance(seconds: 3601)
        #expect(try client.response(client.push(authorization: bearer)).outcome == "403 ExpiredProviderToken")
    }

    @Test func `a token from the future passes within the tolerance only`() throws {
        let fixture = try SimulatorFixture { $0.futureTokenTolerance = 120 }
        #expect(try outcome(fixture.bearer(age: -120), on: fixture) == "200")
        #expect(try outcome(fixture.bearer(age: -121), on: fixture) == "403 InvalidProviderToken")
    }

    @Test func `a second token within 20 minutes is too many on one connection, not on two`() throws {
        let fixture = try SimulatorFixture()
        let client = try fixture.openConnection()
        let first = try fixture.bearer()
        for _ in 0..<3 { #expect(try client.response(client.push(authorization: first)).outcome == "200") }
        fixture.clock.advance(seconds: 1199)
        let second = try fixture.bearer()
        #expect(try client.response(client.push(authorization: second)).outcome == "429 TooManyProviderTokenUpdates")
        #expect(try outcome(second, on: fixture) == "200")
        fixture.clock.advance(seconds: 1)
        #expect(try client.response(client.push(authorization: second)).outcome == "200")
    }

    @Test func `the first token binds the connection to its team and its key`() throws {
        let related = try ProviderSigner(keyID: "RELATED001")
        let unrelated = try ProviderSigner(keyID: "UNRELATED1")
        let otherTeam = try ProviderSigner(keyID: "OTHERTEAM1", teamID: "TEAM222222")
        let fixture = try SimulatorFixture { options in
            options.providerKeys[0].relatedKeyID = related.keyID
            options.providerKeys += [
                try related.providerKey, try unrelated.providerKey, try otherTeam.providerKey,
            ]
        }
        let client = try fixture.openConnection()
        let now = fixture.clock.milliseconds / 1000
        let outcomes = try [otherTeam, unrelated, related].map { signer in
            try client.response(client.push(authorization: signer.bearer(issuedAt: now))).outcome
        }
        #expect(outcomes == ["403 InvalidProviderToken", "403 UnrelatedKeyIdInToken", "200"])
    }

    @Test func `a key of one environment fails in the other, in either spelling`() throws {
        for (alternate, reason) in [(false, "BadEnvironmentKeyIdInToken"), (true, "BadEnvironmentKeyInToken")] {
            let fixture = try SimulatorFixture { options in
                options.providerKeys[0].environment = .sandbox
                options.alternateKeyEnvironmentSpelling = alternate
            }
            #expect(try fixture.outcome(environment: .sandbox) == "200")
            #expect(try fixture.outcome(environment: .production) == "403 " + reason)
        }
    }

    @Test func `a key's topics are those of the moment the connection first used it`() throws {
        let fixture = try SimulatorFixture { $0.providerKeys[0].topics = ["com.example.app"] }
        #expect(try fixture.outcome(topic: "com.example.app.voip") == "200")
        let client = try fixture.openConnection()
        var key = try fixture.signer.providerKey
        key.topics = ["com.example.app", "com.example.new"]
        try fixture.simulator.setProviderKeys([key])
        let bearer = try fixture.bearer()
        let old = try client.response(client.push(authorization: bearer, topic: "com.example.new"))
        #expect(old.outcome == "400 TopicDisallowed")
        let fresh = try fixture.connect()
        #expect(try fresh.response(fresh.push(authorization: bearer, topic: "com.example.new")).outcome == "200")
    }

    @Test func `a certificate's only topic is the default, one with several has none`() throws {
        let fixture = try SimulatorFixture()
        func outcome(_ certificate: PushCertificate, topic: String?) throws -> String {
            let client = try fixture.connect(certificate: certificate)
            return try client.response(client.push(topic: topic)).outcome
        }
        let single = try PushCertificate(uid: "com.example.app")
        #expect(try outcome(single, topic: nil) == "200")
        #expect(fixture.simulator.notifications().map(\.topic) == ["com.example.app"])
        #expect(try outcome(single, topic: "com.example.other") == "400 TopicDisallowed")
        let several = try PushCertificate(uid: "com.example.app", topics: ["com.example.app", "com.example.app.voip"])
        #expect(try outcome(several, topic: nil) == "400 MissingTopic")
        #expect(try outcome(several, topic: "com.example.app.voip") == "200")
        let sandbox = try PushCertificate(uid: "com.example.app", environment: .sandbox)
        #expect(try outcome(sandbox, topic: nil) == "403 BadCertificateEnvironment")
    }

    @Test func `tokens are not looked at when told so`() throws {
        let fixture = try SimulatorFixture { $0.verifyJWT = false }
        #expect(try outcome("bearer anything", on: fixture) == "200")
        #expect(try outcome(nil, on: fixture) == "403 MissingProviderToken")
    }
}
