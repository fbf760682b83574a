/// Keeps the requests verbatim and counts their outcomes.
struct NotificationLog {
    private struct Entry {
        let arrival: Int
        let connection: Int
        let streamID: Int32
        let environment: SimulatedEnvironment
        let answerID: [UInt8]
        let topic: String
        let headers: HeaderBlock
        let token: String
        let payload: [UInt8]
        let outcome: Rejection?
        let at: Int64
        let answered: Bool
    }

    /// Ids are remembered in two halves of this size, the older of which is dropped when the newer is full.
    private static let rememberedIDs = 1 << 20

    var stats = SimulatorStats()
    private let keepsRequests: Bool
    private let limit: Int
    private var entries: [Entry] = []
    private var recentIDs: Set<MessageID> = []
    private var olderIDs: Set<MessageID> = []

    init(options: SimulatorOptions) {
        keepsRequests = options.recordNotifications && !options.sink
        limit = max(2, options.recordLimit)
    }

    mutating func record(
        _ request: Request, connection: Int, environment: SimulatedEnvironment, at now: Int64, answered: Bool
    ) {
        if let outcome = request.outcome {
            stats.outcomes[.init(status: outcome.status, reason: outcome.reason ?? ""), default: 0] += 1
        } else {
            stats.accepted += 1
            if let id = request.messageID { noteAccepted(id) }
        }
        guard keepsRequests else { return }
        if entries.count >= limit { entries.removeFirst(limit / 2) }
        entries.append(
            Entry(
                arrival: request.arrival, connection: connection, streamID: request.streamID, environment: environment,
                answerID: request.answerID, topic: request.topic?.text ?? "", headers: request.headers.copy(),
                token: DeviceRegistry.key(request.deviceToken), payload: request.payload.unsharedCopy(),
                outcome: request.outcome, at: now, answered: answered))
    }

    private mutating func noteAccepted(_ id: MessageID) {
        if olderIDs.contains(id) || !recentIDs.insert(id).inserted { stats.duplicates += 1 }
        guard recentIDs.count >= Self.rememberedIDs else { return }
        olderIDs = recentIDs
        recentIDs = []
    }

    mutating func clear() {
        entries.removeAll()
        recentIDs.removeAll()
        olderIDs.removeAll()
    }

    /// In the order of their answers; `token` in either case of letters.
    func requests(token: String?, acceptedOnly: Bool) -> [ReceivedNotification] {
        let key = token.map { DeviceRegistry.key($0) }
        return entries.lazy.filter { entry in
            (!acceptedOnly || entry.outcome == nil) && (key == nil || entry.token == key)
        }.map { entry in
            ReceivedNotification(
                arrival: entry.arrival, connection: entry.connection, streamID: Int(entry.streamID),
                environment: entry.environment, apnsID: String(decoding: entry.answerID, as: UTF8.self),
                token: entry.token, topic: entry.topic, headers: entry.headers.decoded(), payload: entry.payload,
                status: entry.outcome?.status ?? 200, reason: entry.outcome?.reason, acceptedAt: entry.at,
                answered: entry.answered)
        }
    }
}
