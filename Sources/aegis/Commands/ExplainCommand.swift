import AegisCore
import AegisEvents
import AegisPorts
import Configuration
import HTTPAPI
import SQLiteStore

/// `aegis explain`: what was decided on an event, why, and what became of it on each device.
enum ExplainCommand: Command {
    static let name = "explain"
    static let summary = "Shows what was decided on an event, why, and what became of it."
    static let usage = "--config F [--user U] [--json] EVENT_ID"
    static let options = [
        Option(name: "config", value: "F", help: "The configuration, aegis.yaml."),
        Option(name: "user", value: "U", help: "Only for this person."),
        Option(name: "json", value: nil, help: "One JSON document."),
    ]

    /// The event is not in the ledger.
    private static let unknown: Int32 = 3

    static func run(_ arguments: Arguments) async -> Int32 {
        guard let path = arguments.last("config"), let event = arguments.positional.first,
            arguments.positional.count == 1
        else {
            writeError("aegis explain: --config F and one EVENT_ID are needed\n")
            return ExitCode.usage
        }
        var user: UserID?
        if let name = arguments.last("user") {
            do throws(InvalidUserID) {
                user = try UserID(name)
            } catch {
                writeError("aegis explain: --user: \(error)\n")
                return ExitCode.usage
            }
        }
        guard let service = LoadedService.load(path) else { return ExitCode.usage }
        guard case .sqlite(let file) = service.loaded.configuration.store.engine else { return ExitCode.usage }
        do throws(StoreError) {
            let store = try await SQLiteStore.open(path: file, migrates: false)
            let records = try await store.history(ofEvent: event, user: user)
            await store.close()
            guard !records.isEmpty else {
                writeError("aegis explain: the ledger does not know this event\n")
                return unknown
            }
            if arguments.has("json") {
                print(json(records, of: event, service.digests))
            } else {
                for record in records { show(record, service.digests) }
            }
            return ExitCode.success
        } catch {
            guard error.kind != .configuration else {
                writeError("\(service.problem(of: error))\n")
                return ExitCode.usage
            }
            writeError("aegis explain: \(error)\n")
            return ExitCode.failure
        }
    }

    private static func show(_ record: NotificationRecord, _ digests: any IdentityDigests) {
        print("user \(digests.hash(of: record.key.user).text), \(record.type), from \(record.key.event.source)")
        func line(_ name: String, _ text: String) { print("  \(name.padded(to: 10)) \(text)") }
        line("state", record.state.rawValue + (record.reason.map { ", \($0)" } ?? ""))
        for step in record.trace?.split(separator: "; ") ?? [] { line("why", String(step)) }
        if let digest = record.digest { line("digest", digest) }
        line("decided", Timestamp.rfc3339(record.createdAt))
        if let dueAt = record.dueAt { line("due", Timestamp.rfc3339(dueAt)) }
        if let readAt = record.readAt { line("read", Timestamp.rfc3339(readAt)) }
        if record.repeats > 0 { line("repeats", "\(record.repeats)") }
        for delivery in record.deliveries {
            let answer = [delivery.status.map { "\($0)" }, delivery.reason].compactMap(\.self)
            line("device \(delivery.device.number)", "\(delivery.outcome) \(answer.joined(separator: " "))")
            line("", "apns-id \(delivery.pushID), attempts \(delivery.attempts)")
        }
    }

    private static func json(
        _ records: [NotificationRecord], of event: String, _ digests: any IdentityDigests
    ) -> String {
        var writer = JSONWriter()
        writer.object { NotificationDocument.write(records, ofEvent: event, digests, to: &$0) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
