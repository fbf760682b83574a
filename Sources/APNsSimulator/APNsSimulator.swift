internal import Runtime

/// A look-alike of APNs: HTTP/2 over TLS, the checks and answers of the real service, and faults on demand.
///
/// One thread serves all connections. Calls from outside go through one lock; a changed fault is in force for every
/// request that arrives after the call returned.
package final class APNsSimulator: Sendable {
    package typealias Options = SimulatorOptions
    package typealias Environment = SimulatedEnvironment

    /// The production environment's port.
    package let port: Int
    /// The sandbox environment's port, if there is one.
    package let sandboxPort: Int?
    /// The control plane's port, if there is one.
    package var controlPort: Int? { lifecycle.withLock { $0.controlPlane?.port } }
    /// The file a client trusts; it goes with ``stop()``.
    package var certificateAuthorityPEMPath: String { certificate.authorityPEMPath }

    private struct Lifecycle {
        var thread: LoopThread?
        var controlPlane: ControlPlane?
    }

    private let certificate: ServerCertificate
    private let shared: SharedState
    private let clock: @Sendable () -> Int64
    private let lifecycle = Lock(Lifecycle(thread: nil, controlPlane: nil))

    /// Binds the ports, makes the certificates and starts the thread.
    ///
    /// - Throws: ``APNsSimulatorError``; nothing is left behind then.
    package init(_ options: Options = Options()) throws(APNsSimulatorError) {
        let keyring = try ProviderKeyring(options.providerKeys)
        let listeners = try Listeners(options)
        certificate = try ServerCertificate(names: options.serverNames)
        clock = options.clock
        port = listeners.production.port
        sandboxPort = listeners.sandboxPort
        shared = try SharedState(log: NotificationLog(options: options), keyring: keyring)
        let loop = try EventLoop(
            options: options, shared: shared, tls: TLSContext(certificate), listeners: listeners, keyring: keyring)
        let thread = try LoopThread(running: loop)
        lifecycle.withLock { $0.thread = thread }
        guard let controlPort = options.controlPort else { return }
        do {
            let plane = try ControlPlane(host: options.controlHost, port: controlPort, simulator: self)
            lifecycle.withLock { $0.controlPlane = plane }
        } catch {
            stop()
            throw error
        }
    }

    deinit { stop() }

    /// Ends all connections and the thread, and removes the certificate.
    ///
    /// Further calls do nothing.
    package func stop() {
        let plane = lifecycle.withLock { $0.controlPlane.take() }
        plane?.stop()
        guard let thread = lifecycle.withLock({ $0.thread.take() }) else { return }
        shared.change { $0.commands.append(.stop) }
        thread.join()
        certificate.removeFiles()
    }

    // MARK: What was received

    /// Accepted pushes in the order of acceptance, of one device token or all.
    package func notifications(token: String? = nil) -> [ReceivedNotification] {
        shared.content.withLock { $0.log.requests(token: token, acceptedOnly: true) }
    }

    /// All answered requests, refused ones included.
    package func requests(token: String? = nil) -> [ReceivedNotification] {
        shared.content.withLock { $0.log.requests(token: token, acceptedOnly: false) }
    }

    /// Forgets the requests; the figures stay, but ids count as new.
    package func clearNotifications() {
        shared.content.withLock { $0.log.clear() }
    }

    package func stats() -> SimulatorStats {
        shared.content.withLock { $0.log.stats }
    }

    // MARK: What is answered

    /// Makes a token valid for a topic; only asked for with ``SimulatorOptions/acceptAnyToken`` off.
    ///
    /// A registration at or after the `timestamp` of a scripted 410 lifts it.
    package func registerDevice(token: String, topic: String, environment: Environment = .production) {
        let now = clock()
        shared.content.withLock { $0.registry.register(token, topic: topic, environment: environment, at: now) }
    }

    /// Sets what a device answers, or with `nil` makes it normal again.
    package func setDevice(_ token: String, _ script: DeviceScript?) {
        shared.content.withLock { $0.registry.setScript(script, for: token) }
    }

    /// Forgets all registrations and scripts.
    package func clearDevices() {
        shared.content.withLock { $0.registry.removeAll() }
    }

    package func setFaults(_ faults: Faults) {
        shared.change { $0.faults = faults }
    }

    package func clearFaults() {
        setFaults(Faults())
    }

    /// Replaces the provider keys; connections already bound to a key keep the topics it had.
    ///
    /// - Throws: kind `options` for a key that cannot be read; the old keys stay then.
    package func setProviderKeys(_ keys: [ProviderKey]) throws(APNsSimulatorError) {
        let keyring = try ProviderKeyring(keys)
        shared.change { $0.keyring = keyring }
    }

    /// Ends all connections open now; new ones are accepted at once.
    package func closeConnections(_ closing: ConnectionClosing) {
        shared.change { $0.commands.append(.closeConnections(closing)) }
    }
}
