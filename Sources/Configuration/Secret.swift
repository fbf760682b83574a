/// A text that nobody may read by accident: every way of printing it shows that it is a secret and nothing more.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, for the one place that uses it.
    package let revealed: String

    package init(_ text: String) {
        revealed = text
    }

    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
