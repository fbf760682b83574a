import AegisCore
import AegisPorts

/// The requests and connections of one app in one environment.
///
/// Not `Sendable`: it stays in its event loop's thread.
final class AppLane {
    let key: AppKey
    private let endpoint: GatewaySettings.Endpoint
    private let authority: [UInt8]
    private let loop: LoopContext
    private var settings: GatewaySettings { loop.settings }
    private var signer: (any TokenSigner)?
    private var token: ProviderTokenValue?
    private var authorization: [UInt8] = []
    private var queue = FIFO<QueuedPush>()
    private var attempts: [UInt64: ConnectAttempt] = [:]
    private var connections: [UInt64: APNsConnection] = [:]
    private var backoff: ReconnectBackoff
    private var nextAttempt: MonotonicTime
    private var lastError: GatewayError?
    private var lastWindow: Int?

    init(key: AppKey, endpoint: GatewaySettings.Endpoint, loop: LoopContext, now: MonotonicTime) {
        self.key = key
        self.endpoint = endpoint
        self.loop = loop
        authority = Array((endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host).utf8)
        backoff = ReconnectBackoff(first: loop.settings.firstBackoff, longest: loop.settings.longestBackoff)
        nextAttempt = now
        signer = loop.settings.signer(key)
    }

    func enqueue(_ push: Push, handedOver: MonotonicTime) {
        queue.append(QueuedPush(push: push, handedOver: handedOver))
    }

    /// Takes up changed credentials.
    func reload(at now: MonotonicTime) {
        signer = settings.signer(key)
        token = nil
        for connection in connections.values { connection.retire() }
        backoff.succeeded()
        nextAttempt = now
    }

    /// Answers everything: the gateway closes.
    func close(at now: MonotonicTime) {
        attempts = [:]
        for connection in connections.values {
            connection.end(nil)
            collectAnswers(of: connection, at: now)
        }
        connections = [:]
        while let queued = queue.popFirst() { report(queued, .notProcessed, at: now) }
    }

    func prepared(_ number: UInt64, _ result: Result<Resolver.Route, GatewayError>, at now: MonotonicTime) {
        guard let attempt = attempts[number] else { return }
        switch result {
        case .success(let route): take(attempt.start(route, at: now), of: number, at: now)
        case .failure(let error): take(.failed(error), of: number, at: now)
        }
    }

    /// Something of this lane is ready to be read or written.
    func handleEvent(_ number: UInt64, at now: MonotonicTime) {
        if let attempt = attempts[number] {
            take(attempt.advance(at: now), of: number, at: now)
        } else if let connection = connections[number] {
            unsafe connection.receive(into: loop.input, at: now)
        }
    }

    /// Does everything that is due or possible now; once a turn of the loop.
    func turn(at now: MonotonicTime) {
        for (number, attempt) in attempts where attempt.nextDeadline <= now {
            take(attempt.advance(at: now), of: number, at: now)
        }
        for connection in connections.values {
            if connection.hasMoreInput { unsafe connection.receive(into: loop.input, at: now) }
            if let deadline = connection.nextDeadline, deadline <= now { connection.tick(at: now) }
            readSigns(of: connection, at: now)
        }
        expireQueue(at: now)
        submitQueue(at: now)
        for connection in connections.values {
            connection.flush()
            // A failed write, or a stream reset on sending, answers as well.
            readSigns(of: connection, at: now)
        }
        for (number, connection) in connections {
            if !connection.isWanted, !connection.isReplaced { scheduleReplacement(of: connection, at: now) }
            if connection.isClosed { forget(number) }
        }
        openConnections(at: now)
        tellWindow()
    }

    /// When ``turn(at:)`` is due if nothing happens before; nil when only an event can change anything.
    func nextDeadline(after now: MonotonicTime) -> MonotonicTime? {
        var next: MonotonicTime?
        func consider(_ deadline: MonotonicTime) { next = next.map { min($0, deadline) } ?? deadline }
        for attempt in attempts.values { consider(attempt.nextDeadline) }
        for connection in connections.values {
            if connection.hasMoreInput { consider(now) }
            if let deadline = connection.nextDeadline { consider(deadline) }
        }
        if let first = queue.first { consider(first.handedOver.advanced(by: settings.requestDeadline)) }
        if missingConnections > 0, signer != nil { consider(nextAttempt) }
        return next
    }

    private func expireQueue(at now: MonotonicTime) {
        let limit = now.advanced(by: .zero - settings.requestDeadline)
        while let first = queue.first, first.handedOver <= limit {
            _ = queue.popFirst()
            report(first, .notProcessed, at: now)
        }
    }

    private func report(_ queued: QueuedPush, _ answer: PushAnswer, at now: MonotonicTime) {
        loop.reports.append(
            PushReport(ticket: queued.push.ticket, answer: answer, duration: queued.handedOver.duration(to: now)))
    }

    /// How many requests may be outstanding; one for the whole app until a connection has proven the token.
    private var window: Int {
        let sum = connections.values.reduce(0) { $0 + $1.allowance }
        return connections.values.contains { $0.isUsable && $0.isProven } ? sum : min(1, sum)
    }

    private func tellWindow() {
        let window = window
        guard window != lastWindow else { return }
        lastWindow = window
        loop.signals.append(.window(key, window))
    }
}

// MARK: - Connections

extension AppLane {
    private var missingConnections: Int {
        let present = attempts.count + connections.values.count { $0.isWanted }
        let missing = max(0, settings.connections - present)
        // While connecting fails, one attempt at a time is enough to find out.
        return backoff.failures > 0 && !attempts.isEmpty ? 0 : missing
    }

    private func openConnections(at now: MonotonicTime) {
        guard missingConnections > 0, now >= nextAttempt else { return }
        guard signer != nil else {
            return tell(GatewayError(kind: .credential, detail: "\(key) has no key to sign provider tokens with"))
        }
        for _ in 0..<(backoff.failures > 0 ? 1 : missingConnections) {
            let number = loop.nextNumber()
            attempts[number] = ConnectAttempt(
                number: number, endpoint: endpoint, poller: loop.poller, timeout: settings.connectTimeout, now: now)
            loop.numbers[number] = key
            let (inbox, key) = (loop.inbox, key)
            loop.resolver.prepare(
                Resolver.Request(endpoint: endpoint) {
                    inbox.put(.prepared(app: key, attempt: number, $0))
                })
        }
    }

    private func take(_ outcome: ConnectAttempt.Outcome, of number: UInt64, at now: MonotonicTime) {
        switch outcome {
        case .pending:
            return
        case .connected(let stream):
            attempts[number] = nil
            do throws(GatewayError) {
                let connection = try APNsConnection(number: number, stream: stream, settings: settings, now: now)
                connections[number] = connection
                // The socket's events so far were for the handshake: there may be input already.
                unsafe connection.receive(into: loop.input, at: now)
            } catch {
                loop.numbers[number] = nil
                fail(error, at: now)
            }
        case .failed(let error):
            attempts[number] = nil
            loop.numbers[number] = nil
            fail(error, at: now)
        }
    }

    private func fail(_ error: GatewayError, at now: MonotonicTime) {
        backOff(at: now)
        tell(error)
    }

    private func backOff(at now: MonotonicTime) {
        nextAttempt = now.advanced(by: backoff.failed(using: &loop.generator))
    }

    private func tell(_ error: GatewayError) {
        guard error != lastError else { return }
        lastError = error
        loop.signals.append(.unreachable(key, error))
        loop.log.warning("APNs cannot be reached", ["app": .text(key.description), "reason": .text(error.detail)])
    }

    /// Decides how soon a connection that ended or drains is replaced: APNs takes frequent reconnects for an attack.
    private func scheduleReplacement(of connection: APNsConnection, at now: MonotonicTime) {
        connection.isReplaced = true
        let lifetime = connection.openedAt.duration(to: now)
        var hasFailed = connection.hasFailed
        if case .closed(let error?) = connection.state {
            hasFailed = true
            loop.log.info(
                "A connection to APNs ended", ["app": .text(key.description), "reason": .text(error.detail)])
            // One that never was of use is told like a failed connect.
            if !connection.isAnnounced { tell(error) }
        }
        guard hasFailed else { return }
        if connection.isProven || lifetime >= settings.longestBackoff {
            guard lifetime < settings.firstBackoff else { return }
            let wait = settings.firstBackoff * Int64.random(in: 500...1_000, using: &loop.generator) / 1_000
            nextAttempt = max(nextAttempt, now.advanced(by: wait))
        } else {
            backOff(at: now)
        }
    }

    private func forget(_ number: UInt64) {
        connections[number] = nil
        loop.numbers[number] = nil
    }
}

// MARK: - Requests and answers

extension AppLane {
    /// Spreads the queue over the connections that have room, the least loaded first.
    private func submitQueue(at now: MonotonicTime) {
        guard !queue.isEmpty else { return }
        var usable = connections.values.filter { $0.isUsable }
        guard !usable.isEmpty, renewAuthorization(at: now) else { return }
        let isProven = usable.contains { $0.isProven }
        if !isProven {
            // The token is proven by one push alone before more follow.
            guard usable.allSatisfy({ $0.openCount == 0 }) else { return }
            usable = Array(usable.prefix(1))
        }
        while !queue.isEmpty {
            usable.removeAll { $0.openCount >= $0.allowance }
            guard let connection = usable.min(by: { $0.openCount < $1.openCount }) else { return }
            let share = max(16, queue.count / usable.count)
            submit(min(share, connection.allowance - connection.openCount), on: connection, at: now)
        }
    }

    private func submit(_ count: Int, on connection: APNsConnection, at now: MonotonicTime) {
        for _ in 0..<count {
            guard let queued = queue.first else { return }
            let submission = connection.submit(
                queued, authority: authority, authorization: authorization, headers: loop.headers, at: now)
            switch submission {
            case .submitted:
                _ = queue.popFirst()
            case .unsendable(let reason):
                _ = queue.popFirst()
                report(queued, .unsendable(reason: reason), at: now)
            case .unavailable:
                return
            }
        }
    }

    /// Takes the provider token of this moment; false when there is none.
    private func renewAuthorization(at now: MonotonicTime) -> Bool {
        guard let signer else { return false }
        do throws(CredentialError) {
            let current = try signer.token(at: loop.clock.now())
            if current != token {
                token = current
                authorization = Array("bearer \(current.text)".utf8)
            }
            return true
        } catch {
            tell(GatewayError(kind: .credential, detail: error.detail))
            return false
        }
    }

    /// Takes what a connection has learned since the last time.
    private func readSigns(of connection: APNsConnection, at now: MonotonicTime) {
        if connection.isUsable, !connection.isAnnounced {
            connection.isAnnounced = true
            lastError = nil
        }
        for goAway in connection.takeGoAways() { note(goAway) }
        collectAnswers(of: connection, at: now)
    }

    private func note(_ goAway: StreamTable.GoAway) {
        let reason = ErrorBody(goAway.debugData).reason
        loop.log.info(
            "APNs said GOAWAY",
            [
                "app": .text(key.description), "reason": .text(reason?.text ?? "none"),
                "last_stream": .number(Int64(goAway.lastStreamID)), "code": .number(Int64(goAway.errorCode)),
            ])
        guard let reason, let disposition = APNsDisposition.of(reason) else { return }
        switch disposition.app {
        case .pause: loop.signals.append(.refused(key, reason))
        case .none, .slow, .suspect: break
        }
        if disposition.connection == .renewCredential { rejectToken() }
    }

    private func collectAnswers(of connection: APNsConnection, at now: MonotonicTime) {
        for finished in connection.takeFinished() {
            let answer: PushAnswer
            switch finished.end {
            case .response(let status, let body, let retryAfter):
                let response = self.response(status: status, body: body, retryAfter: retryAfter)
                follow(response, on: connection)
                answer = .response(response)
            case .notProcessed: answer = .notProcessed
            case .unknown(let fate): answer = .unknown(fate)
            }
            loop.reports.append(
                PushReport(
                    ticket: finished.ticket, answer: answer, duration: finished.handedOver.duration(to: now)))
        }
    }

    private func response(status: Int, body: [UInt8], retryAfter: String?) -> APNsResponse {
        let error = status == 200 ? nil : ErrorBody(body)
        return APNsResponse(
            status: status, reason: error?.reason, timestamp: error?.timestamp,
            retryAfter: retryAfter.flatMap { RetryAfter.duration($0, at: loop.clock.now()) })
    }

    /// Does to the connection what the answer calls for.
    private func follow(_ response: APNsResponse, on connection: APNsConnection) {
        // Both say that the token was good; other errors may have been found before it was looked at.
        if response.status == 200 || response.status == 410 {
            if !connection.isProven { backoff.succeeded() }
            connection.prove()
            return
        }
        switch APNsDisposition.of(response).connection {
        case .keep:
            break
        case .retire:
            connection.retire(failed: true)
        case .renewCredential:
            connection.retire(failed: true)
            rejectToken()
        }
    }

    private func rejectToken() {
        guard let token else { return }
        signer?.rejected(token, at: loop.clock.now())
    }
}
