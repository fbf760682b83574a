import Glibc

/// Writes to descriptor 2.
package enum StandardError {
    /// The whole line in one `write(2)` where the system takes it so; a descriptor that is gone or broken is no reason to
    /// fail.
    package static let write: @Sendable ([UInt8]) -> Void = { line in
        var written = 0
        while written < line.count {
            let count = unsafe line.withUnsafeBytes { bytes in
                unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                // Somebody made the descriptor non-blocking: wait for room rather than lose half a line.
                var waiting = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&waiting, 1, 1_000)
            } else if errno != EINTR {
                return
            }
        }
    }
}
