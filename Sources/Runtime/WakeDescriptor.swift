import CLinux
import Glibc

/// An `eventfd(2)` that wakes a thread out of `epoll_wait` or `poll`.
///
/// Signalling is safe from any thread.
package final class WakeDescriptor: Sendable {
    /// For `epoll_ctl`; readable after ``signal()`` until ``reset()``.
    package let descriptor: Int32

    /// - Throws: ``SystemError`` when the process has no descriptor left.
    package init() throws(SystemError) {
        descriptor = aegis_eventfd()
        guard descriptor >= 0 else { throw SystemError(operation: "eventfd") }
    }

    deinit { Glibc.close(descriptor) }

    package func signal() {
        var one: UInt64 = 1
        // A full counter is readable already: nothing is lost when the write would block.
        _ = unsafe withUnsafeBytes(of: &one) { unsafe Glibc.write(descriptor, $0.baseAddress, 8) }
    }

    package func reset() {
        var count: UInt64 = 0
        _ = unsafe withUnsafeMutableBytes(of: &count) { unsafe Glibc.read(descriptor, $0.baseAddress, 8) }
    }
}

/// A system call that failed, with `errno` and its text.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let operation: String
    package let code: Int32

    /// Takes `errno` of the call just made.
    package init(operation: String) {
        self.init(operation: operation, code: errno)
    }

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    package var description: String {
        guard let text = unsafe strerror(code) else { return "\(operation): error \(code)" }
        return unsafe "\(operation): \(String(cString: text))"
    }
}
