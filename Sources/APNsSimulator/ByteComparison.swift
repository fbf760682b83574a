internal import Glibc

extension ArraySlice<UInt8> {
    /// Whether the bytes are exactly this text.
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return unsafe withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe memcmp(start, text.utf8Start, bytes.count) == 0
        }
    }

    /// Whether both hold the same bytes.
    func equals(_ other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { bytes in
            unsafe other.withUnsafeBytes { others in
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else { return true }
                return unsafe memcmp(start, otherStart, bytes.count) == 0
            }
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are exactly this text.
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let start = baseAddress else { return false }
        return unsafe memcmp(start, text.utf8Start, count) == 0
    }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes begin with this text.
    func starts(with text: StaticString) -> Bool {
        prefix(text.utf8CodeUnitCount).equals(text)
    }
}

extension [UInt8] {
    /// The same bytes in a buffer of their own: a pooled buffer that were shared would be copied when next written.
    func unsharedCopy() -> [UInt8] {
        unsafe withUnsafeBufferPointer { unsafe Array($0) }
    }
}
