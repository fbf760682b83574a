import Glibc

/// A value behind a POSIX mutex, with the calls of the standard library's `Mutex`.
///
/// That one hands a contended lock over inside the kernel, where the thread sanitizer does not see it and reports races that
/// are none; this one it understands. Never held across a call that may block or suspend.
///
/// `@unchecked Sendable`: `value` is touched only between `pthread_mutex_lock` and `pthread_mutex_unlock` on `mutex`.
@safe package final class Lock<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
