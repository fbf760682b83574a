package import AegisCore
package import AegisEvents
package import AegisPorts

/// The way of an event: intake, decode, expand, enrich, decide, render, send, settle, commit.
///
/// One actor owns all bookkeeping; work passes through it in batches. Loops of its own, all started by ``run()``:
///
///     intake ─▶ queue ─▶ work (plan, claim, hand to the dispatcher) ─▶ settle ─▶ commit
///                          ▲ deferrals that have come due   │              │ ▲     └─▶ released partitions
///                                                           └▶ dead letters ◀┘
package actor Pipeline {
    package struct Parts: Sendable {
        package var eventLog: any EventLog
        package var store: any Store
        package var deadLetters: any DeadLetters
        package var gateway: any PushGateway
        package var digests: any IdentityDigests
        package var clock: any TimeSource
        package var log: any Log
        package var meter: any Meter
        package var observer: (any PipelineObserver)?

        package init(
            eventLog: any EventLog, store: any Store, deadLetters: any DeadLetters, gateway: any PushGateway,
            digests: any IdentityDigests, clock: any TimeSource, log: any Log, meter: any Meter,
            observer: (any PipelineObserver)? = nil
        ) {
            self.eventLog = eventLog
            self.store = store
            self.deadLetters = deadLetters
            self.gateway = gateway
            self.digests = digests
            self.clock = clock
            self.log = log
            self.meter = meter
            self.observer = observer
        }
    }

    let parts: Parts
    let settings: PipelineSettings
    let dispatcher: Dispatcher
    let badges: BadgeBoard
    let decoder: EventDecoder
    var planner: NotificationPlanner

    // Intake.
    var offsets = OffsetLedger()
    var queue = WorkQueue()
    /// Records taken from the queue and not finished, by assignment.
    var inWork: [PartitionAssignment: Int] = [:]
    var openRecords: [RecordReference: OpenRecord] = [:]
    var revoking: [[PartitionAssignment]] = []
    var pausedTopics: Set<String> = []
    var pauseUpdate = PauseUpdate.none
    var isCommitting = false
    var commitWaiters: [CheckedContinuation<Void, Never>] = []
    var assignedPartitions: Set<PartitionAssignment> = []
    /// Those whose lag is shown.
    var measuredPartitions: Set<TopicPartition> = []

    // Notifications that are claimed and not settled.
    var open: [UInt64: OpenNotification] = [:]
    /// The numbers of those that are open, or planned and about to be.
    var openKeys: [NotificationKey: UInt64] = [:]
    var openDeliveries: [Lane: Int] = [:]
    /// Of their payloads and of the records that are not finished.
    var openBytes = 0
    /// Requests that changed under the decision and are decided on once more.
    var outdated: [Request] = []
    /// Due notifications that are being planned.
    var dueInWork = 0
    /// Dead letters that the broker has not acknowledged.
    var letters: [PendingLetter] = []
    var lettersWaitSince: MonotonicTime?
    var letterWaiter: CheckedContinuation<Void, Never>?
    var nextNotification: UInt64 = 0
    var nextTicket: UInt64 = 0

    var devicesMeasuredAt: MonotonicTime?
    /// Labels under which devices were counted last.
    var deviceSeries: [[String]] = []

    // State of the service.
    var hasJoined = false
    var isDraining = false
    var isStopped = false
    var brokerTrouble: EventLogError?
    var deadLetterTrouble: EventLogError?
    var storeTrouble: StoreError?
    var worker = Worker.busy
    var idleWaiters: [CheckedContinuation<Void, Never>] = []

    package init(
        parts: Parts, settings: PipelineSettings, planner: NotificationPlanner, decoder: EventDecoder,
        apps: [AppKey: SendScheduler<MonotonicTime>.Settings], badges: BadgeBoard
    ) {
        self.parts = parts
        self.settings = settings
        self.planner = planner
        self.decoder = decoder
        self.badges = badges
        dispatcher = Dispatcher(
            apps: apps, gateway: parts.gateway, badges: badges, clock: parts.clock, meter: parts.meter, log: parts.log)
    }

    /// Runs until ``drain(within:)`` has ended it.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { await self.dispatcher.run() }
            group.addTask { await self.intakeLoop() }
            group.addTask { await self.workLoop() }
            group.addTask { await self.settleLoop() }
            group.addTask { await self.letterLoop() }
            group.addTask { await self.commitLoop() }
            group.addTask { await self.deferralLoop() }
            group.addTask { await self.reminderLoop() }
            while await group.next() != nil {
                // Whoever sleeps until its next turn need not, once there is none.
                if isStopped { group.cancelAll() }
            }
        }
    }

    /// A new catalog takes effect with the next batch.
    package func reload(_ planner: NotificationPlanner) {
        self.planner = planner
    }

    /// New credentials take effect at once, and open circuits are tried anew.
    package func credentialsChanged() async {
        await dispatcher.credentialsChanged()
        await updatePauses()
        wakeWorker()
    }

    /// Stops reading, lets what is claimed come to its end until `limit`, settles, commits and closes the log and the gateway.
    ///
    /// - Returns: How many notifications were left; their records are uncommitted and come again.
    @discardableResult
    package func drain(within limit: Duration) async -> Int {
        isDraining = true
        queue.removeAll()
        let deadline = parts.clock.uptime().advanced(by: limit)
        await updatePauses()
        while !isIdle, parts.clock.uptime() < deadline {
            await waitForIdle(until: deadline)
        }
        await commit()
        isStopped = true
        wakeWorker()
        wakeLetterLoop()
        await parts.gateway.close()
        await parts.eventLog.close()
        return leftCount
    }

    /// Notifications, and rejections of records, that have not come to their end.
    private var leftCount: Int {
        let ofDeferrals = open.values.count { $0.origin.reference == nil }
        return openRecords.values.reduce(0) { $0 + $1.remaining } + ofDeferrals + dueInWork
    }

    /// Nothing is queued, planned, on its way or being settled.
    package var isIdle: Bool { queue.isEmpty && openRecords.isEmpty && dueInWork == 0 && open.isEmpty }

    private func waitForIdle(until deadline: MonotonicTime) async {
        let clock = parts.clock
        let timer = Task {
            try? await clock.sleep(until: deadline)
            self.wakeIdleWaiters()
        }
        await withCheckedContinuation { idleWaiters.append($0) }
        timer.cancel()
    }

    func wakeIdleWaiters() {
        for waiter in idleWaiters { waiter.resume() }
        idleWaiters = []
    }

    /// Runs a call of the store until it succeeds: an outage is a pause.
    ///
    /// Nil once the pipeline has stopped.
    func persistently<Result: Sendable>(
        _ operation: String, _ call: @Sendable () async throws(StoreError) -> Result
    ) async -> Result? {
        var backoff = settings.firstBackoff
        while !isStopped {
            let began = parts.clock.uptime()
            do throws(StoreError) {
                let result = try await call()
                parts.meter.observe(
                    [began.duration(to: parts.clock.uptime()).seconds], in: .storeOperationDuration, [operation])
                if storeTrouble != nil {
                    storeTrouble = nil
                    parts.log.info("The store answers again")
                    await updatePauses()
                    wakeWorker()
                }
                return result
            } catch {
                if storeTrouble == nil {
                    parts.log.error(
                        "The store does not answer; intake pauses until it does", ["detail": .text(error.description)])
                    storeTrouble = error
                    await updatePauses()
                }
                await pause(for: backoff)
                backoff = min(backoff + backoff, settings.longestBackoff)
            }
        }
        return nil
    }

    func pause(for duration: Duration) async {
        try? await parts.clock.sleep(until: parts.clock.uptime().advanced(by: duration))
    }
}

extension Pipeline {
    /// What the work loop does when there is nothing for it: a wake-up that comes while it is looking is kept.
    enum Worker {
        case busy
        case called
        case waiting(CheckedContinuation<Void, Never>)
    }

    /// One update at a time, so that the log hears of pauses in the order in which they were decided.
    enum PauseUpdate {
        case none
        case running
        case runningAndAsked
    }
}

/// A record that was taken from the queue and is not finished.
struct OpenRecord: Sendable {
    /// Notifications and rejections that it waits for.
    var remaining: Int
    var bytes: Int
}

/// A notification that is claimed and waits for its devices.
struct OpenNotification: Sendable {
    enum Origin: Sendable {
        case record(RecordReference, KafkaRecord)
        case deferral(DeferralID, [UInt8])
    }

    var key: NotificationKey
    var type: String
    var origin: Origin
    var remaining: Int
    var wasAccepted: Bool
    /// Devices that failed; written when the notification closes, after the dead letter is acknowledged.
    var failures: [DeliveryResult] = []
    /// Dead-lettered before anything was sent; the ledger has no row until the letter is acknowledged.
    var isRejected = false
    var badgeApps: Set<AppID>
    /// Records that hold the same event for the same person: they are finished when it is, since only then nothing can be lost.
    var repeats: [RecordReference] = []

    /// Every device has its outcome and none of them failed, so that nothing is left but to close it.
    var isDelivered: Bool { remaining == 0 && failures.isEmpty }
}
