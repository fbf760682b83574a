import AegisCore
import AegisPorts
import AegisTestKit
import Foundation
import Testing

@testable import SQLiteStore

/// What is particular to a file: crashes, other processes, schemas, a full disk.
@Suite struct SQLiteFileTests {
    /// The file and its log as a crash at this moment would leave them.
    private func crashImage(of path: String) throws -> String {
        let image = path + ".image"
        try FileManager.default.copyItem(atPath: path, toPath: image)
        try FileManager.default.copyItem(atPath: path + "-wal", toPath: image + "-wal")
        return image
    }

    @Test func `what a call returned for survives a crash`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore.open(path: path)
            _ = try await store.register(.sample(), sharesToken: false, at: .at(0))
            _ = try await store.claim([.sample(), .sample(.sample(event: "2"))], at: .at(1))
            _ = try await store.settle(Settlement(deliveries: [.sample()]), at: .at(2))
            let reopened = try await SQLiteStore.open(path: try crashImage(of: path))
            #expect(try await reopened.devices(of: .sample()) == store.devices(of: .sample()))
            let keys = [NotificationKey.sample(), .sample(event: "2")]
            #expect(try await reopened.recall(keys) == store.recall(keys))
            #expect(try await reopened.claim(.sample(), at: .at(3)) == .claimed(badges: [.sample: 2]))
        }
    }

    @Test func `a file is opened again while an abandoned store still holds it`() async throws {
        try await withTemporaryFile { path in
            let abandoned = try await SQLiteStore.open(path: path)
            _ = try await abandoned.claim(.sample(), at: .at(0))
            let store = try await SQLiteStore.open(path: path)
            #expect(try await store.recall(.sample()).entry?.state == .claimed)
            _ = try await store.settle(Settlement(closures: [.sample()]), at: .at(1))
            #expect(try await abandoned.claim(.sample(), at: .at(2)) == .alreadyClosed)
        }
    }

    @Test func `a store that is let go closes its file`() async throws {
        try await withTemporaryFile { path in
            for number in 0..<20 {
                let store = try await SQLiteStore.open(path: path)
                _ = try await store.claim(.sample(.sample(event: "\(number)")), at: .at(0))
            }
            let store = try await SQLiteStore.open(path: path)
            #expect(try await store.badge() == 20)
            await store.close()
            // The last connection to close takes the log with it, which shows that there is no other.
            let deadline = ContinuousClock.now.advanced(by: .seconds(10))
            while FileManager.default.fileExists(atPath: path + "-wal"), ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(5))
                let another = try await SQLiteStore.open(path: path)
                await another.close()
            }
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        }
    }

    @Test func `two stores on one file count every notification once`() async throws {
        try await withTemporaryFile { path in
            let stores = try await [SQLiteStore.open(path: path), SQLiteStore.open(path: path)]
            let batches = (0..<20).map { batch in
                (0..<25).map { NotificationKey.sample(event: "\(batch)-\($0)") }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask {
                        for keys in batches {
                            let results = try await store.claim(keys.map { .sample($0) }, at: .at(0))
                            #expect(results.allSatisfy { if case .claimed = $0 { true } else { false } })
                        }
                    }
                }
                try await group.waitForAll()
            }
            for store in stores { #expect(try await store.badge() == 20 * 25) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for store in stores {
                    group.addTask {
                        for keys in batches {
                            let closures = keys.prefix(10).map { Settlement.Closure.sample($0, wasAccepted: false) }
                            _ = try await store.settle(Settlement(closures: closures), at: .at(1))
                        }
                    }
                }
                try await group.waitForAll()
            }
            for store in stores { #expect(try await store.badge() == 20 * 15) }
        }
    }

    @Test func `stores that open one new file at once apply each migration once`() async throws {
        try await withTemporaryFile { path in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let store = try await SQLiteStore.open(path: path)
                        try await store.ping()
                    }
                }
                try await group.waitForAll()
            }
            let store = try await SQLiteStore.open(path: path, migrates: false)
            #expect(try await store.schemaVersion().current == Migration.latest)
        }
    }

    @Test func `another process's write is waited for, and beyond the limit the store is unavailable`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore.open(path: path, options: SQLiteOptions(busyTimeout: .milliseconds(50)))
            let other = try SQLiteConnection(path: path)
            try other.execute("BEGIN IMMEDIATE")
            let error = await #expect(throws: StoreError.self) { try await store.claim([.sample()], at: .at(0)) }
            #expect(error?.kind == .unavailable)
            #expect(error?.isRetryable == true)
            #expect(error?.operation == "claim")
            #expect(try await store.recall(.sample()).entry == nil, "readers do not wait")
            try other.execute("COMMIT")
            #expect(try await store.claim(.sample(), at: .at(1)) == .claimed(badges: [.sample: 1]))
        }
    }

    @Test func `a full disk is told apart, changes nothing, and is over when there is room`() async throws {
        try await withTemporaryFile { path in
            let options = SQLiteOptions(maximumBytes: 256 << 10)
            let store = try await SQLiteStore.open(path: path, options: options)
            _ = try await store.claim(.sample(), at: .at(0))
            let secret = String(repeating: "needle", count: 40)
            let claims = (0..<5_000).map { Claim.sample(.sample(event: "\($0)", user: .sample(secret))) }
            let error = await #expect(throws: StoreError.self) { try await store.claim(claims, at: .at(1)) }
            #expect(error?.kind == .full)
            #expect(error?.isRetryable == true)
            #expect(error?.description.contains("needle") == false)
            #expect(try await store.recall(try #require(claims.first).key).entry == nil)
            #expect(try await store.badge(of: .sample(secret)) == 0)
            let roomy = try await SQLiteStore.open(path: path)
            #expect(try await roomy.claim(claims, at: .at(2)).count == 5_000)
        }
    }

    @Test func `a new file has no schema until it is migrated`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore.open(path: path, migrates: false)
            #expect(try await store.schemaVersion() == SchemaVersion(current: 0, latest: Migration.latest))
            let error = await #expect(throws: StoreError.self) { try await store.ping() }
            #expect(error?.kind == .schema)
            #expect(try await store.migrate() == Migration.all.map(\.number))
            #expect(try await store.migrate().isEmpty)
            try await store.ping()
        }
    }

    @Test(arguments: [1, 2])
    func `a schema one step newer is accepted and no more`(steps: Int) async throws {
        try await withTemporaryFile { path in
            await (try SQLiteStore.open(path: path)).close()
            let other = try SQLiteConnection(path: path)
            for step in 1...steps {
                try other.execute("INSERT INTO schema_migrations VALUES (\(Migration.latest + step), 0)")
            }
            if steps == 1 {
                try other.execute("ALTER TABLE notifications ADD COLUMN newer TEXT NOT NULL DEFAULT 'x'")
                let store = try await SQLiteStore.open(path: path)
                #expect(try await store.claim(.sample(), at: .at(0)) == .claimed(badges: [.sample: 1]))
                #expect(try await store.migrate().isEmpty)
            } else {
                let error = await #expect(throws: StoreError.self) { try await SQLiteStore.open(path: path) }
                #expect(error?.kind == .schema)
                let looking = try await SQLiteStore.open(path: path, migrates: false)
                #expect(try await looking.schemaVersion().current == Migration.latest + 2)
                let refusal = await #expect(throws: StoreError.self) { try await looking.recall([.sample()]) }
                #expect(refusal?.kind == .schema)
            }
        }
    }

    @Test func `a path that no store can be at is a mistake of the configuration and is named`() async throws {
        try await withTemporaryFile { path in
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: path))
            for (wrong, reason) in [
                (folder, "is a folder"), (folder + "/absent/aegis.db", "the folder \(folder)/absent does not exist"),
                (path + "/aegis.db", "cannot be reached"), ("/dev/null", "is no file"),
                (path, "is not a database file of SQLite"),
            ] {
                let error = await #expect(throws: StoreError.self) { try await SQLiteStore.open(path: wrong) }
                #expect(error?.kind == .configuration)
                #expect(error?.isRetryable == false)
                #expect(error?.detail.hasPrefix("\(wrong): \(reason)") == true, "\(error?.detail ?? "")")
            }
        }
    }

    @Test(.enabled(if: getuid() != 0, "root may write everywhere"))
    func `a file or a folder that may not be written is a mistake of the configuration`() async throws {
        try await withTemporaryFile { path in
            await (try SQLiteStore.open(path: path)).close()
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            for (item, mode) in [(path, 0o400), (folder, 0o500)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: item)
                let error = await #expect(throws: StoreError.self) { try await SQLiteStore.open(path: path) }
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: item)
                #expect(error?.kind == .configuration)
                #expect(error?.detail.hasPrefix("\(path): ") == true)
            }
        }
    }

    @Test func `an empty file becomes a store, and a file that is damaged later on is corrupt`() async throws {
        try await withTemporaryFile { path in
            try Data().write(to: URL(fileURLWithPath: path))
            await (try SQLiteStore.open(path: path)).close()
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            try file.seek(toOffset: 16)
            try file.write(contentsOf: Data(repeating: 0x41, count: 4_080))
            try file.close()
            let error = await #expect(throws: StoreError.self) { try await SQLiteStore.open(path: path) }
            #expect(error?.kind == .corrupt)
        }
    }

    @Test func `a value that this program did not write is corrupt and stays unsaid`() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore.open(path: path)
            _ = try await store.register(.sample(), sharesToken: false, at: .at(0))
            let other = try SQLiteConnection(path: path)
            try other.execute("UPDATE devices SET kind = 'needle'")
            let error = await #expect(throws: StoreError.self) { try await store.recall([.sample()]) }
            #expect(error?.kind == .corrupt)
            #expect(error?.description.contains("needle") == false)
        }
    }

    @Test func `commits are durable and go through a write-ahead log`() async throws {
        try await withTemporaryFile { path in
            let connection = try SQLiteConnection(path: path)
            try connection.configure(SQLiteOptions())
            #expect(try connection.text("PRAGMA journal_mode") == "wal")
            #expect(try connection.integer("PRAGMA synchronous") == 2)
        }
    }

    @Test func `every statement is taken by the engine`() async throws {
        try await withTemporaryFile { path in
            let connection = try SQLiteConnection(path: path)
            _ = try connection.migrate()
            for query in Query.allCases {
                try connection.with(query) { (statement) throws(StoreError) in statement.reset() }
            }
            #expect(try connection.schemaVersion() == Migration.latest)
        }
    }
}
