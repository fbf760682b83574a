import APNsSender
import AegisCore
import AegisPorts
import Configuration
import Glibc
import IdentityDigests
import KafkaEventLog
import Observability
import ProviderToken

/// Configuration, catalog and credentials, checked before anything is started.
struct LoadedService: Sendable {
    var loaded: LoadedConfiguration
    var signers: [AppKey: ES256Signer]
    var digests: OpenSSLDigests

    /// Reads everything, printing every problem; nil after printing at least one.
    static func load(_ path: String, printingWarnings: Bool = true) -> LoadedService? {
        let loaded: LoadedConfiguration
        do throws(ConfigurationProblems) {
            loaded = try ConfigurationLoader.load(path: path, environment: environment())
        } catch {
            writeError(error.description + "\n")
            return nil
        }
        if printingWarnings {
            for warning in loaded.warnings { writeError("\(warning)\n") }
        }
        var problems: [Problem] = []
        let (signers, keyBytes) = loadSigners(loaded, problems: &problems)
        problems += authoritiesProblems(loaded) + propertyProblems(loaded)
        guard problems.isEmpty else {
            for problem in problems.sortedByLine() { writeError("\(problem)\n") }
            return nil
        }
        // A deployment that names no key of its own gets one that nobody outside it can know.
        let hashKey = loaded.configuration.log.hashKey.map { Array($0.revealed.utf8) } ?? keyBytes
        return LoadedService(loaded: loaded, signers: signers, digests: OpenSSLDigests(hashKey: hashKey))
    }

    /// One signer for each (team, key): the environments of an app, and apps that share a key, share its token.
    private static func loadSigners(
        _ loaded: LoadedConfiguration, problems: inout [Problem]
    ) -> (signers: [AppKey: ES256Signer], keyBytes: [UInt8]) {
        var byKey: [AppSettings.TokenKey: ES256Signer] = [:]
        var signers: [AppKey: ES256Signer] = [:]
        var keyBytes: [UInt8] = []
        for (index, app) in loaded.configuration.apps.enumerated() {
            let key = app.tokenKey
            do throws(CredentialError) {
                let signer: ES256Signer
                if let known = byKey[key] {
                    signer = known
                } else {
                    signer = try ES256Signer(keyFile: key.keyFile, keyID: key.keyID, teamID: key.teamID)
                    for warning in signer.warnings { writeError("warning: \(warning)\n") }
                    byKey[key] = signer
                }
                for appKey in app.keys { signers[appKey] = signer }
                if keyBytes.isEmpty { keyBytes = readFile(key.keyFile) ?? Array(key.keyID.utf8) }
            } catch {
                // Signing fails at load for the ids alone.
                let setting = error.kind == .signing ? "token" : "token.key_file"
                problems.append(loaded.sources.problem(error.detail, at: "apps[\(index)].auth.\(setting)"))
            }
        }
        return (signers, keyBytes)
    }

    private static func authoritiesProblems(_ loaded: LoadedConfiguration) -> [Problem] {
        var problems: [Problem] = []
        for (index, app) in loaded.configuration.apps.enumerated() {
            for (environment, endpoint) in app.endpoints {
                guard let file = endpoint.caFile else { continue }
                do throws(GatewayError) {
                    try AuthoritiesFile.check(path: file)
                } catch {
                    problems.append(
                        loaded.sources.problem(
                            error.detail, at: "apps[\(index)].environments.\(environment.rawValue).ca_file"))
                }
            }
        }
        return problems
    }

    private static func propertyProblems(_ loaded: LoadedConfiguration) -> [Problem] {
        KafkaProperties.mistakes(in: loaded.configuration.kafka.properties.mapValues(\.revealed)).map { name, mistake in
            let path = "kafka.properties.\(name)"
            switch mistake {
            case .unknown(let nearest):
                return loaded.sources.problem(
                    "librdkafka has no such property", at: path, remedy: nearest.map { "did you mean \"\($0)\"?" })
            case .value:
                // The library's own text quotes the value, which may be a password.
                return loaded.sources.problem("librdkafka does not take this value", at: path)
            }
        }
    }

    static func environment() -> [String: String] {
        var found: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let line = unsafe String(cString: text)
            if let separator = line.firstIndex(of: "=") {
                found[String(line[..<separator])] = String(line[line.index(after: separator)...])
            }
            unsafe entry += 1
        }
        return found
    }
}

/// The bytes of a file, or nil where it cannot be read.
func readFile(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe read(file, &chunk, chunk.count)
        guard count > 0 else { return count == 0 ? bytes : nil }
        bytes.append(contentsOf: chunk[..<count])
    }
}

/// The path from the root on, links followed; as it is where nothing is there.
func absolutePath(_ path: String) -> String {
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
}
