internal import Glibc
import Runtime
internal import Synchronization

/// Serves all connections of a simulator on one thread, by epoll.
///
/// Nothing of it is touched from elsewhere.
final class EventLoop {
    enum TimerEvent {
        case answer(stream: Int32, arrival: Int)
        case finalGoAway(reason: String?)
        case idleCheck
        case end
    }

    let options: SimulatorOptions
    let checks: RequestChecks
    let callbacks: HTTP2Callbacks
    let readBuffer = ReadBuffer()
    private let shared: SharedState
    private let tls: TLSContext
    private let poll: Poll
    private let listeners: Listeners

    private var connections: [Int: Connection] = [:]
    private var lastNumber = 0
    private var timers = TimerQueue()
    /// Connections with input that TLS has already taken from the socket.
    private var ready: [Int] = []
    private var touched: Set<Int> = []
    private var seenVersion = 0
    private var isStopping = false

    /// The simulator's clock and the machine's, as of this turn.
    private(set) var now: Int64
    private(set) var monotonic: Int64
    var random: SeededGenerator
    var responseHeaders = ResponseHeaders()
    private(set) var keyring: ProviderKeyring
    var faultSchedule: FaultSchedule
    var faults: Faults { faultSchedule.faults }
    private var arrivals = 0
    var openStreams = 0 {
        didSet { peakStreams = max(peakStreams, openStreams) }
    }
    private var peakStreams = 0

    init(
        options: SimulatorOptions, shared: SharedState, tls: TLSContext, listeners: Listeners, keyring: ProviderKeyring
    ) throws(APNsSimulatorError) {
        self.options = options
        self.shared = shared
        self.tls = tls
        self.listeners = listeners
        self.keyring = keyring
        checks = RequestChecks(options: options)
        callbacks = try HTTP2Callbacks()
        poll = try Poll()
        now = options.clock()
        monotonic = SystemTime.monotonicMilliseconds()
        random = SeededGenerator(seed: options.seed)
        faultSchedule = FaultSchedule(Faults(), since: now)
        try poll.add(shared.wakeDescriptor.raw, tag: Poll.wakeTag)
        try poll.add(listeners.production.descriptor.raw, tag: Poll.productionTag)
        if listeners.sandbox != nil { try poll.add(listeners.sandboxDescriptor, tag: Poll.sandboxTag) }
    }

    func run() {
        while !isStopping { turn() }
        connections.removeAll()
        publishOpenConnections()
    }

    private func turn() {
        let timeout = ready.isEmpty ? timers.millisecondsUntilNext(from: SystemTime.monotonicMilliseconds()) : 0
        let events = poll.wait(milliseconds: timeout)
        now = options.clock()
        monotonic = SystemTime.monotonicMilliseconds()
        takeChanges()
        let waiting = ready
        ready.removeAll(keepingCapacity: true)
        for event in events {
            switch event.tag {
            case Poll.wakeTag: shared.clearWake()
            case Poll.productionTag: acceptAll(.production)
            case Poll.sandboxTag: acceptAll(.sandbox)
            default: serve(Int(event.tag) - Int(Poll.firstConnectionTag), isWritable: event.isWritable)
            }
        }
        for number in waiting { serve(number, isWritable: false) }
        runTimers()
        reap()
    }

    private func serve(_ number: Int, isWritable: Bool) {
        guard let connection = connections[number] else { return }
        touched.insert(number)
        if connection.handle(isWritable: isWritable) { ready.append(number) }
    }

    private func acceptAll(_ environment: SimulatedEnvironment) {
        while let socket = listeners.accept(environment) {
            let descriptor = Descriptor(raw: socket)
            guard let stream = tls.accept(on: socket) else { continue }
            lastNumber += 1
            let connection = Connection(
                number: lastNumber, environment: environment, socket: descriptor, tls: stream, loop: self)
            guard (try? poll.add(socket, tag: Poll.firstConnectionTag + UInt64(lastNumber))) != nil else { continue }
            connections[lastNumber] = connection
            schedule(.end, for: connection, after: Connection.handshakeDeadlineMs)
            if let limit = faults.idleCloseMs { schedule(.idleCheck, for: connection, after: Int64(limit)) }
            shared.content.withLock { $0.log.stats.connectionsOpened += 1 }
            publishOpenConnections()
            serve(lastNumber, isWritable: false)
        }
    }

    /// Dead connections go after the turn, when no callback of theirs is running.
    private func reap() {
        var hasReaped = false
        for number in touched {
            guard let connection = connections[number], connection.phase == .dead else { continue }
            openStreams -= connection.abandonedStreams
            connections[number] = nil
            hasReaped = true
        }
        touched.removeAll(keepingCapacity: true)
        if hasReaped { publishOpenConnections() }
    }

    private func publishOpenConnections() {
        let count = connections.count
        shared.content.withLock { $0.log.stats.connectionsOpen = count }
    }

    func watch(_ connection: Connection, forWriting: Bool) {
        guard connection.isWatchedForWriting != forWriting else { return }
        connection.isWatchedForWriting = forWriting
        poll.watch(
            connection.socket, tag: Poll.firstConnectionTag + UInt64(connection.number), forWriting: forWriting)
    }

    // MARK: Timers

    func schedule(_ event: TimerEvent, for connection: Connection, after milliseconds: Int64) {
        timers.insert(event, connection: connection.number, due: monotonic &+ milliseconds)
    }

    private func runTimers() {
        while let (event, number) = timers.popDue(at: monotonic) {
            guard let connection = connections[number] else { continue }
            touched.insert(number)
            switch event {
            case .answer(let stream, let arrival): connection.answerDue(stream, arrival: arrival)
            case .finalGoAway(let reason): connection.finalGoAwayDue(reason: reason)
            case .idleCheck: connection.idleCheckDue()
            case .end: connection.end()
            }
        }
    }

    // MARK: What callers changed

    private func takeChanges() {
        let version = shared.version.load(ordering: .acquiring)
        guard version != seenVersion else { return }
        seenVersion = version
        let (newFaults, newKeyring, commands) = shared.content.withLock { content in
            defer { content.commands.removeAll() }
            return (content.faults, content.keyring, content.commands)
        }
        keyring = newKeyring
        if newFaults != faults {
            faultSchedule = FaultSchedule(newFaults, since: now)
            for connection in connections.values {
                touched.insert(connection.number)
                connection.faultsChanged()
            }
        }
        for command in commands {
            switch command {
            case .stop: isStopping = true
            case .closeConnections(let closing): close(closing)
            }
        }
    }

    private func close(_ closing: ConnectionClosing) {
        for connection in connections.values {
            touched.insert(connection.number)
            switch closing {
            case .graceful:
                connection.startGracefulGoAway(reason: faults.goAwayReason)
                connection.flush()
            case .abrupt: connection.carryOut(.abruptGoAway(reason: faults.goAwayReason))
            case .reset: connection.carryOut(.reset)
            }
        }
    }

    // MARK: Accounts

    func takeArrivalNumber() -> Int {
        arrivals += 1
        return arrivals
    }

    func registryVerdict(on request: Request, environment: SimulatedEnvironment) -> Rejection? {
        shared.content.withLock { content in
            content.registry.verdict(
                on: request.deviceToken, topic: request.topic?.text ?? "", environment: environment,
                acceptAny: options.acceptAnyToken, faults: faults, at: now)
        }
    }

    func record(_ request: Request, on connection: Connection, answered: Bool) {
        shared.content.withLock { content in
            content.log.record(
                request, connection: connection.number, environment: connection.environment, at: now, answered: answered
            )
            content.log.stats.peakStreams = peakStreams
        }
    }

    func countPing() { shared.content.withLock { $0.log.stats.pingsReceived += 1 } }

    func countStalled() {
        shared.content.withLock {
            $0.log.stats.stalled += 1
            $0.log.stats.peakStreams = peakStreams
        }
    }

    func countRefusedStream() { shared.content.withLock { $0.log.stats.refusedStreams += 1 } }

    func countFailedHandshake() { shared.content.withLock { $0.log.stats.failedHandshakes += 1 } }
}

/// Where TLS puts what it decrypted; one for all connections, since each uses it up at once.
@safe final class ReadBuffer {
    let bytes: UnsafeMutableRawBufferPointer

    init() {
        unsafe bytes = .allocate(byteCount: 32_768, alignment: 16)
    }

    deinit { unsafe bytes.deallocate() }
}

/// The one or two ports of a simulator.
final class Listeners: Sendable {
    let production: ListeningSocket
    let sandbox: ListeningSocket?

    init(_ options: SimulatorOptions) throws(APNsSimulatorError) {
        production = try ListeningSocket(host: options.host, port: options.port)
        if let port = options.sandboxPort {
            sandbox = try ListeningSocket(host: options.host, port: port)
        } else {
            sandbox = nil
        }
    }

    var sandboxPort: Int? { sandbox?.port }
    var sandboxDescriptor: Int32 { sandbox?.descriptor.raw ?? -1 }

    func accept(_ environment: SimulatedEnvironment) -> Int32? {
        switch environment {
        case .production: production.accept()
        case .sandbox: sandbox?.accept()
        }
    }
}
