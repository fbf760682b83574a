import Glibc
import Testing

@testable import HTTPAPI

@Suite struct ConnectionTableTests {
    /// A pair of connected sockets; the first is handed to the table.
    private final class Pair {
        let own: Int32
        let peer: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            own = ends[0]
            peer = ends[1]
        }

        /// Whether the table has shut it down.
        var isShut: Bool {
            var byte: UInt8 = 0
            return unsafe recv(peer, &byte, 1, Int32(truncatingIfNeeded: Int(MSG_DONTWAIT))) == 0
        }

        deinit {
            close(own)
            close(peer)
        }
    }

    private func id(_ number: Int) throws -> ConnectionTable.ConnectionID {
        unsafe ConnectionTable.ConnectionID(try #require(OpaquePointer(bitPattern: number)))
    }

    @Test func `one that was told to leave makes room once, whatever it still does`() throws {
        let table = ConnectionTable(limit: 2)
        let first = try Pair()
        let second = try Pair()
        let third = try Pair()
        let fourth = try Pair()
        #expect(table.opened(try id(1), descriptor: first.own) == false)
        #expect(table.opened(try id(2), descriptor: second.own) == false)
        #expect(table.opened(try id(3), descriptor: third.own) == true)
        #expect(first.isShut)
        #expect(!second.isShut)
        // The others are further on than an idle one.
        for number in 2...3 { table.startedAnswer(try id(number)) }
        // Its last answer ends while the library has not closed it yet.
        table.finishedRequest(try id(1))
        #expect(table.opened(try id(4), descriptor: fourth.own) == false)
        #expect(second.isShut)
        #expect(!third.isShut)
    }
}
