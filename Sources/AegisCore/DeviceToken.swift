/// The APNs address of one app on one device, in one environment.
///
/// - Shape: lowercase hex, an even 2 to 512 digits. Apple fixes no length; the upper bound is ours.
/// - Secret: whoever holds it can address the device. ``description`` is redacted; logs use ``DeviceHash``.
/// - Source: Apple, "Registering your app with APNs".
package struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    package let hex: String

    package var description: String { "<device token>" }

    /// - Throws: ``InvalidDeviceToken``, which names a length or a position and never quotes the input.
    package init(hex candidate: String) throws(InvalidDeviceToken) {
        let digits = candidate.utf8
        guard digits.count >= 2, digits.count <= 512, digits.count.isMultiple(of: 2) else {
            throw .length(digits.count)
        }
        var needsLowering = false
        for (position, digit) in digits.enumerated() {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                continue
            case UInt8(ascii: "A")...UInt8(ascii: "F"):
                needsLowering = true
            default:
                throw .notHex(position: position)
            }
        }
        hex = needsLowering ? candidate.lowercased() : candidate
    }
}

/// Why a text is not a device token.
package enum InvalidDeviceToken: Error, Hashable, CustomStringConvertible {
    /// Digits found; a token has an even 2 to 512.
    case length(Int)
    /// Counted from 0, in bytes.
    case notHex(position: Int)

    package var description: String {
        switch self {
        case .length(let length):
            "a device token has an even number of hex digits from 2 to 512, this one has \(length)"
        case .notHex(let position):
            "a device token is written in hex digits, the character at position \(position) is none"
        }
    }
}
