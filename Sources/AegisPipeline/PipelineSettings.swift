package import AegisCore

/// How the pipeline is set up.
package struct PipelineSettings: Sendable {
    package struct Topic: Hashable, Sendable {
        package var lane: Lane
        /// Whether an event that no catalog entry matches is a dead letter rather than ignored.
        package var rejectsUnmatched: Bool

        package init(lane: Lane = .standard, rejectsUnmatched: Bool = false) {
            self.lane = lane
            self.rejectsUnmatched = rejectsUnmatched
        }
    }

    package var topics: [String: Topic]
    /// Deliveries held in memory before partitions are paused.
    package var maxInFlight: Int
    /// Bytes of records and payloads held in memory before everything is paused.
    package var maxInFlightBytes: Int
    /// Events planned at once.
    package var batchSize: Int
    package var commitInterval: Duration
    package var deferralInterval: Duration
    /// How long a due notification is ours before it comes due again.
    package var deferralLease: Duration
    /// The first wait after the store or Kafka failed; doubles up to `longestBackoff`.
    package var firstBackoff: Duration
    package var longestBackoff: Duration
    /// How often a lasting trouble is told.
    package var reminderInterval: Duration
    /// The wait before the second chance of a 410 that the registration contradicts.
    package var secondChanceDelay: Duration

    package init(
        topics: [String: Topic], maxInFlight: Int = 20_000, maxInFlightBytes: Int = 256 << 20, batchSize: Int = 500,
        commitInterval: Duration = .milliseconds(250), deferralInterval: Duration = .seconds(1),
        deferralLease: Duration = .seconds(600), firstBackoff: Duration = .milliseconds(100),
        longestBackoff: Duration = .seconds(5), reminderInterval: Duration = .seconds(30),
        secondChanceDelay: Duration = .seconds(60)
    ) {
        self.topics = topics
        self.maxInFlight = maxInFlight
        self.maxInFlightBytes = maxInFlightBytes
        self.batchSize = batchSize
        self.commitInterval = commitInterval
        self.deferralInterval = deferralInterval
        self.deferralLease = deferralLease
        self.firstBackoff = firstBackoff
        self.longestBackoff = longestBackoff
        self.reminderInterval = reminderInterval
        self.secondChanceDelay = secondChanceDelay
    }

    /// How many deliveries may be in memory while topics of a lane are still read: bulk stops first, urgent last.
    func limit(of lane: Lane) -> Int {
        switch lane {
        case .urgent: maxInFlight
        case .standard: maxInFlight / 4 * 3
        case .bulk: maxInFlight / 2
        }
    }
}
