import AegisCore
import AegisEvents
import Foundation

/// What the demo plays: people with devices and preferences, scripted answers of APNs, and events with what each shall lead to.
struct DemoScenario {
    struct Person {
        struct Phone: Decodable {
            var installation: String
            /// Two hex digits, repeated to the 64 of a token.
            var token: String
            var environment: String?
            var authorization: String?
            var locale: String?
            var timeZone: String?

            enum CodingKeys: String, CodingKey {
                case installation, token, environment, authorization, locale
                case timeZone = "time_zone"
            }

            var hexToken: String { String(repeating: token, count: 32) }
        }

        var user: String
        var devices: [Phone]
        var preferences: Preferences
    }

    /// An answer that APNs gives for one token.
    struct ScriptedAnswer: Decodable {
        var token: String
        var status: Int
        var reason: String
        /// How often; absent is always.
        var times: Int?
        /// Set just before this event is published; absent is from the start.
        var beforeEvent: String?
        /// Of a 410: this long after the start.
        var timestampInMilliseconds: Int64?

        enum CodingKeys: String, CodingKey {
            case token, status, reason, times
            case beforeEvent = "before_event"
            case timestampInMilliseconds = "timestamp_in_ms"
        }

        var hexToken: String { String(repeating: token, count: 32) }
    }

    /// A record and the rows it shall lead to.
    struct Event {
        var about: String
        var id: String?
        var headers: [RecordHeader]
        /// Nil is a tombstone.
        var value: [UInt8]?
        var expected: [DemoRow]
    }

    var people: [Person]
    var answers: [ScriptedAnswer]
    var events: [Event]

    /// - Throws: what is wrong with a file, with its name.
    init(folder: String) throws(DemoError) {
        let people: PeopleFile = try Self.decode(folder + "/people.json")
        self.people = people.people.map { Person(user: $0.user, devices: $0.devices, preferences: .default) }
        answers = people.apns
        let root = try Self.object(folder + "/people.json")
        let list = root["people"] as? [[String: Any]] ?? []
        for (index, person) in list.enumerated() where index < self.people.count {
            do throws(PreferencesProblem) {
                let document = Self.bytes(person["preferences"] ?? [String: Any]()) ?? Array("{}".utf8)
                self.people[index].preferences = try PreferencesDocument.decode(document)
            } catch {
                throw DemoError("\(folder)/people.json: people[\(index)].preferences: \(error)")
            }
        }
        let eventList = try Self.object(folder + "/events.json")["events"] as? [[String: Any]] ?? []
        events = try eventList.enumerated().map { (index, entry) throws(DemoError) in
            try Self.event(entry, place: "\(folder)/events.json: events[\(index)]")
        }
    }

    private static func event(_ entry: [String: Any], place: String) throws(DemoError) -> Event {
        let headers = entry["headers"] as? [String: String] ?? [:]
        var value: [UInt8]?
        if let raw = entry["raw"] as? String {
            value = Array(raw.utf8)
        } else if let body = entry["value"], !(body is NSNull) {
            value = bytes(body)
        }
        guard let rows = bytes(entry["expect"] ?? [Any]()),
            let expected = try? JSONDecoder().decode([DemoRow].self, from: Data(rows))
        else { throw DemoError("\(place).expect: not a list of rows") }
        return Event(
            about: entry["about"] as? String ?? "", id: (entry["value"] as? [String: Any])?["id"] as? String,
            headers: headers.sorted { $0.key < $1.key }.map { RecordHeader(name: $0.key, value: Array($0.value.utf8)) },
            value: value, expected: expected)
    }

    private struct PeopleFile: Decodable {
        struct Entry: Decodable {
            var user: String
            var devices: [Person.Phone]
        }

        var people: [Entry]
        var apns: [ScriptedAnswer]
    }

    private static func data(_ path: String) throws(DemoError) -> Data {
        guard let bytes = readFile(path) else {
            throw DemoError(
                "\(path) cannot be read; run it in the project's folder, or name the samples with --examples")
        }
        return Data(bytes)
    }

    private static func decode<Value: Decodable>(_ path: String) throws(DemoError) -> Value {
        let data = try data(path)
        do {
            return try JSONDecoder().decode(Value.self, from: data)
        } catch {
            throw DemoError("\(path): \(error)")
        }
    }

    private static func object(_ path: String) throws(DemoError) -> [String: Any] {
        let data = try data(path)
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw DemoError("\(path) is not a JSON object")
        }
        return object
    }

    private static func bytes(_ value: Any) -> [UInt8]? {
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: value, options: options) else { return nil }
        return Array(data)
    }
}

/// Why the demo could not be played.
struct DemoError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
