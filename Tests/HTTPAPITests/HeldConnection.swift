import Foundation

/// A connection that stays open until it is let go of, whatever the server does.
final class HeldConnection: Sendable {
    private let descriptor: Int32

    /// - Returns: nil where the server takes no connection.
    init?(to port: UInt16, sending text: String) {
        guard let descriptor = TestClient.connect(to: port) else { return nil }
        self.descriptor = descriptor
        write(text)
    }

    deinit { close(descriptor) }

    /// Many of them, one after the other.
    static func open(_ count: Int, to port: UInt16, sending text: String) async -> [HeldConnection] {
        await onThread { (0..<count).compactMap { _ in HeldConnection(to: port, sending: text) } }
    }

    /// Sends a request and reads one answer with a body; nil where the server closed or `limit` went by.
    func ask(_ path: String, within limit: Duration) async -> TestClient.Answer? {
        await Self.onThread { [self] in
            write("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
            var wait = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
            var received: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return nil }
                received.append(contentsOf: buffer.prefix(count))
                if let answer = TestClient.Answer(received), let length = answer.headers["content-length"],
                    answer.body.utf8.count == Int(length)
                {
                    return answer
                }
            }
        }
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
