import AegisTestKit
import Foundation
import FoundationNetworking

/// One of several services that share a harness's broker, group, store and simulator.
final class ServiceInstance {
    let name: String
    private let configuration: String
    private let port: Int
    private(set) var program: ChildProgram

    /// Writes its configuration, starts it and waits until it is ready.
    init(_ name: String, of harness: ServiceHarness, properties: String) async throws {
        self.name = name
        port = harness.httpPort + (name.utf8.last.map { Int($0) } ?? 1)
        let file = harness.folder.appending(path: "\(name).yaml")
        try String(contentsOfFile: harness.configuration, encoding: .utf8)
            .replacing("instance_id: harness", with: "instance_id: \(name)\n  properties: \(properties)")
            .replacing("127.0.0.1:\(harness.httpPort)", with: "127.0.0.1:\(port)")
            .write(to: file, atomically: true, encoding: .utf8)
        configuration = file.path(percentEncoded: false)
        program = try ChildProgram(["serve", "--config", configuration])
        try await waitUntilReady()
    }

    /// Ends it by a signal and starts it again.
    ///
    /// - Returns: the exit code, and what it had written.
    func restart(after signal: Int32) async throws -> (code: Int32, text: String) {
        program.signal(signal)
        let code = try await program.exitCode()
        let text = program.text
        program = try ChildProgram(["serve", "--config", configuration])
        try await waitUntilReady()
        return (code, text)
    }

    private func waitUntilReady() async throws {
        try await Wait.until("\(name) is ready", within: .seconds(60)) { await self.get("/readyz").status == 200 }
    }

    /// Records not committed, by partition, of those it holds.
    func lag(of topic: String) async -> [Int: Int] {
        let prefix = #"aegis_consumer_lag{topic="\#(topic)",partition=""#
        var lag: [Int: Int] = [:]
        for line in await get("/metrics").body.split(separator: "\n") where line.hasPrefix(prefix) {
            let words = line.dropFirst(prefix.count).split(separator: #""} "#)
            guard words.count == 2, let partition = Int(words[0]), let count = Double(words[1]) else { continue }
            lag[partition] = Int(count)
        }
        return lag
    }

    private func get(_ path: String) async -> (status: Int, body: String) {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { return (0, "") }
        let answer = try? await URLSession.shared.data(for: URLRequest(url: url, timeoutInterval: 10))
        guard let answer, let response = answer.1 as? HTTPURLResponse else { return (0, "") }
        return (response.statusCode, String(decoding: answer.0, as: UTF8.self))
    }
}
