/// An identifier that is the same only if every byte is, as the store and every other process compare it.
///
/// Swift's own `==` on text holds two spellings of one Unicode text for equal, `é` as one scalar and as two; a database, a
/// broker and the publisher do not, and what one side takes for one person is two on the other.
package protocol ExactText: Hashable {
    /// What identifies; a type with several parts joins them under `==` itself.
    var text: String { get }
}

extension ExactText {
    package static func == (left: Self, right: Self) -> Bool { left.text.isExactly(right.text) }

    // Same bytes have the same hash, which is all that is asked of one.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension String {
    /// Whether both have the same bytes.
    package func isExactly(_ other: String) -> Bool {
        let left = utf8.span
        let right = other.utf8.span
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }
}
