import AegisCore
import AegisPorts
import IdentityDigests
import Testing

@Suite struct DigestTests {
    private let digests = OpenSSLDigests(hashKey: Array("deployment key".utf8))
    private let event = EventIdentity(source: "orders", id: "evt-1")

    @Test func `a push id is a UUID of version 5 that only identity decides`() throws {
        let user = try UserID("user-42")
        let id = digests.pushID(for: event, user: user, device: DeviceID(7))
        let other = OpenSSLDigests(hashKey: [1]).pushID(for: event, user: user, device: DeviceID(7))
        #expect(id == other)
        let text = Array(id.description)
        #expect(text[14] == "5")
        #expect("89ab".contains(text[19]))
        #expect(id != digests.pushID(for: event, user: user, device: DeviceID(8)))
        #expect(id != digests.pushID(for: event, user: try UserID("user-43"), device: DeviceID(7)))
    }

    @Test func `a push id never changes between versions`() throws {
        let id = digests.pushID(for: event, user: try UserID("user-42"), device: DeviceID(7))
        #expect(id.description == "b281c380-5ccf-51d7-a8de-64344db0f1e7")
    }

    @Test func `where one field ends and the next begins matters`() throws {
        let (user, longUser, oddUser) = try (UserID("u"), UserID("cu"), UserID("1:c,u"))
        let device = DeviceID(1)
        let ids = Set([
            digests.pushID(for: EventIdentity(source: "a", id: "bc"), user: user, device: device),
            digests.pushID(for: EventIdentity(source: "ab", id: "c"), user: user, device: device),
            digests.pushID(for: EventIdentity(source: "a", id: "b"), user: longUser, device: device),
            digests.pushID(for: EventIdentity(source: "a", id: "b,1:c"), user: user, device: device),
            digests.pushID(for: EventIdentity(source: "a", id: "b"), user: oddUser, device: device),
        ])
        #expect(ids.count == 5)
    }

    @Test func `a collapse id is 64 hex digits of event and user`() throws {
        let id = digests.collapseID(for: event, user: try UserID("user-42"))
        #expect(id.utf8.count == 64)
        #expect(id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(id == digests.collapseID(for: event, user: try UserID("user-42")))
        #expect(id != digests.collapseID(for: event, user: try UserID("user-43")))
    }

    @Test func `a publisher's collapse id stays where APNs takes it`() {
        let longest = String(repeating: "é", count: 32)
        #expect(digests.collapseID(fitting: "order-7") == "order-7")
        #expect(digests.collapseID(fitting: longest) == longest)
        for text in [longest + "x", "", "two\nlines", " space", "tab\t", "nul\0"] {
            let fitted = digests.collapseID(fitting: text)
            #expect(fitted.utf8.count == 64)
            #expect(fitted != text)
        }
    }

    @Test func `hashes are keyed HMACs that name nobody`() throws {
        // printf user-42 | openssl dgst -sha256 -hmac 'deployment key'
        let user = try UserID("user-42")
        #expect(digests.hash(of: user).text == "ac36a550e931")
        #expect(digests.hash(of: user) != OpenSSLDigests(hashKey: [1]).hash(of: user))
        let token = try DeviceToken(hex: "AB01")
        #expect(digests.hash(of: token) == digests.hash(of: try DeviceToken(hex: "ab01")))
        #expect(digests.hash(of: token).text.utf8.count == 12)
    }
}
