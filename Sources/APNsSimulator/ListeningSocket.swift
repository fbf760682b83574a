internal import Glibc

/// A bound, listening TCP socket; non-blocking unless it is handed to a library that wants otherwise.
final class ListeningSocket: Sendable {
    let descriptor: Descriptor
    /// The port it really has.
    let port: Int

    /// - Throws: kind `options` for a host that is no numeric address, `socket` for what the system refuses.
    init(host: String, port: UInt16) throws(APNsSimulatorError) {
        let descriptor = try Self.listen(host: host, port: port)
        self.port = try Self.port(of: descriptor.raw)
        self.descriptor = descriptor
    }

    private static func listen(host: String, port: UInt16) throws(APNsSimulatorError) -> Descriptor {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0, let address = unsafe list else {
            throw APNsSimulatorError(kind: .options, operation: "reading a listen address", detail: "not an IP address")
        }
        defer { unsafe freeaddrinfo(list) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try Descriptor(
            checking: unsafe socket(address.pointee.ai_family, type, 0), during: "making a socket")
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        unsafe setsockopt(descriptor.raw, SOL_SOCKET, SO_REUSEADDR, &on, size)
        guard unsafe bind(descriptor.raw, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
            throw .lastSocketError(during: "binding port \(port)")
        }
        guard Glibc.listen(descriptor.raw, 1024) == 0 else { throw .lastSocketError(during: "listening") }
        return descriptor
    }

    private static func port(of socket: Int32) throws(APNsSimulatorError) -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe getsockname(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard status == 0 else { throw .lastSocketError(during: "asking for the port") }
        // The port has the same place in IPv4 and IPv6 addresses: behind the two bytes of the family, high byte first.
        return unsafe withUnsafeBytes(of: storage) { unsafe Int($0[2]) << 8 | Int($0[3]) }
    }

    /// The next connection, non-blocking and without Nagle's delay; `nil` if none is waiting.
    func accept() -> Int32? {
        let accepted = Glibc.accept(descriptor.raw, nil, nil)
        guard accepted >= 0 else { return nil }
        guard fcntl(accepted, F_SETFL, O_NONBLOCK) == 0, fcntl(accepted, F_SETFD, FD_CLOEXEC) == 0 else {
            close(accepted)
            return nil
        }
        var on: Int32 = 1
        unsafe setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return accepted
    }
}
