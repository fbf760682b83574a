internal import Glibc

/// One client's connection: TLS, frames in and out, and how it ends.
///
/// Lives on the event loop's thread.
///
///     handshaking ─▶ open ─▶ finishing ── all sent ─▶ lingering ── peer's end or 2 s ─▶ dead
///          └───────────┴── failure, reset ────────────────────────────────────────────▶ dead
final class Connection {
    enum Phase {
        case handshaking
        case open
        /// What is queued still goes out, then the end of file.
        case finishing
        /// Our side is closed; waiting for the peer's, so that the kernel sends an end of file and no reset.
        case lingering
        case dead
    }

    /// An end that was decided while nghttp2 was calling back, and is carried out after it returned.
    enum Ending {
        case abruptGoAway(reason: String?)
        case reset
    }

    let number: Int
    let environment: SimulatedEnvironment
    let loop: EventLoop
    let socket: Int32
    private let descriptor: Descriptor
    private let tls: TLSStream
    private(set) var session: HTTP2Session?
    private(set) var phase = Phase.handshaking
    var ending: Ending?

    private var output: [UInt8] = []
    private var outputSent = 0
    private var isWriteBlocked = false
    private(set) var lastActivity: Int64

    /// All requests ever made for this connection, at most as many as its stream limit was.
    private(set) var requests: [Request] = []
    private var freeRequests: [Request] = []
    private var openStreams: Int { requests.count - freeRequests.count }

    var facts: RequestChecks.ConnectionFacts
    var limits: StreamLimits
    var requestsSeen = 0
    var highestAnswered: Int32 = 0
    var rejections = 0
    var badDeviceTokens = 0
    var hasStartedGoAway = false
    /// Kept by the event loop: what epoll was last told.
    var isWatchedForWriting = false

    /// Frames are gathered up to this before TLS gets them.
    private static let outputTarget = 65_536
    /// Records read before other connections get their turn.
    private static let recordsPerTurn = 16
    static let lingerMs: Int64 = 2000
    static let handshakeDeadlineMs: Int64 = 10_000

    init(number: Int, environment: SimulatedEnvironment, socket: consuming Descriptor, tls: TLSStream, loop: EventLoop)
    {
        self.number = number
        self.environment = environment
        self.socket = socket.raw
        self.descriptor = socket
        self.tls = tls
        self.loop = loop
        lastActivity = loop.monotonic
        facts = RequestChecks.ConnectionFacts(environment: environment, certificate: nil)
        limits = StreamLimits(options: loop.options, isCertified: false, cap: loop.faults.maxConcurrentStreams)
    }

    /// - Returns: whether more can be read at once, without epoll saying so.
    func handle(isWritable: Bool) -> Bool {
        if isWritable { isWriteBlocked = false }
        switch phase {
        case .handshaking:
            shakeHands()
            guard phase == .open else { return false }
            return readSome()
        case .open, .finishing:
            return readSome()
        case .lingering:
            discardInput()
            return false
        case .dead:
            return false
        }
    }

    private func shakeHands() {
        switch tls.handshake() {
        case .done:
            open()
        case .wantsRead:
            loop.watch(self, forWriting: false)
        case .wantsWrite:
            isWriteBlocked = true
            loop.watch(self, forWriting: true)
        case .closed:
            loop.countFailedHandshake()
            phase = .dead
        }
    }

    private func open() {
        guard tls.choseH2, let session = HTTP2Session(callbacks: loop.callbacks, connection: self) else {
            loop.countFailedHandshake()
            phase = .dead
            return
        }
        self.session = session
        phase = .open
        loop.watch(self, forWriting: false)
        facts = RequestChecks.ConnectionFacts(environment: environment, certificate: tls.clientCertificate)
        limits = StreamLimits(
            options: loop.options, isCertified: facts.certificate != nil, cap: loop.faults.maxConcurrentStreams)
        session.submitFirstSettings(
            streamLimit: limits.first, withoutInitialWindow: loop.options.omitsInitialWindowSize)
        if let second = limits.second { session.submitStreamLimit(second) }
        flush()
    }

    private func readSome() -> Bool {
        guard let session else { return false }
        for _ in 0..<Self.recordsPerTurn {
            let progress = unsafe tls.read(into: loop.readBuffer.bytes)
            switch progress {
            case .done(let count):
                lastActivity = loop.monotonic
                guard unsafe session.receive(UnsafeRawBufferPointer(rebasing: loop.readBuffer.bytes[..<count])) else {
                    // nghttp2 cannot go on: what it queued (a GOAWAY, or nothing at all) goes out, then the end.
                    finish()
                    return false
                }
                if let ending {
                    carryOut(ending)
                    return false
                }
            case .wantsRead:
                flush()
                return false
            case .wantsWrite:
                isWriteBlocked = true
                loop.watch(self, forWriting: true)
                return false
            case .closed:
                phase = .dead
                return false
            }
        }
        flush()
        return phase == .open && tls.hasPending
    }

    /// Sends what is queued, gathered into as few writes as TLS records allow.
    func flush() {
        guard let session, phase == .open || phase == .finishing else { return }
        while !isWriteBlocked {
            if outputSent == output.count {
                output.removeAll(keepingCapacity: true)
                outputSent = 0
                while output.count < Self.outputTarget, session.appendFrame(to: &output) {}
                if output.isEmpty {
                    guard let raised = limits.takeDue() else { break }
                    session.submitStreamLimit(raised)
                    continue
                }
            }
            switch tls.write(output, from: outputSent) {
            case .done(let count):
                outputSent += count
            case .wantsRead, .wantsWrite:
                isWriteBlocked = true
                loop.watch(self, forWriting: true)
                return
            case .closed:
                phase = .dead
                return
            }
        }
        guard !isWriteBlocked else { return }
        loop.watch(self, forWriting: false)
        if phase == .finishing || !session.wantsMore { linger() }
    }

    /// Sends what is queued, then ends the connection in good order.
    func finish() {
        phase = .finishing
        flush()
    }

    func carryOut(_ ending: Ending) {
        self.ending = nil
        guard phase == .open else { return }
        switch ending {
        case .abruptGoAway(let reason):
            session?.submitGoAway(last: highestAnswered, debug: ErrorBody.goAway(reason))
            session?.submitGoAway(last: highestAnswered)
            finish()
        case .reset:
            flush()
            recordUnanswered()
            reset()
        }
    }

    /// Ends by a TCP reset: closing with a zero linger time makes the kernel send one.
    private func reset() {
        var now = Glibc.linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<Glibc.linger>.size))
        phase = .dead
    }

    private func linger() {
        tls.shutDown()
        shutdown(socket, Int32(SHUT_WR))
        phase = .lingering
        loop.schedule(.end, for: self, after: Self.lingerMs)
    }

    private func discardInput() {
        let bytes = unsafe loop.readBuffer.bytes
        var count = unsafe recv(socket, bytes.baseAddress, bytes.count, 0)
        while count > 0 { count = unsafe recv(socket, bytes.baseAddress, bytes.count, 0) }
        if count == 0 || (errno != EAGAIN && errno != EINTR) { phase = .dead }
    }

    /// A deadline passed: the handshake's or that of the peer's end of file.
    func end() {
        if phase == .handshaking || phase == .lingering { phase = .dead }
    }

    // MARK: Streams

    func request(on stream: Int32) -> Request? {
        session?.request(on: stream)
    }

    /// A client opened a stream: within the limit it gets a request, beyond it is refused.
    func began(_ stream: Int32) {
        guard let session else { return }
        guard openStreams < Int(limits.announced) else {
            if loop.options.punishesExcessStreams, openStreams >= Int(limits.acknowledged) {
                session.submitGoAway(
                    last: highestAnswered, code: 1, debug: Array("Maximum active streams violated".utf8))
            }
            session.refuse(stream)
            loop.countRefusedStream()
            return
        }
        let request: Request
        if let pooled = freeRequests.popLast() {
            request = pooled
        } else {
            request = Request()
            requests.append(request)
        }
        request.begin(streamID: stream)
        session.attach(request)
        loop.openStreams += 1
    }

    func closed(_ stream: Int32) {
        guard let request = request(on: stream), request.phase != .free else { return }
        request.phase = .free
        freeRequests.append(request)
        loop.openStreams -= 1
    }

    func settingsAcknowledged() {
        limits.acknowledge()
    }

    func receivedPing(_ payload: UnsafeRawBufferPointer) {
        loop.countPing()
        guard !loop.faults.ignoresPings, let start = payload.baseAddress else { return }
        unsafe session?.acknowledgePing(start.assumingMemoryBound(to: UInt8.self))
    }

    /// The number of requests that will never be closed one by one, because the connection is gone.
    var abandonedStreams: Int { openStreams }
}
