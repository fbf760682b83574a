/// Decides whether one app key may send while APNs keeps refusing it.
///
///     closed ── pause, or enough distinct suspects with no success between ──▶ open
///     open ── first ask after the cooldown ──▶ probing
///     probing ── success ──▶ closed          probing ── failure ──▶ open, cooldown doubled
///     any ── reset: the credential or the configuration changed ──▶ closed
///
/// One probe at a time. Answers to what was sent before it opened neither close it nor make it wait longer.
package struct CircuitBreaker<Instant: InstantProtocol>: Sendable where Instant.Duration == Duration {
    package enum Admission: Hashable, Sendable {
        case send
        /// One push alone, and its fate is reported by ``succeeded()`` or ``failed(at:because:)``.
        case probe
        case wait(until: Instant)
    }

    private struct Break: Sendable {
        var until: Instant
        var cooldown: Duration
        var reason: String
    }

    private enum State: Sendable {
        case closed(suspects: [DeviceToken])
        case open(Break)
        case probing(Break)
    }

    private var state = State.closed(suspects: [])
    private let suspectLimit: Int
    private let firstCooldown: Duration
    private let longestCooldown: Duration

    /// - Parameter suspectLimit: Distinct tokens that must fail with no success between; at least 1.
    package init(
        suspectLimit: Int = 5, firstCooldown: Duration = .seconds(60), longestCooldown: Duration = .seconds(1_800)
    ) {
        self.suspectLimit = max(1, suspectLimit)
        self.firstCooldown = max(.milliseconds(1), firstCooldown)
        self.longestCooldown = max(self.firstCooldown, longestCooldown)
    }

    /// May one push go now? Each `probe` stands for one push.
    package mutating func admit(at now: Instant) -> Admission {
        switch state {
        case .closed:
            return .send
        case .open(var held), .probing(var held):
            guard now >= held.until else { return .wait(until: held.until) }
            // A probe whose answer is lost must not wedge the app: the next is due a cooldown later.
            held.until = now.advanced(by: held.cooldown)
            state = .probing(held)
            return .probe
        }
    }

    /// Why it does not let everything through; nil while it is closed.
    package var reason: String? {
        switch state {
        case .closed: nil
        case .open(let held), .probing(let held): held.reason
        }
    }

    package var isOpen: Bool { reason != nil }

    /// When the next probe is due; nil while it is closed.
    package var nextProbe: Instant? {
        switch state {
        case .closed: nil
        case .open(let held), .probing(let held): held.until
        }
    }

    /// Every push will fail the same way: opens at once.
    ///
    /// Answers whether it was closed, so that it is told once.
    package mutating func pause(at now: Instant, because reason: String) -> Bool {
        switch state {
        case .closed:
            open(at: now, because: reason)
            return true
        case .open:
            return false
        case .probing:
            failed(at: now, because: reason)
            return false
        }
    }

    /// The app may be at fault, or this one token.
    ///
    /// Answers whether this opened it.
    package mutating func suspect(_ token: DeviceToken, at now: Instant, because reason: String) -> Bool {
        switch state {
        case .closed(var suspects):
            guard !suspects.contains(token) else { return false }
            suspects.append(token)
            guard suspects.count >= suspectLimit else {
                state = .closed(suspects: suspects)
                return false
            }
            open(at: now, because: reason)
            return true
        case .open:
            return false
        case .probing:
            failed(at: now, because: reason)
            return false
        }
    }

    /// A push was accepted, or answered in a way that only a working credential gets.
    ///
    /// Answers whether this closed it.
    package mutating func succeeded() -> Bool {
        switch state {
        case .closed(let suspects):
            if !suspects.isEmpty { state = .closed(suspects: []) }
            return false
        case .open:
            return false
        case .probing:
            state = .closed(suspects: [])
            return true
        }
    }

    /// The probe was refused: the next is due after twice the time.
    ///
    /// Without a probe under way it means nothing.
    package mutating func failed(at now: Instant, because reason: String) {
        guard case .probing(let held) = state else { return }
        let doubled = held.cooldown < longestCooldown - held.cooldown ? held.cooldown + held.cooldown : longestCooldown
        state = .open(Break(until: now.advanced(by: doubled), cooldown: doubled, reason: reason))
    }

    /// The credential or the configuration changed: what was learnt is void.
    package mutating func reset() {
        state = .closed(suspects: [])
    }

    private mutating func open(at now: Instant, because reason: String) {
        state = .open(Break(until: now.advanced(by: firstCooldown), cooldown: firstCooldown, reason: reason))
    }
}
