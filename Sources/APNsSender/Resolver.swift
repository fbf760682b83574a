import AegisCore
import AegisPorts
import Glibc
import Runtime

/// A socket address as the system gave it.
struct SocketAddress: Hashable, Sendable {
    let family: Int32
    let bytes: [UInt8]
}

/// Does the blocking parts of a connect on a thread of its own: address look-up and reading of trusted certificates.
final class Resolver: Sendable {
    /// What a connection needs before it can start.
    struct Route: Sendable {
        let addresses: [SocketAddress]
        let tls: TLSContext
    }

    struct Request: Sendable {
        let endpoint: GatewaySettings.Endpoint
        let answer: @Sendable (Result<Route, GatewayError>) -> Void
    }

    private struct State {
        var requests: [Request] = []
        var isClosed = false
    }

    private let state = Condition(State())

    /// - Throws: ``ThreadError`` when the system gives no thread.
    init() throws(ThreadError) {
        let state = state
        _ = try DedicatedThread(name: "apns-resolver") {
            while true {
                let requests: [Request]? = state.waitAndUpdate(until: { !$0.requests.isEmpty || $0.isClosed }) {
                    state in
                    defer { state.requests = [] }
                    return state.isClosed ? nil : state.requests
                }
                guard let requests else { return }
                for request in requests { request.answer(Self.route(to: request.endpoint)) }
            }
        }
    }

    func prepare(_ request: Request) {
        state.update { $0.requests.append(request) }
    }

    /// Ends the thread after the look-up it is at; what still waits is never answered.
    func close() {
        state.update { $0.isClosed = true }
    }

    private static func route(to endpoint: GatewaySettings.Endpoint) -> Result<Route, GatewayError> {
        do throws(GatewayError) {
            var generator = SystemChance()
            let found = try look(up: endpoint.host, port: endpoint.port)
            return .success(
                Route(addresses: order(found, using: &generator), tls: try TLSContext(caFile: endpoint.caFile)))
        } catch {
            return .failure(error)
        }
    }

    /// Alternates the families, IPv6 first, each shuffled: connections spread over hosts, and a family that does not
    /// work costs one try.
    static func order(
        _ addresses: [SocketAddress], using generator: inout some RandomNumberGenerator
    ) -> [SocketAddress] {
        let six = addresses.filter { $0.family == AF_INET6 }.shuffled(using: &generator)
        let rest = addresses.filter { $0.family != AF_INET6 }.shuffled(using: &generator)
        var ordered: [SocketAddress] = []
        for index in 0..<max(six.count, rest.count) {
            if index < six.count { ordered.append(six[index]) }
            if index < rest.count { ordered.append(rest[index]) }
        }
        return ordered
    }

    private static func look(up host: String, port: UInt16) throws(GatewayError) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            let text = unsafe gai_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
            throw GatewayError(kind: .resolve, detail: "\(host) has no address: \(text)")
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var entry = unsafe list
        while let current = unsafe entry {
            if let address = unsafe current.pointee.ai_addr {
                let raw = unsafe UnsafeRawBufferPointer(start: address, count: Int(current.pointee.ai_addrlen))
                let copy = unsafe SocketAddress(family: current.pointee.ai_family, bytes: Array(raw))
                if !found.contains(copy) { found.append(copy) }
            }
            unsafe entry = current.pointee.ai_next
        }
        guard !found.isEmpty else { throw GatewayError(kind: .resolve, detail: "\(host) has no address") }
        return found
    }
}
