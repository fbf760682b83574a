import AegisPorts
import Glibc
import Runtime

/// One connection on its way: address after address until TLS is up.
///
/// Not `Sendable`: it stays in its event loop's thread.
final class ConnectAttempt {
    enum Outcome {
        case pending
        case connected(TLSStream)
        case failed(GatewayError)
    }

    private enum Phase {
        case resolving
        case connecting(socket: Int32)
        case handshaking(TLSStream)
        case ended
    }

    let number: UInt64
    private let endpoint: GatewaySettings.Endpoint
    private let poller: Poller
    private let deadline: MonotonicTime
    private let addressTimeout: Duration
    private var addressDeadline: MonotonicTime
    private var phase = Phase.resolving
    private var remaining: ArraySlice<SocketAddress> = []
    private var context: TLSContext?
    private var lastError: GatewayError?

    init(
        number: UInt64, endpoint: GatewaySettings.Endpoint, poller: Poller, timeout: Duration, now: MonotonicTime
    ) {
        self.number = number
        self.endpoint = endpoint
        self.poller = poller
        deadline = now.advanced(by: timeout)
        // A family that swallows packets must leave time for the other.
        addressTimeout = timeout / 4
        addressDeadline = deadline
    }

    deinit { closeSocket() }

    /// When to call ``advance(at:)`` if nothing happens before.
    var nextDeadline: MonotonicTime { min(deadline, addressDeadline) }

    func start(_ route: Resolver.Route, at now: MonotonicTime) -> Outcome {
        remaining = route.addresses[...]
        context = route.tls
        return connectToNext(at: now)
    }

    /// Goes on as far as it can without blocking: after an event, or when time has passed.
    func advance(at now: MonotonicTime) -> Outcome {
        switch phase {
        case .resolving:
            return now >= deadline ? fail(.resolve, "no answer to the look-up of \(endpoint.host)") : .pending
        case .connecting(let socket):
            return checkConnection(of: socket, at: now)
        case .handshaking(let stream):
            return shakeHands(on: stream, at: now)
        case .ended:
            return .pending
        }
    }

    private func checkConnection(of socket: Int32, at now: MonotonicTime) -> Outcome {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let isKnown = unsafe getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length) == 0
        guard isKnown, code == 0 else {
            return tryNext(after: SystemError(operation: "connect", code: code), at: now)
        }
        var peer = sockaddr_storage()
        var peerLength = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isConnected =
            unsafe withUnsafeMutablePointer(to: &peer) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getpeername(socket, $0, &peerLength)
                }
            } == 0
        guard isConnected else {
            guard now >= addressDeadline else { return .pending }
            return tryNext(after: SystemError(operation: "connect", code: ETIMEDOUT), at: now)
        }
        guard let context else { return fail(.connect, "no TLS context") }
        phase = .ended
        do throws(GatewayError) {
            let stream = try TLSStream(descriptor: socket, context: context, host: endpoint.host)
            phase = .handshaking(stream)
            addressDeadline = deadline
            return shakeHands(on: stream, at: now)
        } catch {
            return .failed(error)
        }
    }

    private func shakeHands(on stream: TLSStream, at now: MonotonicTime) -> Outcome {
        switch stream.handshake() {
        case .done:
            phase = .ended
            return .connected(stream)
        case .wait:
            return now >= deadline ? fail(.tls, "\(endpoint.host) did not finish the handshake in time") : .pending
        case .closed(let error):
            phase = .ended
            return .failed(error)
        }
    }

    private func tryNext(after error: SystemError, at now: MonotonicTime) -> Outcome {
        closeSocket()
        lastError = GatewayError(
            kind: .connect, detail: "\(endpoint.host) port \(endpoint.port) cannot be reached: \(error)")
        return connectToNext(at: now)
    }

    private func connectToNext(at now: MonotonicTime) -> Outcome {
        while now < deadline, let address = remaining.popFirst() {
            do throws(SystemError) {
                phase = .connecting(socket: try Self.connect(to: address, number: number, poller: poller))
                addressDeadline = remaining.isEmpty ? deadline : min(deadline, now.advanced(by: addressTimeout))
                return .pending
            } catch {
                lastError = GatewayError(
                    kind: .connect, detail: "\(endpoint.host) port \(endpoint.port) cannot be reached: \(error)")
            }
        }
        phase = .ended
        return .failed(lastError ?? GatewayError(kind: .connect, detail: "\(endpoint.host) did not answer in time"))
    }

    private func fail(_ kind: GatewayError.Kind, _ detail: String) -> Outcome {
        closeSocket()
        phase = .ended
        return .failed(GatewayError(kind: kind, detail: detail))
    }

    private func closeSocket() {
        if case .connecting(let socket) = phase {
            close(socket)
            phase = .ended
        }
    }

    /// Starts a TCP connection; its end is an event.
    private static func connect(
        to address: SocketAddress, number: UInt64, poller: Poller
    ) throws(SystemError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, type, 0)
        guard descriptor >= 0 else { throw SystemError(operation: "socket") }
        var on: Int32 = 1
        // Output is gathered before it is written: the kernel need not wait for more.
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let status = unsafe address.bytes.withUnsafeBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe Glibc.connect(
                descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard status == 0 || errno == EINPROGRESS else {
            let error = SystemError(operation: "connect")
            close(descriptor)
            throw error
        }
        do throws(SystemError) {
            try poller.watch(descriptor, as: number)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }
}
