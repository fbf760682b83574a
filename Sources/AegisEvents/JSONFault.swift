/// Why bytes are not a JSON document that Aegis takes, and where.
package struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case empty
        /// More bytes than the limit.
        case tooLarge(limit: Int)
        case tooDeep(limit: Int)
        case truncated
        case unexpectedByte
        case invalidUTF8
        case loneSurrogate
        case invalidEscape
        /// The escape `\u0000`, which stores cannot hold.
        case nul
        case controlCharacter
        case duplicateKey
        case invalidNumber
        case numberTooLong(limit: Int)
        case trailingBytes
        case utf16
        case gzip
        case zstandard
        /// The frame of a schema registry; the id is nil where the frame is cut short.
        case registryFrame(schema: UInt32?)
        case glueFrame
    }

    package let kind: Kind
    /// Counted from 0, in bytes of the input.
    package let position: Int

    package init(_ kind: Kind, at position: Int) {
        self.kind = kind
        self.position = position
    }

    /// One line that quotes nothing of the input.
    package var description: String {
        switch kind {
        case .empty: "there are no bytes"
        case .tooLarge(let limit): "more than \(limit) bytes"
        case .tooDeep(let limit): "nested deeper than \(limit) levels at byte \(position)"
        case .truncated: "the JSON ends early, at byte \(position)"
        case .unexpectedByte: "not JSON at byte \(position)"
        case .invalidUTF8: "not UTF-8 at byte \(position)"
        case .loneSurrogate: "half of a surrogate pair at byte \(position)"
        case .invalidEscape: "an unknown escape at byte \(position)"
        case .nul: "an escaped NUL at byte \(position)"
        case .controlCharacter: "a control character inside a string at byte \(position)"
        case .duplicateKey: "a key that is there already at byte \(position)"
        case .invalidNumber: "a malformed number at byte \(position)"
        case .numberTooLong(let limit): "a number of more than \(limit) digits at byte \(position)"
        case .trailingBytes: "more bytes after the JSON, at byte \(position)"
        case .utf16: "UTF-16 text, where UTF-8 is needed"
        case .gzip: "gzip data"
        case .zstandard: "Zstandard data"
        case .registryFrame(let schema?): "Schema Registry frame, schema id \(schema)"
        case .registryFrame(nil): "Schema Registry frame without a whole schema id"
        case .glueFrame: "AWS Glue schema registry frame"
        }
    }
}

/// How much JSON is read at all.
package struct JSONLimits: Hashable, Sendable {
    /// Of the whole document; never above 1 GiB.
    package var bytes: Int
    /// Of nested objects and arrays.
    package var depth: Int
    /// Of one number as written, sign and exponent included.
    package var numberBytes: Int

    package init(bytes: Int = 1_048_576, depth: Int = 64, numberBytes: Int = 1_024) {
        self.bytes = min(bytes, 1 << 30)
        self.depth = depth
        self.numberBytes = numberBytes
    }
}
