import Foundation
import Runtime
import Testing

@Suite struct WakeDescriptorTests {
    private func isReadable(_ wake: WakeDescriptor, within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, milliseconds) == 1
    }

    @Test func `a signal makes it readable until it is reset, however many there were`() throws {
        let wake = try WakeDescriptor()
        #expect(!isReadable(wake, within: 0))
        wake.signal()
        wake.signal()
        #expect(isReadable(wake, within: 0))
        wake.reset()
        #expect(!isReadable(wake, within: 0))
        wake.reset()
        wake.signal()
        #expect(isReadable(wake, within: 0))
    }

    @Test func `a thread that waits is woken by another`() throws {
        let wake = try WakeDescriptor()
        let thread = try DedicatedThread(name: "wakes") { wake.signal() }
        #expect(isReadable(wake, within: 10_000))
        thread.join()
    }

    @Test func `the descriptor is closed with its owner`() throws {
        // The kernel gives the lowest free number, so one that comes twice was free in between, whatever others have open.
        var seen: Set<Int32> = []
        var repeats = 0
        for _ in 0..<2_000 where !seen.insert(try WakeDescriptor().descriptor).inserted { repeats += 1 }
        #expect(repeats > 1_000)
    }

    @Test func `a system error names the call and its reason`() {
        let error = SystemError(operation: "open", code: ENOENT)
        #expect(error.description == "open: No such file or directory")
    }
}
