import Glibc
import Runtime

/// Owns a listening TCP socket until it is handed over.
struct ListenSocket: ~Copyable {
    private let descriptor: Int32
    /// The real one, also where a free one was asked for.
    let port: UInt16
    let isIPv6: Bool

    /// - Throws: ``HTTPServerError`` of kind `address` or `bind`.
    init(host: String, port: UInt16) throws(HTTPServerError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(host, String(port), &hints, &found)
        guard status == 0, let address = unsafe found else {
            throw HTTPServerError(kind: .address, detail: "\(host) is no address to listen on")
        }
        defer { unsafe freeaddrinfo(address) }
        let isIPv6 = unsafe address.pointee.ai_family == AF_INET6
        let descriptor = unsafe socket(
            address.pointee.ai_family,
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure(.start, "socket") }
        // Both may be refused: then the bind fails, or an address of one family is served alone.
        Self.set(SO_REUSEADDR, of: SOL_SOCKET, to: 1, on: descriptor)
        if isIPv6 { Self.set(IPV6_V6ONLY, of: Int32(IPPROTO_IPV6), to: 0, on: descriptor) }
        guard unsafe bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0,
            Glibc.listen(descriptor, 1_024) == 0, let real = Self.localPort(of: descriptor)
        else {
            let error = Self.failure(errno == EADDRNOTAVAIL ? .address : .bind, "listen on \(host), port \(port)")
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.isIPv6 = isIPv6
        self.port = real
    }

    deinit { close(descriptor) }

    /// The descriptor, which the caller closes from now on.
    consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    private static func set(_ option: Int32, of level: Int32, to value: Int32, on descriptor: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func failure(_ kind: HTTPServerError.Kind, _ operation: String) -> HTTPServerError {
        HTTPServerError(kind: kind, detail: SystemError(operation: operation).description)
    }

    private static func localPort(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getsockname(descriptor, address, &length)
            }
        }
        guard status == 0 else { return nil }
        // The port stands at the same place in the addresses of both families.
        return unsafe withUnsafePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                UInt16(bigEndian: unsafe address.pointee.sin_port)
            }
        }
    }
}
