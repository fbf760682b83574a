import AegisCore
import AegisTestKit
import Testing

@Suite struct SendSchedulerTests {
    @Test func `no window, no push`() throws {
        var desk = try Desk(window: 0)
        desk.submit(3)
        #expect(desk.next().send.isEmpty)
        desk.scheduler.setWindow(2)
        #expect(desk.next().send == [1, 2])
        #expect(desk.next().send.isEmpty)
        desk.answer(1)
        #expect(desk.next().send == [3])
    }

    @Test func `a window that shrinks below what is outstanding lets nothing go until there is room`() throws {
        var desk = try Desk(window: 3)
        desk.submit(5)
        #expect(desk.next().send == [1, 2, 3])
        desk.scheduler.setWindow(1)
        desk.answer(1)
        desk.answer(2)
        #expect(desk.next().send.isEmpty)
        desk.answer(3)
        #expect(desk.next().send == [4])
    }

    @Test func `one push at a time is in flight for a device, in the order they came`() throws {
        var desk = try Desk()
        desk.submit(1, device: 7)
        desk.submit(1, device: 7)
        desk.submit(1, device: 8)
        desk.submit(1, device: 7)
        #expect(desk.next().send == [1, 3])
        desk.answer(1)
        #expect(desk.next().send == [2])
        desk.answer(2)
        #expect(desk.next().send == [4])
    }

    @Test func `the rate holds what is ready and says when to ask again`() throws {
        var desk = try Desk(rate: 10, burst: 2)
        desk.submit(3)
        let turn = desk.next()
        #expect(turn.send == [1, 2])
        #expect(turn.isRateLimited)
        #expect(turn.wakeAt == desk.now.advanced(by: .milliseconds(100)))
        desk.advance(.milliseconds(100))
        #expect(desk.next().send == [3])
    }

    @Test func `an urgent push overtakes what is ready, and standard passes bulk without starving it`() throws {
        var desk = try Desk(window: 1)
        desk.submit(20, lane: .bulk)
        desk.submit(20, lane: .standard)
        desk.submit(1, lane: .urgent)
        #expect(desk.next().send == [41])
        desk.answer(41)
        var lanes: [Int] = []
        for _ in 0..<10 {
            let sent = try #require(desk.next().send.first)
            lanes.append(sent <= 20 ? 0 : 1)
            desk.answer(sent)
        }
        #expect(lanes.count { $0 == 0 } == 2)
    }

    @Test func `waiting for the rate costs an urgent push nothing of its share`() throws {
        var desk = try Desk(rate: 1, burst: 1)
        desk.submit(1)
        #expect(desk.next().send == [1])
        desk.submit(16, lane: .urgent)
        desk.submit(5, lane: .bulk)
        for _ in 0..<50 { #expect(desk.next().send.isEmpty) }
        var sent: [UInt64] = []
        for _ in 0..<16 {
            desk.advance(.seconds(1))
            sent += desk.next().send
        }
        #expect(sent == Array(2...17))
    }

    @Test func `an urgent push does not wait behind the bulk of its own device`() throws {
        var desk = try Desk()
        desk.submit(1, device: 1, lane: .bulk)
        desk.submit(2, device: 1, lane: .bulk)
        #expect(desk.next().send == [1])
        desk.submit(1, device: 1, lane: .urgent)
        #expect(desk.next().send.isEmpty)
        desk.answer(1)
        #expect(desk.next().send == [4])
        desk.answer(4)
        #expect(desk.next().send == [2])
    }

    // MARK: Answers

    @Test func `server errors are retried until the attempts are used up`() throws {
        var desk = try Desk(attempts: 3)
        desk.submit(1)
        for attempt in 1...3 {
            #expect(desk.next().send == [1])
            let verdict = desk.answer(1, 500)
            if attempt < 3 {
                guard case .again(let at?) = verdict else {
                    Issue.record("attempt \(attempt) was the last")
                    return
                }
                desk.advance(desk.now.duration(to: at))
            } else {
                #expect(verdict == .finished(.failed))
            }
        }
        #expect(desk.scheduler.count == 0)
    }

    @Test func `an overloaded server uses up no attempt`() throws {
        var desk = try Desk(attempts: 2, failureLimit: 1_000)
        desk.submit(1)
        for _ in 0..<50 {
            #expect(desk.next().send == [1])
            guard case .again(let at?) = desk.answer(1, 503) else {
                Issue.record("503 ended a push")
                return
            }
            // The rate was slowed down as well, so ask well after the time given.
            desk.advance(desk.now.duration(to: at) + .seconds(5))
        }
        #expect(desk.next().send == [1])
        #expect(desk.answer(1) == .finished(.accepted))
    }

    @Test func `a push that was certainly not processed goes out again at once and before its successors`() throws {
        var desk = try Desk()
        desk.submit(2, device: 1)
        #expect(desk.next().send == [1])
        #expect(desk.answer(1, .notProcessed) == .again(at: nil))
        #expect(desk.next().send == [1])
        desk.answer(1)
        #expect(desk.next().send == [2])
    }

    @Test func `what is held goes out in its order when the circuit closes`() throws {
        var desk = try Desk()
        desk.submit(1, device: 1)
        desk.submit(1, device: 2)
        desk.submit(1, device: 3)
        desk.submit(1, device: 1)
        desk.submit(1, device: 2)
        #expect(desk.next().send == [1, 2, 3])
        for ticket in [1, 2, 3] as [UInt64] {
            #expect(desk.answer(ticket, 403, "InvalidProviderToken") == .again(at: nil))
        }
        #expect(desk.scheduler.openCircuitReason == "InvalidProviderToken")
        #expect(desk.next().send.isEmpty)
        desk.scheduler.resetCircuits()
        #expect(desk.next().send == [1, 2, 3])
        for ticket in [3, 2, 1] as [UInt64] { desk.answer(ticket) }
        #expect(desk.next().send == [4, 5])
    }

    @Test func `a device that answered 429 waits with everything behind it, others do not`() throws {
        var desk = try Desk()
        desk.submit(2, device: 1)
        #expect(desk.next().send == [1])
        let verdict = desk.answer(1, 429, "TooManyRequests", retryAfter: .seconds(30))
        guard case .again(let at?) = verdict else {
            Issue.record("429 ended a push")
            return
        }
        #expect(at >= desk.now.advanced(by: .seconds(30)))
        desk.submit(1, device: 1)
        desk.submit(1, device: 2)
        #expect(desk.next().send == [4])
        desk.answer(4)
        desk.advance(.seconds(29))
        #expect(desk.next().send.isEmpty)
        desk.advance(desk.now.duration(to: at))
        #expect(desk.next().send == [1])
        desk.answer(1)
        #expect(desk.next().send == [2])
    }

    @Test func `what has expired in the queue frees what waits behind its device`() throws {
        var desk = try Desk()
        desk.submit(1, device: 1)
        desk.submit(1, device: 1, timeToLive: .seconds(5))
        desk.submit(1, device: 1)
        #expect(desk.next().send == [1])
        desk.advance(.seconds(6))
        desk.answer(1)
        let turn = desk.next()
        #expect(turn.expired == [2])
        #expect(turn.send == [3])
    }

    @Test func `a retry that would come after the expiry ends as expired`() throws {
        var desk = try Desk()
        desk.submit(1, timeToLive: .seconds(5))
        #expect(desk.next().send == [1])
        #expect(desk.answer(1, 429, "TooManyRequests", retryAfter: .seconds(10)) == .finished(.expired))
        #expect(desk.scheduler.count == 0)
    }

    @Test func `an answer to what is not in flight changes nothing`() throws {
        var desk = try Desk(window: 1)
        desk.submit(2)
        #expect(desk.next().send == [1])
        #expect(desk.answer(2) == .again(at: nil))
        #expect(desk.scheduler.outstandingCount == 1)
        #expect(desk.next().send.isEmpty)
    }

    // MARK: Circuits

    @Test func `an open circuit lets one probe through at its time, and everything after its success`() throws {
        var desk = try Desk()
        desk.scheduler.pause(because: "BadCertificate", at: desk.now)
        desk.submit(3)
        let held = desk.next()
        #expect(held.send.isEmpty)
        #expect(held.wakeAt == desk.now.advanced(by: .seconds(60)))
        desk.advance(.seconds(60))
        #expect(desk.next().send == [1])
        #expect(desk.next().send.isEmpty)
        desk.answer(1)
        #expect(desk.next().send == [2, 3])
    }

    @Test func `a probe is not spent while nothing can be sent`() throws {
        var desk = try Desk()
        desk.submit(1, timeToLive: .seconds(10))
        desk.scheduler.pause(because: "BadCertificate", at: desk.now)
        desk.advance(.seconds(60))
        #expect(desk.next().expired == [1])
        desk.submit(1)
        #expect(desk.next().send == [2])
    }

    @Test func `an empty scheduler lets new pushes come when its probe is due`() throws {
        var desk = try Desk()
        desk.scheduler.pause(because: "BadCertificate", at: desk.now)
        #expect(desk.scheduler.holdsBack(at: desk.now))
        desk.advance(.seconds(60))
        #expect(!desk.scheduler.holdsBack(at: desk.now))
        desk.submit(1)
        #expect(desk.scheduler.holdsBack(at: desk.now))
        #expect(desk.next().send == [1])
        desk.answer(1)
        #expect(!desk.scheduler.holdsBack(at: desk.now))
    }

    // MARK: Everything at once

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `every push ends exactly once, within the window and one at a time for a device`(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        var desk = try Desk(rate: 200, burst: 20, attempts: 4, seed: seed)
        var window = 10
        var inFlight: [UInt64] = []
        var ended: [UInt64: Int] = [:]
        var highest: [Int: UInt64] = [:]
        var submitted: UInt64 = 0
        var steps = 0
        while submitted < 300 || desk.scheduler.count > 0 {
            steps += 1
            try #require(steps < 100_000, "pushes are stuck: \(desk.scheduler.count) left")
            let isCalm = submitted == 300 && steps > 5_000
            if submitted < 300, Int.random(in: 0..<3, using: &chance) == 0 {
                desk.submit(
                    1, device: Int.random(in: 0..<12, using: &chance), lane: .standard,
                    timeToLive: Int.random(in: 0..<10, using: &chance) == 0 ? .seconds(20) : .seconds(1_000_000))
                submitted += 1
            }
            if Int.random(in: 0..<20, using: &chance) == 0 || isCalm {
                window = isCalm ? 10 : Int.random(in: 0...10, using: &chance)
                desk.scheduler.setWindow(window)
            }
            let turn = desk.next()
            for ticket in turn.expired { ended[ticket, default: 0] += 1 }
            if !turn.send.isEmpty { #expect(inFlight.count + turn.send.count <= window) }
            for ticket in turn.send {
                let device = desk.devices[ticket] ?? -1
                #expect(!inFlight.contains { desk.devices[$0] == device })
                // First attempts of a device leave in order.
                if desk.firstSend(ticket) {
                    #expect(ticket > highest[device] ?? 0)
                    highest[device] = ticket
                }
                inFlight.append(ticket)
            }
            if !inFlight.isEmpty, Bool.random(using: &chance) {
                let ticket = inFlight.remove(at: Int.random(in: 0..<inFlight.count, using: &chance))
                if case .finished = desk.answer(ticket, isCalm ? .ok : .random(using: &chance)) {
                    ended[ticket, default: 0] += 1
                }
            }
            #expect(desk.scheduler.outstandingCount == inFlight.count)
            if let wakeAt = turn.wakeAt, inFlight.isEmpty, turn.send.isEmpty, wakeAt > desk.now {
                desk.advance(desk.now.duration(to: wakeAt))
            } else {
                desk.advance(.milliseconds(Int.random(in: 0...30, using: &chance)))
            }
        }
        #expect(ended.count == 300)
        #expect(ended.values.allSatisfy { $0 == 1 })
    }
}

extension PushAnswer {
    fileprivate static let ok = PushAnswer.response(APNsResponse(status: 200))

    fileprivate static func of(_ status: Int, _ reason: String?, retryAfter: Duration? = nil) -> PushAnswer {
        .response(APNsResponse(status: status, reason: reason.map { APNsReason($0) }, retryAfter: retryAfter))
    }

    fileprivate static func random(using chance: inout SeededGenerator) -> PushAnswer {
        switch Int.random(in: 0..<20, using: &chance) {
        case 0: .of(500, "InternalServerError")
        case 1: .of(503, "ServiceUnavailable")
        case 2: .of(429, "TooManyRequests")
        case 3: .of(410, "Unregistered")
        case 4: .of(400, "PayloadEmpty")
        case 5: .of(403, "InvalidProviderToken")
        case 6, 7: .notProcessed
        case 8: .unknown(.connectionLost)
        case 9: .of(400, "TopicDisallowed")
        default: .ok
        }
    }
}

/// A scheduler with a clock and numbered pushes: 1, 2, 3 and so on, each for a device of its own unless said otherwise.
private struct Desk {
    var scheduler: SendScheduler<TestInstant>
    var now = TestInstant.start
    var wall = UnixTime(milliseconds: 1_764_504_000_000)
    var devices: [UInt64: Int] = [:]
    private var sent: Set<UInt64> = []
    private var numbers: UInt64 = 0
    private let tokens: [DeviceToken]
    private var chance: SeededGenerator

    init(
        window: Int = 100, rate: Int = 100_000, burst: Int = 1_000, attempts: Int = 8, failureLimit: Int = 20,
        seed: UInt64 = 1
    ) throws {
        scheduler = SendScheduler(
            settings: SendScheduler<TestInstant>.Settings(
                rate: rate, burst: burst, retry: RetrySchedule(maxAttempts: attempts),
                circuit: SendScheduler<TestInstant>.CircuitSettings(failureLimit: failureLimit)),
            at: now)
        scheduler.setWindow(window)
        tokens = try DeviceToken.distinct(1_000)
        chance = SeededGenerator(seed: seed)
    }

    mutating func submit(
        _ count: Int, device: Int? = nil, lane: Lane = .standard, timeToLive: Duration = .seconds(1_000_000)
    ) {
        let items = (0..<count).map { _ in
            numbers += 1
            let number = device ?? Int(numbers) + 100
            devices[numbers] = number
            return SendScheduler<TestInstant>.Item(
                ticket: numbers, token: tokens[number], lane: lane, expiresAt: wall.advanced(by: timeToLive))
        }
        scheduler.submit(items)
    }

    mutating func next() -> SendScheduler<TestInstant>.Turn { scheduler.next(at: now, wall: wall) }

    /// Whether the push goes out for the first time.
    mutating func firstSend(_ ticket: UInt64) -> Bool { sent.insert(ticket).inserted }

    @discardableResult
    mutating func answer(
        _ ticket: UInt64, _ status: Int = 200, _ reason: String? = nil, retryAfter: Duration? = nil
    ) -> SendScheduler<TestInstant>.Verdict {
        answer(ticket, .of(status, reason, retryAfter: retryAfter))
    }

    mutating func answer(_ ticket: UInt64, _ answer: PushAnswer) -> SendScheduler<TestInstant>.Verdict {
        var retryAfter: Duration?
        if case .response(let response) = answer { retryAfter = response.retryAfter }
        return scheduler.answered(
            ticket, APNsDisposition.of(answer), retryAfter: retryAfter, reason: Self.reason(of: answer), at: now,
            wall: wall, using: &chance)
    }

    private static func reason(of answer: PushAnswer) -> String {
        guard case .response(let response) = answer else { return "transport" }
        return response.reason?.text ?? "\(response.status)"
    }

    mutating func advance(_ duration: Duration) {
        now = now.advanced(by: duration)
        wall = wall.advanced(by: duration)
    }
}
