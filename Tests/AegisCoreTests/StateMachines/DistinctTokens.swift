import AegisCore

extension DeviceToken {
    /// So many tokens, no two alike.
    static func distinct(_ count: Int) throws -> [DeviceToken] {
        try (0..<count).map { number in
            let digits = String(number, radix: 16)
            return try DeviceToken(hex: String(repeating: "0", count: 64 - digits.count) + digits)
        }
    }
}
