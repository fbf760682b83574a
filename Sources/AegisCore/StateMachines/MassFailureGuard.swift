/// Notices when so many tokens of one app key look bad that the app, its topic or its environment must be at fault.
///
/// Over the newest answers it counts *distinct* bad tokens, so that one token registered many times cannot stop an app.
/// Once tripped it stays so until ``release()`` or ``reset()``, and for a whole window after that no token is held for bad. A token is held for bad only if
/// another was accepted after it or just before, so that an app of which nothing is accepted loses no device, however few it has.
package struct MassFailureGuard: Sendable {
    private struct Refusal: Sendable {
        let token: DeviceToken
        let position: UInt64
    }

    /// How many of the newest answers are looked at.
    package let window: Int
    /// As many distinct bad tokens at least.
    package let minimum: Int
    /// And more than this share of the answers, in hundredths.
    package let percent: Int
    package private(set) var isTripped = false
    private var answers: UInt64 = 0
    private var refusals: [Refusal] = []
    private var expired = 0
    private var counts: [DeviceToken: Int] = [:]
    /// How many answers ago an acceptance may have been to speak against a token.
    private static let nearby: UInt64 = 10
    private var acceptedAt: UInt64?
    /// Called bad, and nothing was accepted since.
    private var suspects: [DeviceToken: String] = [:]
    private var confirmed: [DeviceToken: String] = [:]
    /// The answer at which it tripped last.
    private var trippedAt: UInt64?

    package init(window: Int = 1_000, minimum: Int = 50, percent: Int = 10) {
        self.window = max(1, window)
        self.minimum = max(1, minimum)
        self.percent = min(max(0, percent), 100)
    }

    /// So many answers came that did not call a token bad.
    package mutating func answered(_ count: Int = 1) {
        answers &+= UInt64(max(0, count))
    }

    /// A push was accepted, so app, topic and environment are right: what was called bad is bad.
    package mutating func accepted() {
        answered()
        acceptedAt = answers
        confirmSuspects()
    }

    private mutating func confirmSuspects() {
        if let trippedAt {
            guard answers - trippedAt >= UInt64(window) else { return suspects = [:] }
            self.trippedAt = nil
        }
        guard !suspects.isEmpty else { return }
        confirmed.merge(suspects) { _, newer in newer }
        suspects = [:]
    }

    /// The bad tokens that were confirmed since the last call, with what they were called.
    package mutating func takeConfirmed() -> [DeviceToken: String] {
        guard !confirmed.isEmpty else { return [:] }
        defer { confirmed = [:] }
        return confirmed
    }

    /// A token was called bad.
    ///
    /// Answers whether this tripped the guard.
    package mutating func refused(_ token: DeviceToken, because reason: String = "") -> Bool {
        answers &+= 1
        refusals.append(Refusal(token: token, position: answers))
        counts[token, default: 0] += 1
        forget()
        guard !isTripped else { return false }
        // Its next push asks again for whatever does not fit.
        if suspects.count < window { suspects[token] = reason }
        let considered = Int(min(answers, UInt64(window)))
        isTripped = counts.count >= minimum && counts.count * 100 > considered * percent
        if isTripped {
            suspects = [:]
            confirmed = [:]
            trippedAt = answers
        } else if let acceptedAt, answers - acceptedAt <= Self.nearby {
            confirmSuspects()
        }
        return isTripped
    }

    /// Something was accepted: the app goes on, and what looks bad now is counted anew.
    package mutating func release() {
        isTripped = false
        refusals = []
        expired = 0
        counts = [:]
    }

    /// The credential or the configuration changed, or an operator said so.
    package mutating func reset() {
        self = MassFailureGuard(window: window, minimum: minimum, percent: percent)
    }

    /// Drops what has left the window; at most a window of refusals stays.
    private mutating func forget() {
        while expired < refusals.count, answers - refusals[expired].position >= UInt64(window) {
            let token = refusals[expired].token
            expired += 1
            if let count = counts[token], count > 1 {
                counts[token] = count - 1
            } else {
                counts[token] = nil
            }
        }
        guard expired > window else { return }
        refusals.removeFirst(expired)
        expired = 0
    }
}
