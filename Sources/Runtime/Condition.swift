import Glibc

/// A value behind a POSIX mutex that threads can wait on.
///
/// For threads only: a task that waited here would block the pool.
///
/// `@unchecked Sendable`: `value` is touched only between `pthread_mutex_lock` and `pthread_mutex_unlock` on `mutex`.
@safe package final class Condition<Value>: @unchecked Sendable {
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    package init(_ value: sending Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe changed = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Changes the value and wakes every waiter.
    package func update<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(changed)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&value)
    }

    package func read<Result>(_ body: (Value) -> sending Result) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(value)
    }

    /// Blocks the calling thread until the value satisfies `condition`.
    package func wait(until condition: (Value) -> Bool) {
        unsafe pthread_mutex_lock(mutex)
        while !condition(value) {
            unsafe pthread_cond_wait(changed, mutex)
        }
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Blocks until the value satisfies `condition`, then changes it, in one step.
    package func waitAndUpdate<Result>(
        until condition: (Value) -> Bool, _ body: (inout Value) -> sending Result
    ) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        while !condition(value) {
            unsafe pthread_cond_wait(changed, mutex)
        }
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
