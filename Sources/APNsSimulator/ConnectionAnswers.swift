/// What a connection does with a complete request.
extension Connection {
    func completed(_ stream: Int32) {
        guard let request = request(on: stream), request.phase == .receiving else { return }
        request.phase = .waiting
        request.arrival = loop.takeArrivalNumber()
        requestsSeen += 1
        request.outcome = loop.checks.firstFault(
            in: request, on: &facts, keys: loop.keyring, at: loop.now, using: &loop.random)
        // What arrives behind a decided end is in flight when it comes.
        guard ending == nil else { return }
        if let fatal = endingDue() {
            ending = fatal
            return
        }
        startGracefulGoAwayIfDue()
        if request.outcome == nil, !loop.options.sink {
            switch loop.faultSchedule.next(at: loop.now) {
            case .none:
                request.outcome = loop.registryVerdict(on: request, environment: environment)
            case .reject(let rejection):
                request.outcome = rejection
            case .stall:
                loop.countStalled()
                return
            case .resetStream(let code):
                session?.reset(stream, code: code)
                return
            }
        }
        let delay = loop.faultSchedule.delayMs(using: &loop.random)
        if delay > 0 {
            loop.schedule(.answer(stream: stream, arrival: request.arrival), for: self, after: Int64(delay))
        } else {
            answer(request)
        }
    }

    /// A delayed answer is due, unless its stream has gone.
    func answerDue(_ stream: Int32, arrival: Int) {
        guard phase == .open, let request = request(on: stream), request.phase == .waiting, request.arrival == arrival
        else { return }
        answer(request)
        if let ending { carryOut(ending) } else { flush() }
    }

    private func answer(_ request: Request) {
        request.phase = .answered
        highestAnswered = max(highestAnswered, request.streamID)
        loop.record(request, on: self, answered: true)
        let faults = loop.faults
        loop.responseHeaders.removeAll()
        let status = request.outcome?.status ?? 200
        loop.responseHeaders.append(":status", StatusText.bytes(status))
        if faults.upperCaseAPNsID {
            loop.responseHeaders.append(
                "apns-id", Array(String(decoding: request.answerID, as: UTF8.self).uppercased().utf8))
        } else {
            loop.responseHeaders.append("apns-id", request.answerID)
        }
        if let rejection = request.outcome {
            request.body = ErrorBody.bytes(for: rejection, style: faults.body)
            if faults.body == .split { request.bodyChunk = 5 }
            if !request.body.isEmpty { loop.responseHeaders.append("content-type", "application/json".utf8) }
            if let seconds = faults.retryAfter, status == 429 || status >= 500 {
                loop.responseHeaders.append("retry-after", String(seconds).utf8)
            }
            penalise(rejection)
        } else {
            if environment == .sandbox { loop.responseHeaders.append("apns-unique-id", loop.random.uuidText()) }
            limits.raise()
        }
        session?.respond(to: request, with: loop.responseHeaders)
    }

    private func penalise(_ rejection: Rejection) {
        // 410 is the sender doing its duty and is never held against it.
        guard (400..<500).contains(rejection.status), rejection.status != 410 else { return }
        let penalties = loop.options.penalties
        if penalties.dropsStreamLimit { limits.drop() }
        rejections += 1
        if rejection.reason == Rejection.badDeviceToken.reason { badDeviceTokens += 1 }
        guard
            rejections >= penalties.goAwayAfterRejections ?? .max
                || badDeviceTokens >= penalties.goAwayAfterBadDeviceTokens ?? .max
        else { return }
        startGracefulGoAway(reason: rejection.reason)
    }

    // MARK: Ends

    private func endingDue() -> Ending? {
        let faults = loop.faults
        if let limit = faults.resetAfter, requestsSeen >= limit { return .reset }
        if let limit = faults.goAwayAfter, faults.goAwayMode == .abrupt, requestsSeen >= limit {
            return .abruptGoAway(reason: faults.goAwayReason)
        }
        return nil
    }

    private func startGracefulGoAwayIfDue() {
        guard let limit = loop.faults.goAwayAfter, requestsSeen >= limit else { return }
        startGracefulGoAway(reason: loop.faults.goAwayReason)
    }

    func startGracefulGoAway(reason: String?) {
        guard !hasStartedGoAway, phase == .open else { return }
        hasStartedGoAway = true
        session?.submitShutdownNotice()
        loop.schedule(.finalGoAway(reason: reason), for: self, after: Int64(max(0, loop.faults.goAwayGraceMs)))
    }

    /// The second half: from here on new streams are ignored, and the connection ends with its last answer.
    func finalGoAwayDue(reason: String?) {
        guard phase == .open else { return }
        session?.submitGoAway(debug: ErrorBody.goAway(reason))
        flush()
    }

    func idleCheckDue() {
        guard phase == .open, let limit = loop.faults.idleCloseMs else { return }
        let idle = loop.monotonic - lastActivity
        guard idle >= Int64(limit) else {
            loop.schedule(.idleCheck, for: self, after: Int64(limit) - idle)
            return
        }
        if loop.faults.idleGoAway { session?.submitGoAway(debug: ErrorBody.goAway("IdleTimeout")) }
        finish()
    }

    /// New faults are in force: the limit is announced, streams beyond it go, idle time is watched.
    func faultsChanged() {
        guard phase == .open else { return }
        limits.setCap(loop.faults.maxConcurrentStreams)
        flush()
        guard phase == .open else { return }
        if loop.faults.refusesExcessStreams { refuseExcess() }
        if let limit = loop.faults.idleCloseMs { loop.schedule(.idleCheck, for: self, after: Int64(limit)) }
    }

    private func refuseExcess() {
        let open = requests.filter { $0.phase != .free }.sorted { $0.streamID > $1.streamID }
        for request in open.prefix(max(0, open.count - Int(limits.announced))) where request.phase != .answered {
            session?.refuse(request.streamID)
            loop.countRefusedStream()
        }
        flush()
    }

    /// A reset loses the answers of requests that were delivered all the same: they are what makes duplicates.
    func recordUnanswered() {
        for request in requests where request.phase == .waiting && request.outcome == nil {
            guard Int.random(in: 0..<100, using: &loop.random) < loop.faults.resetDeliveredPercent else { continue }
            loop.record(request, on: self, answered: false)
        }
    }
}

/// Status codes as text.
enum StatusText {
    private static let ok = Array("200".utf8)

    static func bytes(_ status: Int) -> [UInt8] {
        status == 200 ? ok : Array(String(status).utf8)
    }
}
