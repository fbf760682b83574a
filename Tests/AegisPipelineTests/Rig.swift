import AegisContent
import AegisCore
import AegisEvents
import AegisPipeline
import AegisPorts
import AegisTestKit
import Runtime
import Testing

/// What outlives a process: the broker, the store and the people in it.
struct World: Sendable {
    static let group = "aegis"
    /// A topic beside the others, for records that only show how far the pipeline has come.
    static let marks = "marks"

    let broker: InMemoryBroker
    let store = InMemoryStore()
    let clock = ShiftingClock()
    let catalog: Catalog

    init(topics: [String: Int] = ["events": 1]) throws {
        broker = InMemoryBroker(topics: topics.merging([Self.marks: 1]) { own, _ in own })
        catalog = try Self.catalog()
    }

    static func catalog(without missing: String? = nil) throws -> Catalog {
        guard let english = LocaleTag("en") else { throw Unprepared() }
        func type(
            _ name: String, _ priority: Priority, timeToLive: Duration = .seconds(86_400),
            over: FrequencyOverflow? = nil
        ) throws -> CatalogType {
            let limit = FrequencyLimit(max: 1, per: .seconds(3_600))
            return CatalogType(
                rules: NotificationRules(
                    name: name, priority: priority, category: nil, reason: name, interruptionLevel: .active,
                    timeToLive: timeToLive, frequency: over.map { FrequencyRule(limit: limit, over: $0) }),
                content: [
                    english: MessageTemplates(
                        title: try Template(parsing: "Order"), body: try Template(parsing: "{{number}}"))
                ])
        }
        var types = [
            "order": try type("order", .high), "alarm": try type("alarm", .critical),
            "flash": try type("flash", .high, timeToLive: .seconds(60)),
            "capped": try type("capped", .low, over: .drop), "spaced": try type("spaced", .low, over: .defer),
            "price": try type("price", .low, over: .digest),
            "sync": CatalogType(
                rules: NotificationRules(
                    name: "sync", priority: .low, category: nil, reason: "sync", interruptionLevel: .passive,
                    frequency: FrequencyRule(limit: FrequencyLimit(max: 1, per: .seconds(3_600)), over: .digest),
                    pushType: .background),
                custom: [CustomField(key: "number", value: try Template(parsing: "{{number}}"))]),
        ]
        if let missing { types[missing] = nil }
        return Catalog(defaultLocale: english, categories: [:], types: types)
    }

    /// Registers `count` devices for a user; their tokens follow from `number`.
    func register(_ user: String, devices count: Int = 1, number: Int, app: AppID = .sample) async throws {
        for index in 0..<count {
            _ = try await store.register(
                .sample(
                    user: .sample(user), app: app, installation: "\(user)-\(index)",
                    token: .sample(number * 100 + index)), sharesToken: false, at: clock.now())
        }
    }

    /// Publishes a value as it is.
    func publish(raw value: String, to topic: String = "events", partition: Int32 = 0) {
        broker.append(
            [OutgoingRecord(key: nil, value: Array(value.utf8))],
            to: TopicPartition(topic: topic, partition: partition), at: clock.now())
    }

    func publish(
        _ id: String, for users: [String], type: String = "order", more: String = "", to topic: String = "events",
        partition: Int32 = 0
    ) {
        let list = users.map { "\"\($0)\"" }.joined(separator: ",")
        let time = Timestamp.rfc3339(clock.now())
        let head = #"{"id":"\#(id)","type":"\#(type)","recipients":[\#(list)]\#(more),"#
        publish(
            raw: head + #""occurred_at":"\#(time)","data":{"number":"\#(id)"}}"#, to: topic, partition: partition)
    }

    func committed(_ topic: String = "events", _ partition: Int32 = 0) -> Int64? {
        broker.committed(TopicPartition(topic: topic, partition: partition), group: Self.group)
    }

    var deadLetters: [KafkaRecord] { broker.records(of: "aegis.dead-letter") }

    func history(_ id: String) async throws -> [NotificationRecord] {
        try await store.history(ofEvent: id, user: nil)
    }
}

struct Unprepared: Error {}

/// One process on a ``World``.
struct Rig: Sendable {
    let world: World
    let fuse: Fuse
    let store: FaultyStore
    let letters: FaultyDeadLetters
    let gateway: ScriptedGateway
    let log: InMemoryEventLog
    let meter = CountingMeter()
    let witness = Witness()
    let badges = BadgeBoard()
    let pipeline: Pipeline
    private let running: Task<Void, Never>

    struct Options {
        var lanes: [String: Lane] = ["events": .standard]
        var apps: [AppID] = [.sample]
        var window = 100
        var maxInFlight = 20_000
        var maxInFlightBytes = 256 << 20
        /// Pushes a second for each app.
        var rate = 100_000
        var burst = 100_000
        var batchSize = 500
        var maxAttempts = 3
        var failureLimit = 20
        var secondChanceDelay = Duration.milliseconds(20)
        var deferralInterval = Duration.milliseconds(10)
        var deferralLease = Duration.seconds(600)
        var rejectsUnmatched = false
        var fuse = Fuse()
        var isHolding = false
    }

    init(_ world: World, _ options: Options = Options()) throws {
        self.world = world
        fuse = options.fuse
        store = FaultyStore(world.store, fuse: fuse)
        letters = FaultyDeadLetters(world.broker, fuse: fuse)
        let keys = options.apps.map { AppKey(app: $0, environment: .production) }
        gateway = ScriptedGateway(windows: Dictionary(uniqueKeysWithValues: keys.map { ($0, options.window) }))
        if options.isHolding { gateway.holdAnswers() }
        log = InMemoryEventLog(world.broker, group: World.group, topics: Set(options.lanes.keys))
        let scheduler = SendScheduler<MonotonicTime>.Settings(
            rate: options.rate, burst: options.burst,
            retry: RetrySchedule(
                base: .milliseconds(2), cap: .milliseconds(10), maxAttempts: options.maxAttempts),
            circuit: SendScheduler<MonotonicTime>.CircuitSettings(
                failureLimit: options.failureLimit, firstOutage: .milliseconds(20), longestOutage: .milliseconds(40),
                firstPause: .milliseconds(50), longestPause: .milliseconds(50)))
        let topics = options.lanes.mapValues {
            PipelineSettings.Topic(lane: $0, rejectsUnmatched: options.rejectsUnmatched)
        }
        let apps = Dictionary(uniqueKeysWithValues: options.apps.map { ($0, AppRules(id: $0)) })
        let pipeline = Pipeline(
            parts: Pipeline.Parts(
                eventLog: FusedEventLog(log: log, fuse: fuse), store: store, deadLetters: letters,
                gateway: FusedGateway(gateway: gateway, fuse: fuse), digests: PlainDigests(), clock: world.clock,
                log: QuietLog(), meter: meter, observer: witness),
            settings: PipelineSettings(
                topics: topics, maxInFlight: options.maxInFlight, maxInFlightBytes: options.maxInFlightBytes,
                batchSize: options.batchSize,
                commitInterval: .milliseconds(5), deferralInterval: options.deferralInterval,
                deferralLease: options.deferralLease, firstBackoff: .milliseconds(2),
                longestBackoff: .milliseconds(10), reminderInterval: .milliseconds(50),
                secondChanceDelay: options.secondChanceDelay),
            planner: Self.planner(world.catalog, apps: apps),
            decoder: EventDecoder(topics: options.lanes.keys.map { TopicFormat(topic: $0, format: .aegis) }),
            apps: Dictionary(uniqueKeysWithValues: keys.map { ($0, scheduler) }), badges: badges)
        self.pipeline = pipeline
        running = Task { await pipeline.run() }
    }

    static func planner(_ catalog: Catalog, apps: [AppID: AppRules]) -> NotificationPlanner {
        NotificationPlanner(catalog: catalog, apps: apps, retention: .seconds(7 * 86_400), digests: PlainDigests())
    }

    /// Lanes with ``World/marks``, for ``passCommit()``.
    static let marked: [String: Lane] = ["events": .standard, World.marks: .standard]

    /// Waits until a record that came later is committed: whatever else might be by now is committed as well.
    func passCommit() async throws {
        let before = world.committed(World.marks) ?? 0
        world.publish("mark-\(before)", for: ["nobody"], to: World.marks)
        try await eventually("a later record is committed") { world.committed(World.marks) == before + 1 }
    }

    /// Ends it in good order.
    @discardableResult
    func drain(within limit: Duration = .seconds(10)) async -> Int {
        let left = await pipeline.drain(within: limit)
        await running.value
        return left
    }

    /// Ends it as a crash does: from now on nothing of it reaches the outside.
    func kill() async {
        fuse.blow()
        await log.close()
        await drain(within: .zero)
    }

    /// Badges in the order in which they were sent.
    var sentBadges: [Int] {
        gateway.sent.compactMap { push in
            let text = String(decoding: push.payload, as: UTF8.self)
            guard let start = text.firstRange(of: "\"badge\":")?.upperBound else { return nil }
            return Int(text[start...].prefix { $0.isNumber })
        }
    }
}

/// Waits for a condition, and fails with `what` if it does not come.
func eventually(
    _ what: Comment, within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now.advanced(by: limit)
    while try await !condition() {
        try #require(ContinuousClock.now < deadline, what, sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(2))
    }
}

extension PushAnswer {
    static func status(
        _ status: Int, _ reason: String? = nil, timestamp: UnixTime? = nil, retryAfter: Duration? = nil
    ) -> PushAnswer {
        .response(
            APNsResponse(
                status: status, reason: reason.map { APNsReason($0) }, timestamp: timestamp, retryAfter: retryAfter))
    }
}

extension KafkaRecord {
    func header(_ name: String) -> String? {
        headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}
