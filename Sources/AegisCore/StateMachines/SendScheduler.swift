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
        /// Answers about this notification or its device.
        var attempts = 0
        /// Answers that were followed by waiting, counted or not: the exponent of the back-off.
        var waits = 0
    }

    private struct DeviceState: Sendable {
        var inFlight: UInt64?
        var delayedUntil: Instant?
        var waiting: [UInt64] = []

        var isIdle: Bool { inFlight == nil && delayedUntil == nil && waiting.isEmpty }
    }

    private enum Wake: Sendable {
        case ticket(UInt64)
        case device(DeviceToken)
    }

    private let retry: RetrySchedule
    private var entries: [UInt64: Entry] = [:]
    private var ready: LaneQueue<UInt64>
    private var devices: [DeviceToken: DeviceState] = [:]
    private var later = TimedQueue<Instant, Wake>()
    private var bucket: TokenBucket<Instant>
    private var outage: CircuitBreaker<Instant>
    private var pause: CircuitBreaker<Instant>
    private var massFailures = MassFailureGuard()
    private let failureLimit: Int
    /// Server errors since the last success.
    private var failures = 0
    private var window = 0
    private var outstanding = 0

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
            entries[item.ticket] = Entry(item: item)
            _ = ready.push(item.ticket, item.lane)
        }
    }

    /// The number of requests that may be outstanding now.
    package mutating func setWindow(_ size: Int) {
        window = size
    }

    package mutating func next(at now: Instant, wall: UnixTime) -> Turn {
        releaseDue(at: now)
        var turn = Turn()
        var room = max(0, window - outstanding)
        var blockedUntil: Instant?
        if !ready.isEmpty, room > 0 {
            switch admission(at: now) {
            case .send: break
            case .probe: room = 1
            case .wait(let until):
                room = 0
                blockedUntil = until
            }
        }
        while room > 0, let ticket = ready.pop(1).first {
            guard let entry = entries[ticket] else { continue }
            guard entry.item.expiresAt > wall else {
                entries[ticket] = nil
                turn.expired.append(ticket)
                continue
            }
            var device = devices[entry.item.token] ?? DeviceState()
            if device.inFlight != nil || device.delayedUntil != nil {
                device.waiting.append(ticket)
                devices[entry.item.token] = device
                continue
            }
            guard bucket.take(upTo: 1, at: now) == 1 else {
                ready.pushFront(ticket, entry.item.lane)
                turn.isRateLimited = true
                blockedUntil = bucket.nextRefill(at: now)
                break
            }
            device.inFlight = ticket
            devices[entry.item.token] = device
            turn.send.append(ticket)
            outstanding += 1
            room -= 1
        }
        turn.wakeAt = [blockedUntil, later.nextDue].compactMap { $0 }.min()
        return turn
    }

    /// Takes the answer to a push that is in flight.
    ///
    /// - Parameter token: of the push, for failures that count only by distinct tokens.
    package mutating func answered(
        _ ticket: UInt64, _ disposition: APNsDisposition, retryAfter: Duration? = nil, reason: String, at now: Instant,
        wall: UnixTime, using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        guard var entry = entries[ticket] else { return .again(at: nil) }
        outstanding -= 1
        let token = entry.item.token
        devices[token]?.inFlight = nil
        let disposition = guarded(disposition, token: token, reason: reason, at: now)
        tellCircuits(disposition, token: token, reason: reason, at: now)
        if disposition.countsAsAttempt { entry.attempts += 1 }
        let verdict = verdict(for: &entry, disposition, retryAfter: retryAfter, at: now, wall: wall, using: &generator)
        if case .finished = verdict {
            entries[ticket] = nil
        } else {
            entries[ticket] = entry
        }
        wakeDevice(token)
        return verdict
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
                // Behind the others: the probe shall be a token that may be good.
                _ = ready.push(item.ticket, item.lane)
            } else {
                ready.pushFront(item.ticket, item.lane)
            }
            return .again(at: nil)
        case .retryNow, .retryLater:
            guard entry.attempts < retry.maxAttempts else { return .finished(.failed) }
            guard disposition.notification == .retryLater || entry.attempts > 0 else {
                ready.pushFront(item.ticket, item.lane)
                return .again(at: nil)
            }
            entry.waits += 1
            let delay = retry.delay(step: entry.waits, retryAfter: retryAfter, using: &generator)
            guard wall.advanced(by: delay) < item.expiresAt else { return .finished(.expired) }
            let due = now.advanced(by: delay)
            if disposition.device == .delay {
                // Later pushes of this device wait behind it; those of other devices do not.
                devices[item.token, default: DeviceState()].waiting.insert(item.ticket, at: 0)
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
        entries[item.ticket] = Entry(item: item, attempts: retry.maxAttempts - 1)
        later.insert(.ticket(item.ticket), due: now.advanced(by: delay))
    }

    private mutating func releaseDue(at now: Instant) {
        while let wake = later.popDue(at: now) {
            switch wake {
            case .ticket(let ticket):
                guard let entry = entries[ticket] else { continue }
                ready.pushFront(ticket, entry.item.lane)
            case .device(let token):
                devices[token]?.delayedUntil = nil
                wakeDevice(token)
            }
        }
    }

    /// Lets the next push of an idle device go, and forgets a device that has nothing left.
    private mutating func wakeDevice(_ token: DeviceToken) {
        guard var device = devices[token] else { return }
        if device.inFlight == nil, device.delayedUntil == nil, !device.waiting.isEmpty {
            let ticket = device.waiting.removeFirst()
            if let entry = entries[ticket] { ready.pushFront(ticket, entry.item.lane) }
        }
        devices[token] = device.isIdle ? nil : device
    }
}

// MARK: - Circuits

extension SendScheduler {
    /// Why pushes are held, or nil while they flow.
    package var openCircuitReason: String? { pause.reason ?? outage.reason }

    /// The credential or the topic changed: what was refused before may pass now.
    package mutating func resetCircuits() {
        pause.reset()
        outage.reset()
        massFailures.reset()
        failures = 0
    }

    /// APNs refused the connection itself.
    package mutating func pause(because reason: String, at now: Instant) {
        _ = pause.pause(at: now, because: reason)
    }

    private mutating func admission(at now: Instant) -> CircuitBreaker<Instant>.Admission {
        switch pause.admit(at: now) {
        case .wait(let until): .wait(until: until)
        case .probe: .probe
        case .send: outage.admit(at: now)
        }
    }

    /// So many bad tokens at once are a wrong environment or topic and not so many broken phones: the app is paused, and a
    /// push that meets it stays in the queue with its token untouched.
    private mutating func guarded(
        _ disposition: APNsDisposition, token: DeviceToken, reason: String, at now: Instant
    ) -> APNsDisposition {
        guard disposition.device == .quarantine else {
            if case .accepted = disposition.notification, massFailures.isTripped { massFailures.reset() }
            massFailures.answered()
            return disposition
        }
        _ = massFailures.refused(token)
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
            case .retryLater where disposition.device == .keep:
                serverFailed(reason: reason, at: now)
            case .deadLetter, .retryNow, .retryLater, .hold:
                break
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
