import AegisContent
package import AegisCore
package import AegisPorts

/// Drives one ``SendScheduler`` for each app and environment through the gateway: deliveries in, results out, in batches.
package actor Dispatcher {
    private let gateway: any PushGateway
    private let badges: BadgeBoard
    private let clock: any TimeSource
    private let meter: any Meter
    private let log: any Log
    private var schedulers: [AppKey: SendScheduler<MonotonicTime>]
    private var deliveries: [UInt64: Delivery] = [:]
    private var attempts: [UInt64: Int] = [:]
    private var generator = SystemChance()
    private var announcedCircuits: [AppKey: String] = [:]
    private var limitedSince: [AppKey: MonotonicTime] = [:]
    private var unreachable: [AppKey: String] = [:]

    private var finished = DispatchResults()
    private var reader: CheckedContinuation<DispatchResults?, Never>?
    private var isClosed = false

    private var timer: Task<Void, Never>?
    private var timerDeadline: MonotonicTime?

    package init(
        apps: [AppKey: SendScheduler<MonotonicTime>.Settings], gateway: any PushGateway, badges: BadgeBoard,
        clock: any TimeSource, meter: any Meter, log: any Log
    ) {
        self.gateway = gateway
        self.badges = badges
        self.clock = clock
        self.meter = meter
        self.log = log
        let now = clock.uptime()
        schedulers = apps.mapValues { SendScheduler(settings: $0, at: now) }
    }

    /// Reads the gateway's signals until it closes.
    package func run() async {
        while let signals = await gateway.signals() {
            var touched: Set<AppKey> = []
            for signal in signals {
                take(signal, touched: &touched)
            }
            pump(touched)
        }
        isClosed = true
        timer?.cancel()
        timer = nil
        deliverResults()
        reader?.resume(returning: nil)
        reader = nil
    }

    package func submit(_ batch: [Delivery]) {
        var byApp: [AppKey: [SendScheduler<MonotonicTime>.Item]] = [:]
        for delivery in batch {
            guard schedulers[delivery.app] != nil else {
                // Nobody would ever send it, and its record would wait for ever.
                finish(delivery, .failed, response: nil, disposition: nil)
                continue
            }
            deliveries[delivery.ticket] = delivery
            byApp[delivery.app, default: []].append(item(of: delivery))
        }
        for (app, items) in byApp { schedulers[app]?.submit(items) }
        pump(Set(byApp.keys))
    }

    /// Tries once more, a while from now, what a 410 ended although the device has registered since.
    package func giveAnotherChance(_ batch: [DeliveryResult], after delay: Duration) {
        let now = clock.uptime()
        for result in batch {
            var delivery = result.delivery
            delivery.wasGivenAnotherChance = true
            deliveries[delivery.ticket] = delivery
            attempts[delivery.ticket] = result.attempts
            schedulers[delivery.app]?.resubmit(item(of: delivery), after: delay, at: now)
        }
        pump(Set(batch.map(\.delivery.app)))
    }

    /// What has ended since the last call, at least one; nil after the gateway has closed.
    package func results() async -> DispatchResults? {
        if !finished.isEmpty {
            defer { finished = DispatchResults() }
            return finished
        }
        guard !isClosed, reader == nil else { return nil }
        return await withCheckedContinuation { reader = $0 }
    }

    /// Why pushes are held, by app and environment.
    package var openCircuits: [AppKey: String] {
        schedulers.compactMapValues(\.openCircuitReason)
    }

    /// Why there is no connection, by app and environment.
    package var unreachableApps: [AppKey: String] { unreachable }

    /// Whether new pushes would only pile up, whichever app they are for: every circuit is open and has no use for a probe.
    package var holdsEverythingBack: Bool {
        let now = clock.uptime()
        return !schedulers.isEmpty && schedulers.values.allSatisfy { $0.holdsBack(at: now) }
    }

    /// New credentials: what was refused before may pass now.
    package func credentialsChanged() {
        let apps = Set(schedulers.keys)
        for app in apps { schedulers[app]?.resetCircuits() }
        gateway.reloadCredentials(of: apps)
        pump(apps)
    }

    private func item(of delivery: Delivery) -> SendScheduler<MonotonicTime>.Item {
        SendScheduler<MonotonicTime>.Item(
            ticket: delivery.ticket, token: delivery.planned.device.registration.token, lane: delivery.lane,
            expiresAt: delivery.planned.expiresAt)
    }
}

// MARK: - Signals of the gateway

extension Dispatcher {
    private func take(_ signal: GatewaySignal, touched: inout Set<AppKey>) {
        switch signal {
        case .answered(let reports):
            let now = clock.uptime()
            let wall = clock.now()
            for report in reports {
                guard let delivery = deliveries[report.ticket] else { continue }
                touched.insert(delivery.app)
                let sentAt = wall.advanced(by: .zero - report.duration)
                answered(delivery, report.answer, sentAt: sentAt, at: now, wall: wall)
            }
            for app in touched { convict(tokensOf: app) }
            meter.observe(reports.map { $0.duration.seconds }, in: .apnsRequestDuration, [])
        case .window(let app, let size):
            schedulers[app]?.setWindow(size)
            if size > 0, unreachable.removeValue(forKey: app) != nil {
                log.info("APNs is reachable again", ["app": .text(app.description)])
            }
            touched.insert(app)
        case .unreachable(let app, let error):
            unreachable[app] = error.detail
            log.error(
                "APNs cannot be reached; pushes wait",
                ["app": .text(app.description), "detail": .text(error.description)])
        case .refused(let app, let reason):
            schedulers[app]?.pause(because: reason.text, at: clock.uptime())
            touched.insert(app)
        }
    }

    private func answered(
        _ delivery: Delivery, _ answer: PushAnswer, sentAt: UnixTime, at now: MonotonicTime, wall: UnixTime
    ) {
        var disposition = APNsDisposition.of(answer)
        if disposition.device == .prune(goneAt: nil) {
            // APNs said not since when: what was registered before the push left is gone, what came after is not known.
            disposition.device = .prune(goneAt: sentAt.advanced(by: .milliseconds(1)))
        }
        var response: APNsResponse?
        let reason: String
        switch answer {
        case .response(let answered):
            response = answered
            reason = answered.reason?.text ?? "\(answered.status)"
            let label = answered.reason.map { APNsDisposition.of($0) == nil ? "other" : $0.text } ?? ""
            meter.add(
                1, to: .apnsResponses,
                [delivery.app.app.text, delivery.app.environment.rawValue, "\(answered.status)", label])
        case .notProcessed: reason = "not_processed"
        case .unknown(let fate): reason = fate.rawValue
        case .unsendable(let fault): reason = fault
        }
        if answer != .notProcessed { attempts[delivery.ticket, default: 0] += 1 }
        let verdict = schedulers[delivery.app]?.answered(
            delivery.ticket, disposition, retryAfter: response?.retryAfter, reason: reason, at: now, wall: wall,
            using: &generator)
        switch verdict {
        case .finished(let outcome):
            finish(delivery, outcome, response: response, disposition: disposition)
        case .again:
            meter.add(1, to: .apnsRetries, [response?.reason == nil ? "transport" : reason])
        case nil:
            break
        }
    }

    /// Names the tokens that are bad beyond doubt, now that others of the app were accepted.
    private func convict(tokensOf app: AppKey) {
        guard let tokens = schedulers[app]?.takeBadTokens(), !tokens.isEmpty else { return }
        for (token, reason) in tokens {
            finished.badTokens.append(DispatchResults.BadToken(app: app, token: token, reason: reason))
        }
    }

    private func finish(
        _ delivery: Delivery, _ outcome: DeliveryOutcome, response: APNsResponse?, disposition: APNsDisposition?
    ) {
        deliveries[delivery.ticket] = nil
        finished.deliveries.append(
            DeliveryResult(
                delivery: delivery, outcome: outcome, response: response, device: disposition?.device ?? .keep,
                attempts: attempts.removeValue(forKey: delivery.ticket) ?? 0, endedAt: clock.now(),
                alerts: disposition?.alerts ?? false))
    }

    private func deliverResults() {
        guard !finished.isEmpty, let reader else { return }
        self.reader = nil
        reader.resume(returning: finished)
        finished = DispatchResults()
    }
}

// MARK: - Sending

extension Dispatcher {
    private func pump(_ apps: Set<AppKey>) {
        let now = clock.uptime()
        let wall = clock.now()
        var pushes: [Push] = []
        for app in apps {
            guard let turn = schedulers[app]?.next(at: now, wall: wall) else { continue }
            for ticket in turn.send {
                guard let delivery = deliveries[ticket] else { continue }
                pushes.append(push(of: delivery))
            }
            for ticket in turn.expired {
                guard let delivery = deliveries[ticket] else { continue }
                finish(delivery, .expired, response: nil, disposition: nil)
            }
            measureRateLimit(of: app, isLimited: turn.isRateLimited, at: now)
            announceCircuit(of: app)
            if let wakeAt = turn.wakeAt { wake(at: wakeAt) }
        }
        if !pushes.isEmpty { gateway.send(pushes) }
        deliverResults()
    }

    private func push(of delivery: Delivery) -> Push {
        let planned = delivery.planned
        let payload = planned.rendered.payload
        return Push(
            ticket: delivery.ticket, app: delivery.app, token: planned.device.registration.token, id: planned.pushID,
            topic: planned.topic, type: planned.type, priority: planned.priority, expiration: .at(planned.expiresAt),
            collapseID: planned.collapseID,
            payload: payload.badgeOffset == nil
                ? payload.bytes : payload.bytes(badge: badges.count(of: delivery.user, delivery.app.app)))
    }

    private func wake(at deadline: MonotonicTime) {
        guard !isClosed else { return }
        if let timerDeadline, timerDeadline <= deadline, timer != nil { return }
        timer?.cancel()
        timerDeadline = deadline
        timer = Task { [clock] in
            do {
                try await clock.sleep(until: deadline)
            } catch {
                return
            }
            self.timerFired()
        }
    }

    private func timerFired() {
        timer = nil
        timerDeadline = nil
        pump(Set(schedulers.keys))
    }

    private func measureRateLimit(of app: AppKey, isLimited: Bool, at now: MonotonicTime) {
        if let since = limitedSince[app] {
            let waited = since.duration(to: now)
            // A wait that goes on is told second by second, one that ended to its last fraction.
            guard !isLimited || waited >= .seconds(1) else { return }
            meter.observe([waited.seconds], in: .rateLimitWait, [])
            limitedSince[app] = isLimited ? now : nil
        } else if isLimited {
            limitedSince[app] = now
        }
    }

    /// Tells operators once when a circuit opens and once when it closes.
    private func announceCircuit(of app: AppKey) {
        let reason = schedulers[app]?.openCircuitReason
        guard (announcedCircuits[app] == nil) != (reason == nil) else { return }
        announcedCircuits[app] = reason
        meter.set(reason == nil ? 0 : 1, of: .circuitOpen, [app.app.text, app.environment.rawValue])
        if let reason {
            log.error("Circuit opened: pushes wait", ["app": .text(app.description), "reason": .text(reason)])
        } else {
            log.info("Circuit closed: pushes flow", ["app": .text(app.description)])
        }
    }
}
