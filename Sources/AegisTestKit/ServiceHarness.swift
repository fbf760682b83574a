import AegisCore
package import Foundation
import FoundationNetworking

/// Broker, APNs simulator and service, each in a process of its own, on a folder that goes with it.
package final class ServiceHarness: Sendable {
    package static let token = "0123456789abcdef0123456789"
    package static let topic = "domain.events"

    package let folder: URL
    package let broker: BrokerProcess
    package let simulator: ChildProgram
    package let control: String
    package let httpPort: Int

    package static var repository: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    }

    package var configuration: String { folder.appending(path: "aegis.yaml").path(percentEncoded: false) }

    /// Starts broker and simulator and writes the configuration; `delivery` is a YAML flow mapping.
    package init(delivery: String = "{}") async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "aegis-harness-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        broker = try BrokerProcess()
        try await broker.start()
        let path = folder.path(percentEncoded: false)
        let simulator = try ChildProgram([
            "apns-simulator", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--keys", path,
        ])
        self.simulator = simulator
        try await Wait.until("the simulator has printed its ports", within: .seconds(120)) {
            simulator.text.contains("ca_file")
        }
        let lines = simulator.text.split(separator: "\n")
        guard let plane = lines.first?.split(separator: " ").last,
            let control = lines.first(where: { $0.contains("control plane") })?.split(separator: " ").last
        else { throw ChildProgram.Failure(description: simulator.text) }
        self.control = String(control)
        httpPort = Int.random(in: 20_000..<30_000)
        let text = """
            kafka:
              brokers: \(broker.brokers)
              group: aegis
              instance_id: harness
              topics: [{name: \(Self.topic), lane: standard}]
              dead_letter_topic: aegis.dead-letter
            store: {url: "sqlite://\(path)/aegis.db"}
            catalog: catalog.yaml
            apps:
              - id: com.example.app
                environments: {production: {endpoint: "\(plane)", ca_file: ca.pem}}
                auth: {token: {key_file: AuthKey_SIMULATOR1.p8, key_id: SIMULATOR1, team_id: SIMULATEAM}}
                entitlements: [time-sensitive]
            delivery: \(delivery)
            http:
              listen: 127.0.0.1:\(httpPort)
              tokens: [{name: test, token: \(Self.token), scopes: [devices, preferences]}]
            """
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        // Publishing shall work whatever a test does to the service's catalog.
        let catalog = Self.repository.appending(path: "catalog.yaml").path(percentEncoded: false)
        try text.replacing("catalog: catalog.yaml", with: "catalog: \"\(catalog)\"")
            .write(to: folder.appending(path: "publisher.yaml"), atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(
            at: Self.repository.appending(path: "catalog.yaml"), to: folder.appending(path: "catalog.yaml"))
    }

    /// Ends what was started and removes the folder.
    package func remove() async throws {
        simulator.signal(SIGTERM)
        try await broker.remove()
        try? FileManager.default.removeItem(at: folder)
    }

    package func serve() throws -> ChildProgram {
        try ChildProgram(["serve", "--config", configuration])
    }

    package func publish(_ lines: [String], to topic: String = ServiceHarness.topic) async throws -> (
        code: Int32, text: String
    ) {
        let publisher = folder.appending(path: "publisher.yaml").path(percentEncoded: false)
        return try await ChildProgram.run(
            ["publish", "--config", publisher, "--topic", topic, "-"], input: lines.joined(separator: "\n"))
    }

    /// A call of the service's API; status 0 where nobody answers.
    package func call(_ method: String, _ path: String, body: String? = nil) async -> (status: Int, body: String) {
        await Self.request(method, "http://127.0.0.1:\(httpPort)\(path)", body: body)
    }

    /// A call of the simulator's control plane.
    @discardableResult
    package func simulate(_ method: String, _ path: String, body: String? = nil) async -> (status: Int, body: String) {
        await Self.request(method, control + path, body: body)
    }

    package func waitUntilReady(within limit: Duration = .seconds(60)) async throws {
        try await Wait.until("the service is ready", within: limit) { await self.call("GET", "/readyz").status == 200 }
    }

    package func registerDevice(_ user: String, _ installation: String, token: String) async throws {
        let answer = await call(
            "PUT", "/v1/users/\(user)/devices/\(installation)",
            body: """
                {"app":"com.example.app","environment":"production","token":"\(token)","authorization":"authorized",\
                "locale":"en-US","time_zone":"UTC"}
                """)
        guard answer.status == 201 || answer.status == 200 else {
            throw ChildProgram.Failure(description: "registration: \(answer)")
        }
    }

    /// What the simulator accepted, in order.
    package func accepted() async throws -> [AcceptedPush] {
        let answer = await simulate("GET", "/notifications")
        guard let list = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [[String: Any]] else {
            throw ChildProgram.Failure(description: "not a list of notifications: \(answer.body.prefix(200))")
        }
        return list.map { entry in
            let payload =
                entry["payload"] as? [String: Any]
                ?? (try? JSONSerialization.jsonObject(with: Data((entry["payload"] as? String ?? "").utf8)))
                as? [String: Any] ?? [:]
            let aps = payload["aps"] as? [String: Any] ?? [:]
            return AcceptedPush(
                id: (entry["apns_id"] as? String ?? "").lowercased(), token: entry["token"] as? String ?? "",
                event: payload["event_id"] as? String ?? "", badge: aps["badge"] as? Int,
                title: (aps["alert"] as? [String: Any])?["title"] as? String)
        }
    }

    package func acceptedCount() async throws -> Int {
        let answer = await simulate("GET", "/stats")
        let stats = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        return stats?["accepted"] as? Int ?? 0
    }

    /// The value of a series in `/metrics`, or nil where it is not there.
    package func metric(_ series: String) async -> Double? {
        let text = await call("GET", "/metrics").body
        let line = text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
        return line.flatMap { Double($0.dropFirst(series.count + 1)) }
    }

    /// Whether every record is committed.
    package func hasNoLag() async -> Bool {
        let text = await call("GET", "/metrics").body
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("aegis_consumer_lag{") }
        return !lines.isEmpty && lines.allSatisfy { $0.hasSuffix(" 0") }
    }

    private static func request(_ method: String, _ url: String, body: String?) async -> (status: Int, body: String) {
        guard let url = URL(string: url) else { return (0, "no URL") }
        var request = URLRequest(url: url, timeoutInterval: 60)
        request.httpMethod = method
        request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
        request.httpBody = body.map { Data($0.utf8) }
        do {
            let (data, response) = try await URLSession.shared.data(for: request)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
        } catch {
            return (0, "\(error)")
        }
    }
}

/// A push as the simulator saw it.
package struct AcceptedPush: Sendable {
    package let id: String
    package let token: String
    package let event: String
    package let badge: Int?
    package let title: String?
}
