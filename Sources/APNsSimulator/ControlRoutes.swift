internal import Foundation

/// One request to the control plane.
struct ControlRequest {
    let method: String
    let path: String
    /// The `token` of the query.
    let token: String?
    let body: [UInt8]
}

/// Its answer, always JSON.
struct ControlResponse {
    let status: Int
    let body: [UInt8]

    static func problem(_ status: Int, _ detail: String) -> ControlResponse {
        json(["status": status, "detail": detail], status: status)
    }

    static func json(_ value: Any, status: Int = 200) -> ControlResponse {
        guard
            let data = try? JSONSerialization.data(
                withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return ControlResponse(status: 500, body: []) }
        return ControlResponse(status: status, body: Array(data))
    }
}

/// The operations of the control plane: those of ``APNsSimulator``, by method and path.
struct ControlRoutes {
    let simulator: APNsSimulator

    func answer(_ request: ControlRequest) -> ControlResponse {
        let parts = request.path.split(separator: "/").map(String.init)
        switch (request.method, parts.first ?? "", parts.count) {
        case ("GET", "notifications", 1): return list(simulator.notifications(token: request.token))
        case ("GET", "requests", 1): return list(simulator.requests(token: request.token))
        case ("DELETE", "notifications", 1):
            simulator.clearNotifications()
            return .json([String: Any]())
        case ("PUT", "devices", 2): return putDevice(parts[1], request.body)
        case ("DELETE", "devices", 2):
            simulator.setDevice(parts[1], nil)
            return .json([String: Any]())
        case ("PUT", "faults", 1): return putFaults(request.body)
        case ("DELETE", "faults", 1):
            simulator.clearFaults()
            return .json([String: Any]())
        case ("DELETE", "connections", 1): return closeConnections(request.body)
        case ("GET", "stats", 1): return stats()
        case (_, "notifications", 1), (_, "requests", 1), (_, "devices", 2), (_, "faults", 1), (_, "connections", 1),
            (_, "stats", 1):
            return .problem(405, "method not allowed")
        default: return .problem(404, "no such path")
        }
    }

    private func list(_ notifications: [ReceivedNotification]) -> ControlResponse {
        .json(
            notifications.map { notification in
                var entry: [String: Any] = [
                    "arrival": notification.arrival, "connection": notification.connection,
                    "stream": notification.streamID, "environment": notification.environment.rawValue,
                    "apns_id": notification.apnsID, "token": notification.token, "topic": notification.topic,
                    "headers": notification.headers.map { [$0.name, $0.value] }, "status": notification.status,
                    "accepted_at": notification.acceptedAt, "answered": notification.answered,
                    "payload_base64": Data(notification.payload).base64EncodedString(),
                ]
                entry["reason"] = notification.reason
                entry["payload"] = try? JSONSerialization.jsonObject(with: Data(notification.payload))
                return entry
            })
    }

    private func stats() -> ControlResponse {
        let stats = simulator.stats()
        let outcomes = stats.outcomes.sorted { ($0.key.status, $0.key.reason) < ($1.key.status, $1.key.reason) }
        return .json([
            "accepted": stats.accepted,
            "responses": [["status": 200, "reason": "", "count": stats.accepted] as [String: Any]]
                + outcomes.map { ["status": $0.key.status, "reason": $0.key.reason, "count": $0.value] },
            "connections_opened": stats.connectionsOpened, "connections_open": stats.connectionsOpen,
            "peak_streams": stats.peakStreams, "duplicates": stats.duplicates, "pings": stats.pingsReceived,
            "stalled": stats.stalled, "refused_streams": stats.refusedStreams,
            "failed_handshakes": stats.failedHandshakes,
        ])
    }

    /// A device with a `topic` is registered, one with a `status` is scripted; both may come together.
    private func putDevice(_ token: String, _ body: [UInt8]) -> ControlResponse {
        do {
            var object = try ControlObject(body)
            let topic: String? = try object.take("topic")
            let environment: SimulatedEnvironment? = try object.takeName("environment")
            let status: Int? = try object.take("status")
            let reason: String? = try object.take("reason")
            let timestamp: Int? = try object.take("timestamp")
            let remaining: Int? = try object.take("remaining")
            try object.finish()
            if let status, !(200..<600).contains(status) { return .problem(400, "status is out of range") }
            guard topic != nil || status != nil else { return .problem(400, "neither topic nor status") }
            if let topic {
                simulator.registerDevice(token: token, topic: topic, environment: environment ?? .production)
            }
            if let status {
                simulator.setDevice(
                    token,
                    DeviceScript(
                        status: status, reason: reason, timestamp: timestamp.map(Int64.init), remaining: remaining))
            }
            return .json([String: Any]())
        } catch {
            return .problem(400, error.detail)
        }
    }

    private func putFaults(_ body: [UInt8]) -> ControlResponse {
        do {
            simulator.setFaults(try Faults(json: body))
            return .json([String: Any]())
        } catch {
            return .problem(400, error.detail)
        }
    }

    private func closeConnections(_ body: [UInt8]) -> ControlResponse {
        do {
            var object = try ControlObject(body.isEmpty ? Array("{}".utf8) : body)
            let how: ConnectionClosing? = try object.takeName("how")
            try object.finish()
            simulator.closeConnections(how ?? .graceful)
            return .json([String: Any]())
        } catch {
            return .problem(400, error.detail)
        }
    }
}

/// A JSON object whose members are taken one by one, so that what is left over is a mistake.
struct ControlObject {
    struct Invalid: Error {
        let detail: String
    }

    private var members: [String: Any]

    init(_ body: [UInt8]) throws(Invalid) {
        guard let members = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] else {
            throw Invalid(detail: "the body is no JSON object")
        }
        self.members = members
    }

    mutating func take<Value>(_ name: String) throws(Invalid) -> Value? {
        guard let member = members.removeValue(forKey: name), !(member is NSNull) else { return nil }
        guard let value = member as? Value else { throw Invalid(detail: "\(name) has the wrong type") }
        return value
    }

    /// A whole number from `bounds`.
    mutating func takeNumber(_ name: String, in bounds: ClosedRange<Int>) throws(Invalid) -> Int? {
        guard let value: Int = try take(name) else { return nil }
        guard bounds.contains(value) else { throw Invalid(detail: "\(name) is out of range") }
        return value
    }

    mutating func takeName<Value: RawRepresentable<String>>(_ name: String) throws(Invalid) -> Value? {
        guard let text: String = try take(name) else { return nil }
        guard let value = Value(rawValue: text) else { throw Invalid(detail: "\(name) has an unknown value") }
        return value
    }

    func finish() throws(Invalid) {
        if let unknown = members.keys.min() { throw Invalid(detail: "unknown member \(unknown)") }
    }
}

extension Faults {
    /// From the body of `PUT /faults`; what is absent keeps its default.
    init(json body: [UInt8]) throws(ControlObject.Invalid) {
        self.init()
        var object = try ControlObject(body)
        let hour = 0...3_600_000
        let counts = 1...Int(Int32.max)
        delayMs = try object.takeNumber("delay_ms", in: hour) ?? delayMs
        jitterMs = try object.takeNumber("jitter_ms", in: hour) ?? jitterMs
        status = try object.takeNumber("status", in: 200...599)
        reason = try object.take("reason")
        let milliseconds: Int? = try object.take("timestamp")
        timestamp = milliseconds.map(Int64.init)
        every = try object.takeNumber("every", in: counts) ?? every
        count = try object.takeNumber("count", in: 0...Int(Int32.max))
        durationMs = try object.takeNumber("duration_ms", in: hour)
        stall = try object.take("stall") ?? stall
        streamReset = try object.takeNumber("stream_reset", in: 0...13).map(UInt32.init)
        goAwayAfter = try object.takeNumber("goaway_after", in: counts)
        goAwayMode = try object.takeName("goaway_mode") ?? goAwayMode
        goAwayReason = try object.take("goaway_reason")
        goAwayGraceMs = try object.takeNumber("goaway_grace_ms", in: hour) ?? goAwayGraceMs
        resetAfter = try object.takeNumber("reset_after", in: counts)
        resetDeliveredPercent = try object.takeNumber("reset_delivered_percent", in: 0...100) ?? resetDeliveredPercent
        maxConcurrentStreams = try object.takeNumber("max_concurrent_streams", in: 0...Int(Int32.max)).map(UInt32.init)
        refusesExcessStreams = try object.take("refuse_excess_streams") ?? refusesExcessStreams
        retryAfter = try object.takeNumber("retry_after", in: 0...86_400)
        self.body = try object.takeName("body") ?? self.body
        upperCaseAPNsID = try object.take("upper_case_apns_id") ?? upperCaseAPNsID
        tokenRateLimit = try object.takeNumber("token_rate_limit", in: counts)
        tokenRateWindowMs = try object.takeNumber("token_rate_window_ms", in: 1...3_600_000) ?? tokenRateWindowMs
        ignoresPings = try object.take("ignore_pings") ?? ignoresPings
        idleCloseMs = try object.takeNumber("idle_close_ms", in: 1...3_600_000)
        idleGoAway = try object.take("idle_goaway") ?? idleGoAway
        try object.finish()
    }
}
