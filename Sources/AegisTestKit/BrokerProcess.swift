import Foundation
import Glibc
import Runtime

/// A Kafka-compatible broker in a process of its own, on a free loopback port, with its data in a temporary directory.
///
/// Ends only the process it started, with its child; the directory goes with ``remove()``.
package final class BrokerProcess: Sendable {
    /// The broker's program.
    package static let part = RequiredPart.program(
        "noida-db", variable: "AEGIS_NOIDA_DB", below: ".tools/venv/bin/noida-db")

    private let program: String
    private let directory: URL
    private let port: UInt16
    private let process = Lock<Process?>(nil)

    package var brokers: String { "127.0.0.1:\(port)" }

    package init() throws {
        program = try Self.part.require()
        directory = FileManager.default.temporaryDirectory.appending(path: "aegis-broker-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        port = try Self.freePort()
    }

    /// Starts it and waits until it takes connections.
    package func start(within limit: Duration = .seconds(60)) async throws {
        let started = Process()
        started.executableURL = URL(filePath: program)
        started.arguments = [
            "start", "--only", "kafka", "--kafka-port", String(port), "--data-dir",
            directory.path(percentEncoded: false),
        ]
        started.currentDirectoryURL = directory
        started.standardInput = FileHandle.nullDevice
        started.standardOutput = FileHandle.nullDevice
        started.standardError = FileHandle.nullDevice
        try started.run()
        process.withLock { $0 = started }
        try await wait("takes connections", within: limit) { Self.accepts(port: self.port) }
    }

    /// Asks it to end, so that it saves what it has, and waits; kills it when that takes too long.
    package func stop(within limit: Duration = .seconds(10)) async throws {
        try await end(SIGTERM, within: limit)
    }

    /// Ends it at once, as a crash would.
    package func kill() async throws {
        try await end(SIGKILL, within: .seconds(10))
    }

    /// Ends the process and removes its directory.
    package func remove() async throws {
        try await stop(within: .seconds(3))
        try FileManager.default.removeItem(at: directory)
    }

    private func end(_ signal: Int32, within limit: Duration) async throws {
        let ending = process.withLock { process in
            defer { process = nil }
            return process
        }
        guard let ending else { return }
        // The program may be a script that starts the broker proper: its child is the one to end.
        let family = Self.children(of: ending.processIdentifier) + [ending.processIdentifier]
        Glibc.kill(family[0], signal)
        do {
            try await wait("ends", within: limit) { !ending.isRunning && !Self.accepts(port: port) }
        } catch {
            for member in family { Glibc.kill(member, SIGKILL) }
            try await wait("ends when killed", within: .seconds(10)) {
                !ending.isRunning && !Self.accepts(port: port)
            }
        }
    }

    /// Processes that a process has started, oldest first; none when it has ended.
    private static func children(of parent: Int32) -> [Int32] {
        let list = try? String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
        return (list ?? "").split(separator: " ").compactMap { Int32($0.trimmingCharacters(in: .whitespaces)) }
    }

    private func wait(_ condition: String, within limit: Duration, _ isTrue: () -> Bool) async throws {
        let deadline = ContinuousClock.now + limit
        while !isTrue() {
            guard ContinuousClock.now < deadline else { throw BrokerProcessError(text: "no sign that it \(condition)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func accepts(port: UInt16) -> Bool {
        guard let descriptor = try? socket() else { return false }
        defer { close(descriptor) }
        return unsafe withAddress(port: port) { address, length in unsafe connect(descriptor, address, length) == 0 }
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = try socket()
        defer { close(descriptor) }
        guard unsafe withAddress(port: 0, { address, length in unsafe bind(descriptor, address, length) == 0 }) else {
            throw BrokerProcessError(text: "no free port")
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func socket() throws -> Int32 {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw BrokerProcessError(text: "no socket") }
        return descriptor
    }

    private static func withAddress<Result>(
        port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// The broker did not do what a test needs.
package struct BrokerProcessError: Error, CustomStringConvertible {
    package let text: String

    package var description: String { "broker process: \(text)" }
}
