package import Foundation
import Glibc
import Runtime

/// A verb of the built `aegis` executable, or another program, as a process of its own.
///
/// It is ended with the last reference, whatever the test did.
package final class ChildProgram: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The executable beside the test bundle.
    package static let executable: URL = {
        let bundle = URL(filePath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appending(path: "aegis")
    }()

    private let process: Lock<Process>
    private let output: Lock<[UInt8]>
    package let pid: Int32

    /// - Parameters:
    ///   - input: what standard input holds; nothing by default.
    ///   - environment: beside the test's own.
    package init(
        _ arguments: [String], of program: URL = ChildProgram.executable, input: String? = nil,
        environment: [String: String] = [:]
    ) throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        let standardInput = Pipe()
        process.standardInput = standardInput
        let output = Lock<[UInt8]>([])
        try process.run()
        pid = process.processIdentifier
        self.output = output
        self.process = Lock(process)
        let reading = pipe.fileHandleForReading.fileDescriptor
        let copy = dup(reading)
        _ = try DedicatedThread(name: "child-output") {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe read(copy, &chunk, chunk.count)
                guard count > 0 else { break }
                output.withLock { $0.append(contentsOf: chunk[..<count]) }
            }
            close(copy)
        }
        if let input { try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
        try standardInput.fileHandleForWriting.close()
    }

    deinit { Glibc.kill(pid, SIGKILL) }

    /// Everything it has written so far, both streams.
    package var text: String { output.withLock { String(decoding: $0, as: UTF8.self) } }

    package var isRunning: Bool { process.withLock { $0.isRunning } }

    package func signal(_ number: Int32) { Glibc.kill(pid, number) }

    /// - Returns: the exit code; a signal that ended it is its number plus 128.
    package func exitCode(within limit: Duration = .seconds(60)) async throws -> Int32 {
        try await Wait.until("aegis ends", within: limit) { !self.isRunning }
        return process.withLock {
            $0.terminationReason == .uncaughtSignal ? $0.terminationStatus + 128 : $0.terminationStatus
        }
    }

    /// Runs a verb to its end.
    package static func run(
        _ arguments: [String], of program: URL = ChildProgram.executable, input: String? = nil,
        environment: [String: String] = [:]
    ) async throws -> (code: Int32, text: String) {
        let program = try ChildProgram(arguments, of: program, input: input, environment: environment)
        let code = try await program.exitCode(within: .seconds(180))
        // The last lines may still be on their way through the pipe.
        try? await Wait.until("output is read", within: .milliseconds(200)) { false }
        return (code, program.text)
    }
}

/// Waiting for a condition, with a deadline.
package enum Wait {
    package struct TimedOut: Error, CustomStringConvertible {
        package let description: String
    }

    package static func until(
        _ what: String, within limit: Duration, _ condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while ContinuousClock.now < deadline {
            if try await condition() { return }
            try await ContinuousClock().sleep(for: .milliseconds(50))
        }
        throw TimedOut(description: "waited \(limit) in vain until \(what)")
    }
}
