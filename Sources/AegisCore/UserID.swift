/// The publisher's name for one person.
///
/// - Shape: any text of 1 to 256 bytes of UTF-8, compared byte by byte; a number and the same digits as text are one user.
/// - Personal: ``description`` is redacted; logs and dead letters use ``UserHash``.
package struct UserID: ExactText, Sendable, CustomStringConvertible {
    package let text: String

    package var description: String { "<user>" }

    /// - Throws: ``InvalidUserID``, which names the length and never quotes the input.
    package init(_ candidate: String) throws(InvalidUserID) {
        let length = candidate.utf8.count
        guard (1...256).contains(length) else { throw InvalidUserID(length: length) }
        text = candidate
    }
}

/// A user id that is empty or longer than 256 bytes.
package struct InvalidUserID: Error, Hashable, CustomStringConvertible {
    /// In bytes of UTF-8.
    package let length: Int

    package var description: String {
        length == 0 ? "a user id must not be empty" : "a user id has at most 256 bytes, this one has \(length)"
    }
}

/// A keyed hash of a user id: the same person has the same hash in every log line of one deployment.
package struct UserHash: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(text: String) {
        self.text = text
    }

    package var description: String { text }
}

/// A keyed hash of a device token: one device can be followed through the logs without its address being there.
package struct DeviceHash: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    package init(text: String) {
        self.text = text
    }

    package var description: String { text }
}
