package import AegisCore

/// Devices and what people asked for.
package protocol DeviceStore: Sendable {
    /// Registers or refreshes. A new token of one installation replaces the old in the same row; a token that another user
    /// holds moves to this one unless `sharesToken`. Any registration lifts quarantine and deletion and sets
    /// `registered_at`.
    ///
    /// - Returns: Whether a row was made (or brought back) rather than refreshed.
    func register(_ registration: DeviceRegistration, sharesToken: Bool, at now: UnixTime) async throws(StoreError)
        -> Bool

    /// Soft-deletes every row of an installation of a user (logout).
    ///
    /// - Returns: How many rows there were.
    func unregister(user: UserID, installation: String, at now: UnixTime) async throws(StoreError) -> Int

    /// Registered devices, quarantined ones included, newest registration first.
    func devices(of user: UserID) async throws(StoreError) -> [Device]

    func preferences(of user: UserID) async throws(StoreError) -> Preferences
    func setPreferences(_ preferences: Preferences, of user: UserID, at now: UnixTime) async throws(StoreError)

    /// The app came to the front: badge 0. What was claimed before `now` is not taken back from the badge any more.
    func opened(user: UserID, app: AppID, at now: UnixTime) async throws(StoreError)
    func badge(of user: UserID, app: AppID) async throws(StoreError) -> Int
    func setBadge(_ count: Int, of user: UserID, app: AppID, at now: UnixTime) async throws(StoreError)
}

/// The ledger that makes redelivery harmless, and what waits for later.
///
/// One ``recall(_:)``, one ``claim(_:at:)`` and one ``settle(_:at:)`` a batch, each one transaction.
package protocol Ledger: Sendable {
    /// Snapshots in the order of `questions`; the same user or key may appear more than once.
    func recall(_ questions: [RecallQuestion]) async throws(StoreError) -> [RecipientSnapshot]

    /// Writes what was decided, before anything is sent. Durable when it returns.
    ///
    /// - Returns: One result a claim, in order.
    func claim(_ claims: [Claim], at now: UnixTime) async throws(StoreError) -> [ClaimResult]

    /// Writes what became of deliveries and notifications, prunes and takes badges back. Durable when it returns.
    /// Every part is idempotent: an outcome that is already there stays as it is.
    ///
    /// - Returns: What became of each prune, in order.
    func settle(_ settlement: Settlement, at now: UnixTime) async throws(StoreError) -> [PruneResult]

    /// Takes up to `limit` deferred notifications that are due. They are leased: if they are not settled by `lease` from
    /// now, they come due again.
    func takeDue(at now: UnixTime, limit: Int, lease: Duration) async throws(StoreError) -> [DeferredNotification]

    /// When the next deferred notification is due, leases included; nil if none waits.
    func nextDue() async throws(StoreError) -> UnixTime?

    /// The number that wait.
    func deferredCount() async throws(StoreError) -> Int
}

/// What became of notifications, for people and for those who answer their questions.
package protocol NotificationHistory: Sendable {
    /// What the ledger knows of an event, by its id alone, for one user or all; per device.
    func history(ofEvent id: String, user: UserID?) async throws(StoreError) -> [NotificationRecord]

    /// One person's notifications, the newest first.
    ///
    /// - Parameter cursor: Only those after this one, which is the last of the page before.
    func history(of user: UserID, after cursor: HistoryCursor?, limit: Int) async throws(StoreError)
        -> [NotificationRecord]

    /// The person has read it: a badge that it raised falls by one, unless it was reset since. The second time changes nothing.
    ///
    /// - Returns: The new count of each app whose badge fell; nil for an event the ledger does not know of this person.
    func markRead(_ eventID: String, of user: UserID, at now: UnixTime) async throws(StoreError) -> [AppID: Int]?
}

/// A place in one person's history.
package struct HistoryCursor: Hashable, Sendable {
    package var createdAt: UnixTime
    package var event: EventIdentity

    package init(createdAt: UnixTime, event: EventIdentity) {
        self.createdAt = createdAt
        self.event = event
    }
}

/// How many registered devices of an app have a state of authorization.
package struct DeviceCount: Hashable, Sendable {
    package var app: AppID
    package var authorization: Authorization
    package var count: Int

    package init(app: AppID, authorization: Authorization, count: Int) {
        self.app = app
        self.authorization = authorization
        self.count = count
    }
}

/// The store as a whole: schema and health.
package protocol Store: DeviceStore, Ledger, NotificationHistory {
    /// Cheap; throws what an operation would throw.
    func ping() async throws(StoreError)
    func schemaVersion() async throws(StoreError) -> SchemaVersion
    /// Registered devices by app and authorization, in no order.
    func deviceCounts() async throws(StoreError) -> [DeviceCount]
    /// Brings the schema up to date; returns the numbers of the migrations applied.
    func migrate() async throws(StoreError) -> [Int]
    /// Drops ledger days before `day`.
    func dropLedger(before day: UTCDay) async throws(StoreError)
    /// Removes the devices that were deleted before `moment`, for good.
    ///
    /// - Returns: How many rows went.
    func dropDevices(deletedBefore moment: UnixTime) async throws(StoreError) -> Int
    func close() async
}

package struct SchemaVersion: Hashable, Sendable {
    /// 0 for an empty store.
    package let current: Int
    package let latest: Int

    package init(current: Int, latest: Int) {
        self.current = current
        self.latest = latest
    }
}

/// What is asked for to decide on one notification.
package struct RecallQuestion: Hashable, Sendable {
    package var key: NotificationKey
    /// Nil leaves ``RecipientSnapshot/recentSends`` empty.
    package var frequencyKey: String?

    package init(key: NotificationKey, frequencyKey: String? = nil) {
        self.key = key
        self.frequencyKey = frequencyKey
    }
}

/// A send that counts towards a limit.
package struct CountedSend: Hashable, Sendable {
    package var key: String
    package var limit: FrequencyLimit

    package init(key: String, limit: FrequencyLimit) {
        self.key = key
        self.limit = limit
    }
}

/// One decision on its way into the ledger.
package struct Claim: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
        /// Will be sent; raises these apps' badges unless the row has counted already.
        ///
        /// Nothing is written, and the answer is ``ClaimResult/outdated``, if another send has filled the limit meanwhile.
        case send(badgeApps: Set<AppID>, counts: CountedSend? = nil)
        case suppress(SuppressionReason)
        /// Closed, and one more item of a digest, whose row waits until it is due and stands for the newest `event`.
        ///
        /// Nothing is written, and the answer is ``ClaimResult/outdated``, if the digest does not wait any more.
        case join(Digest, SuppressionReason, lane: Lane, event: [UInt8])
        /// `event` is what ``DeferredNotification/event`` gives back.
        case postpone(until: UnixTime, reason: String, lane: Lane, event: [UInt8])
        /// Dead-lettered before sending.
        case reject(reason: String)
        /// A redelivery of what is closed: raises `repeats`.
        case repeated
    }

    package var key: NotificationKey
    /// The catalog's name of the type.
    package var type: String
    package var action: Action
    /// The due notification this claim comes from; its `deferred` row goes with ``Settlement/finishedDeferrals`` or is
    /// replaced by another postponement.
    package var deferral: DeferralID?
    /// How many items a due digest was planned with; if there are more by now, nothing is written and the answer is
    /// ``ClaimResult/outdated``.
    package var items: Int
    /// What changed the outcome, as ``DecisionStep/text(of:)`` writes it; nil where nothing did.
    package var trace: String?

    package init(
        key: NotificationKey, type: String, action: Action, deferral: DeferralID? = nil, items: Int = 0,
        trace: String? = nil
    ) {
        self.key = key
        self.type = type
        self.action = action
        self.deferral = deferral
        self.items = items
        self.trace = trace
    }
}

extension Ledger {
    /// Snapshots without counts of sends.
    package func recall(_ keys: [NotificationKey]) async throws(StoreError) -> [RecipientSnapshot] {
        try await recall(keys.map { RecallQuestion(key: $0) })
    }
}

package enum ClaimResult: Hashable, Sendable {
    /// Ours to send; the unread count of each app of the user that has one, after this claim.
    case claimed(badges: [AppID: Int])
    /// Closed meanwhile, by this or another instance: nothing to do.
    case alreadyClosed
    /// What was written needs no sending.
    case recorded
    /// Nothing was written, since what the decision rests on has changed: decide again.
    case outdated
}

package struct DeferralID: Hashable, Sendable {
    package let number: Int64

    package init(_ number: Int64) {
        self.number = number
    }
}

/// A notification whose time has come.
package struct DeferredNotification: Hashable, Sendable {
    package var id: DeferralID
    package var key: NotificationKey
    package var type: String
    package var lane: Lane
    package var dueAt: UnixTime
    package var event: [UInt8]

    package init(
        id: DeferralID, key: NotificationKey, type: String, lane: Lane, dueAt: UnixTime, event: [UInt8]
    ) {
        self.id = id
        self.key = key
        self.type = type
        self.lane = lane
        self.dueAt = dueAt
        self.event = event
    }
}

/// What became of a batch, as one write.
package struct Settlement: Hashable, Sendable {
    /// Whether there is nothing to write.
    package var isEmpty: Bool {
        deliveries.isEmpty && closures.isEmpty && prunes.isEmpty && quarantines.isEmpty && finishedDeferrals.isEmpty
    }

    package struct Delivery: Hashable, Sendable {
        package var key: NotificationKey
        package var device: DeviceID
        package var pushID: PushID
        package var outcome: DeliveryOutcome
        package var status: Int?
        package var reason: String?
        package var attempts: Int

        package init(
            key: NotificationKey, device: DeviceID, pushID: PushID, outcome: DeliveryOutcome, status: Int?,
            reason: String?, attempts: Int
        ) {
            self.key = key
            self.device = device
            self.pushID = pushID
            self.outcome = outcome
            self.status = status
            self.reason = reason
            self.attempts = attempts
        }
    }

    /// A notification of which every device has its outcome.
    package struct Closure: Hashable, Sendable {
        package var key: NotificationKey
        package var state: LedgerState
        package var reason: String?
        /// Whether a device accepted; if none did, the badge that the claim counted is taken back, once, unless it was
        /// reset since the claim.
        package var wasAccepted: Bool

        package init(key: NotificationKey, state: LedgerState, reason: String?, wasAccepted: Bool) {
            self.key = key
            self.state = state
            self.reason = reason
            self.wasAccepted = wasAccepted
        }
    }

    package struct Prune: Hashable, Sendable {
        package var token: DeviceToken
        package var app: AppKey
        /// Nil prunes whatever still has the token.
        package var goneAt: UnixTime?
        package var reason: String

        package init(token: DeviceToken, app: AppKey, goneAt: UnixTime?, reason: String) {
            self.token = token
            self.app = app
            self.goneAt = goneAt
            self.reason = reason
        }
    }

    package var deliveries: [Delivery]
    package var closures: [Closure]
    package var prunes: [Prune]
    package var quarantines: [Prune]
    package var finishedDeferrals: [DeferralID]

    package init(
        deliveries: [Delivery] = [], closures: [Closure] = [], prunes: [Prune] = [], quarantines: [Prune] = [],
        finishedDeferrals: [DeferralID] = []
    ) {
        self.deliveries = deliveries
        self.closures = closures
        self.prunes = prunes
        self.quarantines = quarantines
        self.finishedDeferrals = finishedDeferrals
    }
}

package enum PruneResult: Hashable, Sendable {
    /// This many rows, of all users of the token.
    case pruned(Int)
    /// The newest registration of the token is not older than the answer's timestamp, or the token is gone already.
    case kept
}

/// One ledger row with its deliveries, for `explain`.
package struct NotificationRecord: Hashable, Sendable {
    package struct Delivery: Hashable, Sendable {
        package var device: DeviceID
        package var pushID: String
        package var outcome: String
        package var status: Int?
        package var reason: String?
        package var attempts: Int

        package init(
            device: DeviceID, pushID: String, outcome: String, status: Int?, reason: String?, attempts: Int
        ) {
            self.device = device
            self.pushID = pushID
            self.outcome = outcome
            self.status = status
            self.reason = reason
            self.attempts = attempts
        }
    }

    package var key: NotificationKey
    package var type: String
    package var state: LedgerState
    package var reason: String?
    /// The id of the digest that it went into.
    package var digest: String?
    /// What changed the outcome; nil where nothing did.
    package var trace: String?
    package var repeats: Int
    package var createdAt: UnixTime
    package var readAt: UnixTime?
    /// When it is decided on again; nil unless it is deferred.
    package var dueAt: UnixTime?
    package var deliveries: [Delivery]

    package init(
        key: NotificationKey, type: String, state: LedgerState, reason: String?, digest: String? = nil,
        trace: String? = nil, repeats: Int, createdAt: UnixTime, readAt: UnixTime? = nil, dueAt: UnixTime? = nil,
        deliveries: [Delivery]
    ) {
        self.key = key
        self.type = type
        self.state = state
        self.reason = reason
        self.digest = digest
        self.trace = trace
        self.readAt = readAt
        self.dueAt = dueAt
        self.repeats = repeats
        self.createdAt = createdAt
        self.deliveries = deliveries
    }
}

package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// Not there, or busy beyond the limit: wait and try again.
        case unavailable
        /// No room for another byte: wait, and tell the operator.
        case full
        /// The store cannot be where it is configured to be: only another path or other rights help.
        case configuration
        /// The schema is missing, too old or too new.
        case schema
        /// The data is not what this program wrote.
        case corrupt
        /// Our mistake: a statement the engine does not take, or a value that does not fit.
        case invalid
    }

    package let kind: Kind
    package let operation: String
    /// The engine's own code and text; never a bound value.
    package let detail: String

    package init(kind: Kind, operation: String, detail: String) {
        self.kind = kind
        self.operation = operation
        self.detail = detail
    }

    package var description: String { "store \(operation): \(detail)" }

    /// Whether the same call may succeed later.
    package var isRetryable: Bool {
        switch kind {
        case .unavailable, .full: true
        case .configuration, .schema, .corrupt, .invalid: false
        }
    }
}
