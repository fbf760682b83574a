/// Why a simulator could not be started.
package struct APNsSimulatorError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// An option makes no sense, such as a key that is no P-256 public key.
        case options
        /// An address could not be bound, or a descriptor not be made.
        case socket
        /// OpenSSL refused to make keys, certificates or a context.
        case tls
        /// The temporary directory of the certificate could not be written.
        case file
        /// The control plane's HTTP server did not start.
        case controlPlane
    }

    package let kind: Kind
    /// What was being done, in words.
    package let operation: String
    /// The engine's own text or number; never a key.
    package let detail: String

    package var description: String { "APNs simulator: \(operation) failed: \(detail)" }
}
