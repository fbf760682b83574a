package import AegisCore
import AegisPorts

/// Names and hashes computed with OpenSSL: the same input gives the same name on every instance.
///
/// The names of pushes depend on identities alone, the hashes for logs on the deployment's key as well.
package struct OpenSSLDigests: AegisPorts.IdentityDigests {
    private let hashKey: [UInt8]
    private let sha1 = DigestAlgorithm.sha1
    private let sha256 = DigestAlgorithm.sha256

    /// - Parameter hashKey: secret, the same for all instances of a deployment; keys the hashes of users and tokens.
    package init(hashKey: [UInt8]) {
        self.hashKey = hashKey
    }

    package func pushID(for event: EventIdentity, user: UserID, device: DeviceID) -> PushID {
        var name = Self.namespace
        Self.append(event.source, to: &name)
        Self.append(event.id, to: &name)
        Self.append(user.text, to: &name)
        Self.append(String(device.number), to: &name)
        let digest = sha1.digest(of: name)
        // RFC 9562 section 5.5: the first 16 bytes of the SHA-1, with version and variant put in their places.
        let high = Self.bigEndian(digest.prefix(8)) & ~0xF000 | 0x5000
        let low = Self.bigEndian(digest.dropFirst(8).prefix(8)) & ~(0b11 << 62) | 0b10 << 62
        return PushID(high: high, low: low)
    }

    package func collapseID(for event: EventIdentity, user: UserID) -> String {
        var name: [UInt8] = []
        Self.append(event.source, to: &name)
        Self.append(event.id, to: &name)
        Self.append(user.text, to: &name)
        return Self.hex(sha256.digest(of: name))
    }

    package func collapseID(fitting text: String) -> String {
        Self.isHeaderValue(text) ? text : Self.hex(sha256.digest(of: Array(text.utf8)))
    }

    package func hash(of user: UserID) -> UserHash {
        UserHash(text: keyedHash(of: user.text))
    }

    package func hash(of token: DeviceToken) -> DeviceHash {
        DeviceHash(text: keyedHash(of: token.hex))
    }

    /// The first 12 hex digits of the HMAC-SHA256 of the text's UTF-8: what `openssl dgst -sha256 -hmac` shows, cut short.
    private func keyedHash(of text: String) -> String {
        Self.hex(sha256.authenticate(Array(text.utf8), key: hashKey).prefix(6))
    }

    /// The UUID that the names of pushes live under; random, ours, never to be changed.
    private static let namespace: [UInt8] = [
        0x5f, 0x0b, 0x2c, 0x1e, 0x93, 0x7a, 0x4d, 0x46, 0x8e, 0x11, 0xd7, 0x60, 0xa4, 0x3b, 0x9c, 0x25,
    ]

    /// Appends a text as a netstring (`5:hello,`), so that no two lists of texts give the same bytes.
    private static func append(_ text: String, to name: inout [UInt8]) {
        name.append(contentsOf: String(text.utf8.count).utf8)
        name.append(UInt8(ascii: ":"))
        name.append(contentsOf: text.utf8)
        name.append(UInt8(ascii: ","))
    }

    /// Whether a text can stand in `apns-collapse-id` as it is.
    ///
    /// RFC 9110 section 5.5 leaves no room for control characters, nor for white space at either end.
    private static func isHeaderValue(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, let last = bytes.last, bytes.count <= 64 else { return false }
        let space = UInt8(ascii: " ")
        return first != space && last != space && bytes.allSatisfy { $0 >= space && $0 != 0x7F }
    }

    private static func bigEndian(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func hex(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
