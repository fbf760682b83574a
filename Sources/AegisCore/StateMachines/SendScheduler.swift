/// Decides for one app in one environment which push goes out next, and what its answer leads to.
///
/// It joins the lanes, the window of the connections, the rate, the circuit, one push in flight for each device, and the retry
/// schedule: one layer, so that nothing multiplies.
///
///     submit ──▶ ready ── next ──▶ in flight ── answered ──▶ finished
///                  ▲   │ device busy or delayed       │
///                  │   ▼                              ├──▶ retry at a time ──┐
///                  │ behind its device ◀──────────────┴──▶ held (circuit)    │
///                  └───────────┴─────────────────────────────────────────────┘
package struct SendScheduler<Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
    package struct Settings: Hashable, Sendable {
        package var rate: Int
        package var burst: Int
        package var retry: RetrySchedule
        package var circuit: CircuitSettings

        package init(
            rate: Int, burst: Int, retry: RetrySchedule, circuit: CircuitSettings = CircuitSettings()
        ) {
            self.rate = rate
            self.burst = burst
            self.retry = retry
            self.circuit = circuit
        }
    }

    /// How a circuit opens and is probed.
    package struct CircuitSettings: Hashable, Sendable {
        /// Server errors in a row that open it.
        package var failureLimit: Int
        /// First wait after server errors; doubles up to `longestOutage`.
        package var firstOutage: Duration
        package var longestOutage: Duration
        /// First wait after a credential or topic was refused; doubles up to `longestPause`.
        package var firstPause: Duration
        package var longestPause: Duration
        /// Distinct tokens that fail the same way, with no success between, before the app is paused.
        package var suspectLimit: Int

        package init(
            failureLimit: Int = 20, firstOutage: Duration = .seconds(1), longestOutage: Duration = .seconds(30),
            firstPause: Duration = .seconds(60), longestPause: Duration = .seconds(1_800), suspectLimit: Int = 5
        ) {
            self.failureLimit = failureLimit
            self.firstOutage = firstOutage
            self.longestOutage = longestOutage
            self.firstPause = firstPause
            self.longestPause = longestPause
            self.suspectLimit = suspectLimit
        }
    }

    /// One push that wants to go out.
    package struct Item: Hashable, Sendable {
        package var ticket: UInt64
        package var token: DeviceToken
        package var lane: Lane
        package var expiresAt: UnixTime

        package init(ticket: UInt64, token: DeviceToken, lane: Lane, expiresAt: UnixTime) {
            self.ticket = ticket
            self.token = token
            self.lane = lane
            self.expiresAt = expiresAt
        }
    }

    /// What to do now.
    package struct Turn: Hashable, Sendable {
        /// Hand these to the transport, in this order.
        package var send: [UInt64] = []
        /// Their time to live is over; they are gone from the scheduler.
        package var expired: [UInt64] = []
        /// Ask again then, if nothing else happens before.
        package var wakeAt: Instant?
        /// Whether pushes were ready and only the rate held them.
        package var isRateLimited = false

        package init() {}
    }

    package enum Verdict: Hashable, Sendable {
        case finished(DeliveryOutcome)
        /// It stays here and will go out again.
        case again(at: Instant?)
    }

    private struct Entry: Sendable {
        var item: Item
        /// Grows with each submission: the order in which first attempts leave.
        var sequence: UInt64
        /// Answers about this notification or its device.
        var attempts = 0
        /// Answers that were followed by waiting, counted or not: the exponent of the back-off.
        var waits = 0
        /// Has gone out again at once, after it was certainly not processed; the next time it waits.
        var hasGoneAgain = false

        func goes(before other: Entry) -> Bool {
            item.lane == other.item.lane
                ? sequence < other.sequence : item.lane.isMoreUrgent(than: other.item.lane)
        }
    }

    private struct DeviceState: Sendable {
        var inFlight: UInt64?
        /// Was called from `waiting` and stands in `ready`; nothing of the device is called before it is gone from there.
        var called: UInt64?
        var delayedUntil: Instant?
        /// How many pushes of the app had been accepted when the one in flight left.
        var acceptedBefore: UInt64 = 0
        /// The most urgent lane first, each lane in the order of submission.
        var waiting: [UInt64] = []

        mutating func start(_ ticket: UInt64, acceptedBefore: UInt64) {
            inFlight = ticket
            self.acceptedBefore = acceptedBefore
        }

        var isBusy: Bool { inFlight != nil || delayedUntil != nil }
        var isIdle: Bool { !isBusy && called == nil && waiting.isEmpty }
    }

    private enum Wake: Sendable {
        case ticket(UInt64)
        case device(DeviceToken)
    }

    private let retry: RetrySchedule
    private var entries: [UInt64: Entry] = [:]
    private var ready: LaneQueue<UInt64>
    /// What comes back goes to the front of `ready`, the oldest first.
    private var returning: [UInt64] = []
    private var devices: [DeviceToken: DeviceState] = [:]
    private var later = TimedQueue<Instant, Wake>()
    private var bucket: TokenBucket<Instant>
    private var outage: CircuitBreaker<Instant>
    private var pause: CircuitBreaker<Instant>
    private var massFailures = MassFailureGuard()
    private let failureLimit: Int
    /// Server errors since the last success.
    private var failures = 0
    private var accepted: UInt64 = 0
    private var window = 0
    private var outstanding = 0
    private var nextSequence: UInt64 = 0

    package init(settings: Settings, at now: Instant) {
        retry = settings.retry
        // Bounded by whoever submits: intake pauses before there are too many.
        ready = LaneQueue(capacities: .init(urgent: .max, standard: .max, bulk: .max))
        bucket = TokenBucket(rate: settings.rate, burst: settings.burst, at: now)
        let circuit = settings.circuit
        outage = CircuitBreaker(firstCooldown: circuit.firstOutage, longestCooldown: circuit.longestOutage)
        pause = CircuitBreaker(
            suspectLimit: circuit.suspectLimit, firstCooldown: circuit.firstPause,
            longestCooldown: circuit.longestPause)
        failureLimit = max(1, circuit.failureLimit)
    }

    /// Everything that has not come to its end.
    package var count: Int { entries.count }
    package var outstandingCount: Int { outstanding }

    /// Takes new pushes; the caller bounds how many there are.
    package mutating func submit(_ items: [Item]) {
        for item in items {
            enter(item, attempts: 0)
            _ = ready.push(item.ticket, item.lane)
        }
    }

    private mutating func enter(_ item: Item, attempts: Int) {
        entries[item.ticket] = Entry(item: item, sequence: nextSequence, attempts: attempts)
        nextSequence &+= 1
    }

    /// The number of requests that may be outstanding now.
    package mutating func setWindow(_ size: Int) {
        window = size
    }

    package mutating func next(at now: Instant, wall: UnixTime) -> Turn {
        releaseDue(at: now)
        putBackReturning()
        var turn = Turn()
        var room = max(0, window - outstanding)
        var blockedUntil: Instant?
        if !ready.isEmpty, room > 0, let probeAt = nextProbe, probeAt > now {
            room = 0
            blockedUntil = probeAt
        }
        while room > 0, !ready.isEmpty {
            guard bucket.take(upTo: 1, at: now) == 1 else {
                turn.isRateLimited = true
                blockedUntil = bucket.nextRefill(at: now)
                break
            }
            guard let (ticket, token) = popSendable(wall: wall, expired: &turn.expired) else {
                bucket.giveBack(1)
                break
            }
            devices[token, default: DeviceState()].start(ticket, acceptedBefore: accepted)
            turn.send.append(ticket)
            outstanding += 1
            // The circuit is asked with a push in hand: a probe that nothing makes use of would cost a cooldown.
            room = mustProbe(at: now) ? 0 : room - 1
        }
        turn.wakeAt = [blockedUntil, later.nextDue].compactMap { $0 }.min()
        return turn
    }

    /// The next push whose device is free; what is met before it expires or goes behind its device.
    private mutating func popSendable(wall: UnixTime, expired: inout [UInt64]) -> (UInt64, DeviceToken)? {
        while let ticket = ready.pop(1).first {
            guard let entry = entries[ticket] else { continue }
            let token = entry.item.token
            if devices[token]?.called == ticket { devices[token]?.called = nil }
            guard entry.item.expiresAt > wall else {
                entries[ticket] = nil
                expired.append(ticket)
                // Whatever waited behind it has nobody else to call it.
                callNext(of: token)
                putBackReturning()
                continue
            }
            guard devices[token]?.isBusy == true else { return (ticket, token) }
            wait(entry)
        }
        return nil
    }

    /// Takes the answer to a push that is in flight.
    ///
    /// - Parameter token: of the push, for failures that count only by distinct tokens.
    package mutating func answered(
        _ ticket: UInt64, _ disposition: APNsDisposition, retryAfter: Duration? = nil, reason: String, at now: Instant,
        wall: UnixTime, using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        guard var entry = entries[ticket], let device = devices[entry.item.token], device.inFlight == ticket else {
            return .again(at: nil)
        }
        outstanding -= 1
        let token = entry.item.token
        devices[token]?.inFlight = nil
        let disposition = guarded(disposition, token: token, reason: reason, at: now)
        tellCircuits(disposition, token: token, reason: reason, at: now)
        if usesAttempt(disposition, acceptedBefore: device.acceptedBefore) { entry.attempts += 1 }
        let verdict = verdict(for: &entry, disposition, retryAfter: retryAfter, at: now, wall: wall, using: &generator)
        if case .finished = verdict {
            entries[ticket] = nil
        } else {
            entries[ticket] = entry
        }
        callNext(of: token)
        return verdict
    }

    /// Whether an answer tells something about this push, rather than about APNs as a whole.
    ///
    /// An outage is a pause: while nothing of the app succeeds, what has no answer says nothing about the push that met it, and
    /// neither does a fault of the server once such faults have opened the circuit.
    private func usesAttempt(_ disposition: APNsDisposition, acceptedBefore: UInt64) -> Bool {
        guard disposition.countsAsAttempt else { return false }
        switch disposition.serverFault {
        case .none: return true
        case .answer: return !outage.isOpen
        case .silence: return accepted != acceptedBefore
        }
    }

    private mutating func verdict(
        for entry: inout Entry, _ disposition: APNsDisposition, retryAfter: Duration?, at now: Instant, wall: UnixTime,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        let item = entry.item
        switch disposition.notification {
        case .accepted: return .finished(.accepted)
        case .endWithDevice: return .finished(.pruned)
        case .deadLetter: return .finished(.failed)
        case .hold:
            if massFailures.isTripped {
                // Behind the others: the probe shall be a token that may be good. Its device waits for it there.
                devices[item.token, default: DeviceState()].called = item.ticket
                _ = ready.push(item.ticket, item.lane)
            } else {
                wait(entry)
            }
            return .again(at: nil)
        case .retryNow, .retryLater:
            guard entry.attempts < retry.maxAttempts else { return .finished(.failed) }
            // What was certainly not processed goes out again at once, unless it comes back a second time.
            let mustWait = disposition.notification == .retryLater || disposition.countsAsAttempt
            guard mustWait || entry.attempts > 0 || entry.hasGoneAgain else {
                entry.hasGoneAgain = true
                wait(entry)
                return .again(at: nil)
            }
            entry.waits += 1
            let delay = retry.delay(step: entry.waits, retryAfter: retryAfter, using: &generator)
            guard wall.advanced(by: delay) < item.expiresAt else { return .finished(.expired) }
            let due = now.advanced(by: delay)
            if disposition.device == .delay {
                // Later pushes of this device wait behind it; those of other devices do not.
                wait(entry)
                devices[item.token]?.delayedUntil = due
                later.insert(.device(item.token), due: due)
            } else {
                later.insert(.ticket(item.ticket), due: due)
            }
            return .again(at: due)
        }
    }

    /// Tries a push once more that had come to its end, `delay` from now: a 410 whose registration turned out to be newer.
    package mutating func resubmit(_ item: Item, after delay: Duration, at now: Instant) {
        enter(item, attempts: retry.maxAttempts - 1)
        later.insert(.ticket(item.ticket), due: now.advanced(by: delay))
    }

    private mutating func releaseDue(at now: Instant) {
        while let wake = later.popDue(at: now) {
            switch wake {
            case .ticket(let ticket):
                returning.append(ticket)
            case .device(let token):
                devices[token]?.delayedUntil = nil
                callNext(of: token)
            }
        }
    }

    private mutating func putBackReturning() {
        guard !returning.isEmpty else { return }
        let entering = returning.compactMap { entries[$0] }.sorted { $0.sequence > $1.sequence }
        returning.removeAll(keepingCapacity: true)
        for entry in entering { ready.pushFront(entry.item.ticket, entry.item.lane) }
    }

    /// Puts a push behind its device, at the place of its lane and age.
    private mutating func wait(_ entry: Entry) {
        var device = devices[entry.item.token] ?? DeviceState()
        var place = device.waiting.count
        while place > 0, let other = entries[device.waiting[place - 1]], entry.goes(before: other) { place -= 1 }
        device.waiting.insert(entry.item.ticket, at: place)
        devices[entry.item.token] = device
    }

    /// Lets the next push of a free device go, and forgets a device that has nothing left.
    private mutating func callNext(of token: DeviceToken) {
        guard var device = devices[token] else { return }
        if !device.isBusy, device.called == nil, !device.waiting.isEmpty {
            let ticket = device.waiting.removeFirst()
            device.called = ticket
            returning.append(ticket)
        }
        devices[token] = device.isIdle ? nil : device
    }
}

// MARK: - Circuits

extension SendScheduler {
    /// Why pushes are held, or nil while they flow.
    package var openCircuitReason: String? { pause.reason ?? outage.reason }

    /// Whether new pushes would only pile up: a circuit is open, and its probe is not due or need not wait for them.
    ///
    /// Without the second half, an open circuit that holds nothing would never see the push that could close it.
    package func holdsBack(at now: Instant) -> Bool {
        guard let nextProbe else { return false }
        return now < nextProbe || !ready.isEmpty || !returning.isEmpty || outstanding > 0
    }

    private var nextProbe: Instant? { pause.nextProbe ?? outage.nextProbe }

    /// The credential or the topic changed: what was refused before may pass now.
    package mutating func resetCircuits() {
        pause.reset()
        outage.reset()
        massFailures.reset()
        failures = 0
    }

    /// Tokens that APNs called bad while it accepted others, since the last call: these are no fault of ours.
    ///
    /// With each the reason that APNs gave.
    package mutating func takeBadTokens() -> [DeviceToken: String] { massFailures.takeConfirmed() }

    /// APNs refused the connection itself.
    package mutating func pause(because reason: String, at now: Instant) {
        _ = pause.pause(at: now, because: reason)
    }

    /// Whether the push in hand is a probe, the only one until its answer.
    private mutating func mustProbe(at now: Instant) -> Bool {
        switch pause.admit(at: now) {
        case .probe, .wait: return true
        case .send: break
        }
        switch outage.admit(at: now) {
        case .probe, .wait: return true
        case .send: return false
        }
    }

    /// So many bad tokens at once are a wrong environment or topic and not so many broken phones: the app is paused, and a
    /// push that meets it stays in the queue with its token untouched.
    private mutating func guarded(
        _ disposition: APNsDisposition, token: DeviceToken, reason: String, at now: Instant
    ) -> APNsDisposition {
        guard disposition.device == .quarantine else {
            if case .accepted = disposition.notification {
                accepted &+= 1
                if massFailures.isTripped { massFailures.release() }
                massFailures.accepted()
            } else {
                massFailures.answered()
            }
            return disposition
        }
        _ = massFailures.refused(token, because: reason)
        guard massFailures.isTripped else { return disposition }
        return APNsDisposition(
            notification: .hold, app: .pause, countsAsAttempt: false, alerts: true)
    }

    private mutating func tellCircuits(
        _ disposition: APNsDisposition, token: DeviceToken, reason: String, at now: Instant
    ) {
        switch disposition.app {
        case .pause:
            _ = pause.pause(at: now, because: reason)
            pause.failed(at: now, because: reason)
        case .suspect:
            _ = pause.suspect(token, at: now, because: reason)
        case .slow:
            bucket.slow(at: now)
            serverFailed(reason: reason, at: now)
        case .none:
            switch disposition.notification {
            case .accepted, .endWithDevice:
                failures = 0
                _ = pause.succeeded()
                _ = outage.succeeded()
            case .deadLetter, .retryNow, .retryLater, .hold:
                guard disposition.serverFault != .none else { break }
                serverFailed(reason: reason, at: now)
            }
        }
    }

    /// Whatever the status was: if nothing succeeds any more, it is an outage, and an outage is a pause.
    private mutating func serverFailed(reason: String, at now: Instant) {
        failures += 1
        outage.failed(at: now, because: reason)
        if failures >= failureLimit { _ = outage.pause(at: now, because: reason) }
    }
}

extension Lane {
    fileprivate func isMoreUrgent(than other: Lane) -> Bool {
        switch (self, other) {
        case (.urgent, .standard), (.urgent, .bulk), (.standard, .bulk): true
        case (.urgent, .urgent), (.standard, _), (.bulk, _): false
        }
    }
}
