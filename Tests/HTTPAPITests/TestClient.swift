import Foundation

/// A client that sends exactly the bytes it is told.
struct TestClient: Sendable {
    struct Answer: Sendable {
        let status: Int
        let headers: [String: String]
        let body: String

        /// The body as JSON; nil where it is none.
        var json: [String: Any]? {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any]
        }

        init?(_ bytes: [UInt8]) {
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { return nil }
            let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
            let words = lines[0].split(separator: " ")
            guard words.count > 1, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else { return nil }
            self.status = status
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                headers[line[..<colon].lowercased()] =
                    line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            }
            self.headers = headers
            body = String(text[end.upperBound...])
        }
    }

    let port: UInt16

    /// One request on a connection of its own.
    func send(
        _ method: String, _ path: String, token: String? = nil, body: String? = nil, headers: [String] = []
    ) async -> Answer? {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return Answer(await exchange(Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8)))
    }

    /// Sends bytes and reads until the server closes, at most 30 seconds.
    ///
    /// On a thread of its own: blocked tasks would keep the server's from running.
    func exchange(_ bytes: [UInt8], isLastWrite: Bool = false) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: Self.exchangeBlocking(port, bytes, isLastWrite: isLastWrite))
            }
        }
    }

    private static func exchangeBlocking(_ port: UInt16, _ bytes: [UInt8], isLastWrite: Bool) -> [UInt8] {
        guard let descriptor = connect(to: port) else { return [] }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Foundation.send(
                    descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        if isLastWrite { shutdown(descriptor, Int32(SHUT_WR)) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return received }
            received.append(contentsOf: buffer.prefix(count))
        }
    }

    /// A connected socket, which the caller closes.
    static func connect(to port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe Foundation.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
