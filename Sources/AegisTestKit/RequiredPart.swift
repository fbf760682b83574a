import Foundation
import Glibc

/// A part that some tests need and a machine may lack: a binary, a server.
///
/// Such a test is enabled by ``isToBeTested``: it is skipped where the part is missing, and runs, and so fails, where
/// `AEGIS_REQUIRE_ALL=1` demands every part.
package struct RequiredPart: Sendable {
    package let name: String
    /// Where it was found; nil where it is missing.
    package let path: String?

    package init(name: String, path: String?) {
        self.name = name
        self.path = path
    }

    /// The condition of an `.enabled(if:)` trait.
    package var isToBeTested: Bool { path != nil || Self.allAreRequired }

    /// The text of an `.enabled(if:)` trait.
    package var reason: String { "\(name) is missing here" }

    /// - Throws: ``MissingPart`` where a test must not be skipped.
    package func require() throws -> String {
        guard let path else { throw MissingPart(name: name) }
        return path
    }

    package static var allAreRequired: Bool {
        ProcessInfo.processInfo.environment["AEGIS_REQUIRE_ALL"] == "1"
    }

    /// A program named by an environment variable, else at a place below the package's root.
    package static func program(_ name: String, variable: String, below place: String) -> RequiredPart {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let candidates = [
            ProcessInfo.processInfo.environment[variable], root.appending(path: place).path(percentEncoded: false),
        ]
        return RequiredPart(
            name: name, path: candidates.compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0) })
    }
}

/// A part is missing where all are required.
package struct MissingPart: Error, CustomStringConvertible {
    package let name: String

    package var description: String { "\(name) is missing, and AEGIS_REQUIRE_ALL=1 forbids to skip" }
}
