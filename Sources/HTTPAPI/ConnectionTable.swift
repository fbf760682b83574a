import Glibc
import Runtime

/// The connections that are open, and which of them give way where there are too many.
///
/// Half a request costs a client nothing, and a full server would hear no probe: so a new connection is always let in, and
/// whoever has kept the server waiting longest goes. A request that is being worked on is never broken off.
///
///     starting, idle ── headers ──▶ receiving body ── whole ──▶ worked on ── done ──▶ answering ── answer is out ──▶ idle
///     any but worked on ── too many connections, and it waits longest ──▶ told to leave
final class ConnectionTable: Sendable {
    /// What a connection does; those that say less of a client that means well give way first.
    private enum Phase: Int, Comparable {
        /// It has never sent the whole of a request's headers.
        case starting
        case receivingBody
        /// Its last request is answered.
        case idle
        /// It has an answer to read.
        case answering

        static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
    }

    private struct Connection {
        let descriptor: Int32
        /// Nil while it is worked on, and once it was told to leave.
        var waiting: Phase?
        /// Was told to leave: whatever it ends on the way makes room only once.
        var isLeaving = false
        /// When it came to do so, counted in changes.
        var since: UInt64
    }

    private struct State {
        var connections: [ConnectionID: Connection] = [:]
        var changes: UInt64 = 0
        var isFull = false
    }

    /// The library's name for a connection, unique while it is open.
    struct ConnectionID: Hashable, Sendable {
        private let address: Int

        init(_ handle: OpaquePointer) {
            address = Int(bitPattern: handle)
        }
    }

    /// More than these are open only until those that gave way are closed.
    let limit: Int
    private let state = Lock(State())

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a new connection, and has others give way to it.
    ///
    /// - Returns: whether the limit was reached by it: once, until there is ample room again.
    func opened(_ id: ConnectionID, descriptor: Int32) -> Bool {
        state.withLock { state in
            state.changes &+= 1
            state.connections[id] = Connection(descriptor: descriptor, waiting: .starting, since: state.changes)
            guard state.connections.count > limit else { return false }
            Self.makeRoom(for: id, in: &state)
            defer { state.isFull = true }
            return !state.isFull
        }
    }

    /// The next request's headers are whole.
    func startedRequest(_ id: ConnectionID) { change(id, to: .receivingBody) }

    /// The request is whole and its answer is up to the server.
    func startedWork(_ id: ConnectionID) { change(id, to: nil) }

    /// The answer goes out as fast as the client reads it.
    func startedAnswer(_ id: ConnectionID) { change(id, to: .answering) }

    func finishedRequest(_ id: ConnectionID) { change(id, to: .idle) }

    /// To be called before its descriptor is closed, and so may be another's.
    func closed(_ id: ConnectionID) {
        state.withLock { state in
            state.connections[id] = nil
            if state.connections.count < limit / 2 { state.isFull = false }
        }
    }

    private func change(_ id: ConnectionID, to phase: Phase?) {
        state.withLock { state in
            guard state.connections[id]?.isLeaving == false else { return }
            state.changes &+= 1
            state.connections[id]?.waiting = phase
            state.connections[id]?.since = state.changes
        }
    }

    private static func makeRoom(for id: ConnectionID, in state: inout State) {
        var chosen: (id: ConnectionID, phase: Phase, since: UInt64)?
        for (candidate, connection) in state.connections where candidate != id {
            guard let phase = connection.waiting else { continue }
            if let best = chosen, (best.phase, best.since) < (phase, connection.since) { continue }
            chosen = (candidate, phase, connection.since)
        }
        guard let chosen, let connection = state.connections[chosen.id] else { return }
        state.connections[chosen.id]?.waiting = nil
        state.connections[chosen.id]?.isLeaving = true
        // The library reads the end of the stream and closes what is its own.
        shutdown(connection.descriptor, Int32(SHUT_RDWR))
    }
}
