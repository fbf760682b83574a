import APNsSimulator
import AegisPorts
import Glibc
import ProviderToken
import Runtime

/// `aegis apns-simulator`: APNs on this machine, for trying things out and for tests in other processes.
enum SimulatorCommand: Command {
    static let name = "apns-simulator"
    static let summary = "Runs a look-alike of APNs over TLS and HTTP/2, with a control plane."
    static let usage = "[--listen A] [--control A] [--keys DIR]"
    static let options = [
        Option(name: "listen", value: "HOST:PORT", help: "The data plane; default 127.0.0.1:8443, port 0 is any."),
        Option(name: "sandbox-port", value: "PORT", help: "A second environment with tokens of its own."),
        Option(name: "control", value: "HOST:PORT", help: "The control plane; default 127.0.0.1:8444."),
        Option(
            name: "keys", value: "DIR",
            help: "Writes ca.pem and a provider key, AuthKey_SIMULATOR1.p8, there; its tokens are verified."),
        Option(name: "sink", value: nil, help: "Answers 200 and keeps nothing: a peer to measure against."),
        Option(name: "seed", value: "N", help: "Seeds everything left to chance."),
    ]

    static let keyID = "SIMULATOR1"
    static let teamID = "SIMULATEAM"

    static func run(_ arguments: Arguments) async -> Int32 {
        guard let listen = address(arguments.last("listen") ?? "127.0.0.1:8443"),
            let control = address(arguments.last("control") ?? "127.0.0.1:8444")
        else {
            writeError("aegis apns-simulator: an address is written HOST:PORT, such as 127.0.0.1:8443\n")
            return ExitCode.usage
        }
        var options = SimulatorOptions()
        options.host = listen.host
        options.port = listen.port
        options.controlHost = control.host
        options.controlPort = control.port
        options.sandboxPort = arguments.last("sandbox-port").flatMap { UInt16($0) }
        options.sink = arguments.has("sink")
        options.seed = arguments.last("seed").flatMap { UInt64($0) } ?? 0
        options.verifyJWT = arguments.has("keys")
        do {
            let signals = try SignalWatch()
            let folder = arguments.last("keys")
            if let folder { options.providerKeys = [try providerKey(in: folder)] }
            let simulator = try APNsSimulator(options)
            if let folder, let pem = readFile(simulator.certificateAuthorityPEMPath) {
                try writeFile(folder + "/ca.pem", pem)
            }
            print("data plane    https://\(listen.host):\(simulator.port)")
            if let sandbox = simulator.sandboxPort { print("sandbox       https://\(listen.host):\(sandbox)") }
            if let port = simulator.controlPort { print("control plane http://\(control.host):\(port)") }
            print("ca_file       \(folder.map { $0 + "/ca.pem" } ?? simulator.certificateAuthorityPEMPath)")
            fflush(nil)
            _ = await signals.next()
            simulator.stop()
            return ExitCode.success
        } catch {
            writeError("aegis apns-simulator: \(error)\n")
            return ExitCode.failure
        }
    }

    /// The key that is there already, so that a restart does not disown its clients; else a new one.
    private static func providerKey(in folder: String) throws -> ProviderKey {
        let file = "\(folder)/AuthKey_\(keyID).p8"
        let key: P256PrivateKey
        if let pem = readFile(file) {
            key = try P256PrivateKey(pem: pem, file: file)
        } else {
            key = try P256PrivateKey.generate()
            unsafe mkdir(folder, 0o700)
            try writeFile(file, try key.privatePEM())
        }
        return ProviderKey(
            keyID: keyID, teamID: teamID, publicKeyPEM: String(decoding: try key.publicPEM(), as: UTF8.self))
    }

    private static func address(_ text: String) -> (host: String, port: UInt16)? {
        guard let separator = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: separator)...]) else {
            return nil
        }
        return (String(text[..<separator]), port)
    }
}

/// Writes a file that only its owner may read.
func writeFile(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError(operation: path) }
    defer { close(file) }
    guard unsafe write(file, bytes, bytes.count) == bytes.count else { throw SystemError(operation: path) }
}
