import Foundation
import Runtime
import Testing

/// The kernel's number of the calling thread, by the link that procfs keeps.
private func currentThread() -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
}

private func currentThreadName() -> String? {
    try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
}

@Suite struct DedicatedThreadTests {
    @Test func `the body runs on a thread of its own, with its name cut to what the kernel keeps`() throws {
        let seen = Lock<(thread: String?, name: String?)>((nil, nil))
        let thread = try DedicatedThread(name: "a-rather-long-name") {
            seen.withLock { $0 = (currentThread(), currentThreadName()) }
        }
        thread.join()
        let (number, name) = seen.withLock { $0 }
        #expect(number != nil && number != currentThread())
        #expect(name == "a-rather-long-n")
    }

    @Test func `join waits for the end, from several places and after it`() async throws {
        let gate = Latch()
        let finished = Latch()
        let thread = try DedicatedThread(name: "waits") {
            gate.wait()
            finished.open()
        }
        let joined = Condition(0)
        let waiters = try (0..<3).map { _ in
            try DedicatedThread(name: "joins") {
                thread.join()
                #expect(finished.isOpen)
                joined.update { $0 += 1 }
            }
        }
        #expect(joined.read { $0 } == 0)
        gate.open()
        for waiter in waiters { waiter.join() }
        thread.join()
        #expect(joined.read { $0 } == 3)
    }
}

@Suite struct ConditionTests {
    @Test func `a waiter goes on when its condition holds, and not before`() throws {
        let number = Condition(0)
        let seen = Condition(0)
        let waiter = try DedicatedThread(name: "waiter") {
            let value = number.waitAndUpdate(until: { $0 >= 3 }) { value in
                defer { value = 100 }
                return value
            }
            seen.update { $0 = value }
        }
        for _ in 0..<3 { number.update { $0 += 1 } }
        waiter.join()
        #expect(seen.read { $0 } == 3)
        #expect(number.read { $0 } == 100)
    }

    @Test func `updates of many threads are all kept`() throws {
        let number = Condition(0)
        let threads = try (0..<4).map { _ in
            try DedicatedThread(name: "adds") { for _ in 0..<1_000 { number.update { $0 += 1 } } }
        }
        number.wait { $0 == 4_000 }
        for thread in threads { thread.join() }
        #expect(number.read { $0 } == 4_000)
    }
}

private actor Resident {
    private let executor: ThreadExecutor
    private var threads: Set<String?> = []
    private var running = 0

    init(_ executor: ThreadExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func visit() -> (threads: Int, name: String?) {
        running += 1
        defer { running -= 1 }
        #expect(running == 1, "one at a time")
        threads.insert(currentThread())
        return (threads.count, currentThreadName())
    }

    func visitTwice() async -> String? {
        let before = currentThread()
        await Task.yield()
        return before == currentThread() ? before : nil
    }
}

@Suite struct ThreadExecutorTests {
    @Test func `an actor runs on the one thread, before and after it waits`() async throws {
        let executor = try ThreadExecutor(name: "store-writer")
        let resident = Resident(executor)
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    let (threads, name) = await resident.visit()
                    #expect(threads == 1)
                    #expect(name == "store-writer")
                    #expect(await resident.visitTwice() != nil)
                }
            }
        }
        executor.shutDown()
    }

    @Test(.timeLimit(.minutes(1)))
    func `work that was enqueued before the shut-down still runs, then the thread ends`() async throws {
        let name = "ends-\(UInt16.random(in: .min ... .max))"
        let executor = try ThreadExecutor(name: name)
        let resident = Resident(executor)
        #expect(await resident.visit().name == name)
        #expect(try threadNames().contains(name))
        async let last = resident.visit()
        #expect(await last.threads == 1)
        executor.shutDown()
        while try threadNames().contains(name) { await Task.yield() }
    }

    private func threadNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap { thread in
            // A thread may end between the listing and the reading.
            try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
