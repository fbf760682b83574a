import AegisCore
import AegisPorts
import AegisTestKit
import Foundation
import SQLiteStore
import Testing

/// The implementations of ``Store``: a new one joins by adding a case.
enum Engine: CaseIterable, CustomTestStringConvertible {
    case inMemory, sqlite

    var testDescription: String {
        switch self {
        case .inMemory: "in memory"
        case .sqlite: "SQLite"
        }
    }

    /// Lends an empty store and leaves nothing behind.
    func withStore<Result>(_ body: (any Store) async throws -> Result) async throws -> Result {
        switch self {
        case .inMemory:
            return try await body(InMemoryStore())
        case .sqlite:
            return try await withTemporaryFile { path in
                let store = try await SQLiteStore.open(path: path)
                let result = try await body(store)
                await store.close()
                return result
            }
        }
    }
}

/// Lends the path of a file in a directory of its own, which goes with all it holds.
func withTemporaryFile<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appending(path: "aegis-store-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory.appending(path: "aegis.db").path)
}

extension UnixTime {
    /// Milliseconds after the moment that the samples are made at.
    static func at(_ milliseconds: Int64) -> UnixTime {
        UnixTime(milliseconds: 1_764_504_000_000 + milliseconds)
    }
}

extension Store {
    /// The snapshot of one key.
    func recall(_ key: NotificationKey) async throws -> RecipientSnapshot {
        let snapshots = try await recall([key])
        return try #require(snapshots.first)
    }

    /// The result of one claim.
    func claim(_ claim: Claim, at now: UnixTime) async throws -> ClaimResult {
        let results = try await self.claim([claim], at: now)
        return try #require(results.first)
    }

    func badge(_ app: AppID = .sample, of user: UserID = .sample()) async throws -> Int {
        try await badge(of: user, app: app)
    }
}
