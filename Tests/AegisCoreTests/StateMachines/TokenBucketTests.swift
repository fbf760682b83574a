import AegisCore
import AegisTestKit
import Testing

@Suite struct TokenBucketTests {
    private let start = TestInstant.start

    @Test func `a full bucket gives its burst and then its rate`() {
        var bucket = TokenBucket(rate: 100, burst: 20, at: start)
        #expect(bucket.take(upTo: 50, at: start) == 20)
        #expect(bucket.take(upTo: 1, at: start) == 0)
        #expect(bucket.take(upTo: 50, at: start + .milliseconds(100)) == 10)
        #expect(bucket.take(upTo: 50, at: start + .seconds(3_600)) == 20)
    }

    @Test func `it takes no more than was asked for`() {
        var bucket = TokenBucket(rate: 10, burst: 10, at: start)
        #expect(bucket.take(upTo: 3, at: start) == 3)
        #expect(bucket.take(upTo: 0, at: start) == 0)
        #expect(bucket.take(upTo: -4, at: start) == 0)
        #expect(bucket.take(upTo: 10, at: start) == 7)
        bucket.giveBack(2)
        bucket.giveBack(-2)
        #expect(bucket.take(upTo: 10, at: start) == 2)
    }

    @Test func `the next refill is the first moment at which one can be taken`() {
        var bucket = TokenBucket(rate: 3, burst: 1, at: start)
        #expect(bucket.nextRefill(at: start) == start)
        #expect(bucket.take(upTo: 1, at: start) == 1)
        let next = bucket.nextRefill(at: start)
        #expect(bucket.take(upTo: 1, at: next.advanced(by: .nanoseconds(-1))) == 0)
        #expect(bucket.take(upTo: 1, at: next) == 1)
    }

    @Test func `a changed rate holds from then on and a smaller burst takes the credit with it`() {
        var bucket = TokenBucket(rate: 10, burst: 100, at: start)
        bucket.change(rate: 1_000, burst: 5, at: start)
        #expect(bucket.take(upTo: 100, at: start) == 5)
        #expect(bucket.take(upTo: 100, at: start + .milliseconds(4)) == 4)
    }

    @Test func `slowing halves the rate once a second and it recovers in a straight line`() {
        var bucket = TokenBucket(rate: 1_000, burst: 1_000, recovery: .seconds(60), at: start)
        for _ in 0..<50 { bucket.slow(at: start) }
        #expect(bucket.share(at: start) == 500)
        #expect(bucket.take(upTo: 2_000, at: start) == 500)
        #expect(bucket.share(at: start + .seconds(15)) == 750)
        #expect(bucket.share(at: start + .seconds(30)) == 1_000)
        bucket.slow(at: start + .seconds(15))
        #expect(bucket.share(at: start + .seconds(15)) == 375)
    }

    @Test func `slowing never stops an app`() {
        var bucket = TokenBucket(rate: 1, burst: 1, at: start)
        for second in 0..<100 { bucket.slow(at: start + .seconds(second)) }
        let later = start + .seconds(100)
        #expect(bucket.share(at: later) >= 10)
        let next = bucket.nextRefill(at: later)
        #expect(bucket.take(upTo: 1, at: next) == 1)
    }

    @Test func `a clock that stands still or goes back gives nothing`() {
        var bucket = TokenBucket(rate: 1_000, burst: 1, at: start)
        #expect(bucket.take(upTo: 1, at: start) == 1)
        #expect(bucket.take(upTo: 1, at: start + .seconds(-10)) == 0)
        #expect(bucket.take(upTo: 1, at: start + .milliseconds(1)) == 1)
    }

    @Test func `absurd settings do not trap`() {
        var large = TokenBucket(rate: .max, burst: .max, at: start)
        #expect(large.take(upTo: .max, at: start) == 1_000_000_000)
        #expect(large.take(upTo: .max, at: start + .seconds(1_000_000_000)) == 1_000_000_000)
        var small = TokenBucket(rate: .min, burst: 0, recovery: .zero, at: start)
        small.slow(at: start)
        #expect(small.rate == 1)
        #expect(small.burst == 1)
        let endless = TokenBucket(rate: 1, burst: 1, recovery: .seconds(Int64.max), at: start)
        #expect(endless.share(at: start + .seconds(Int64.max / 2)) == 1_000)
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func `however it is asked, no interval gets more than burst and rate allow, and none is lost`(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let rate = Int.random(in: 1...5_000, using: &chance)
        let burst = Int.random(in: 1...500, using: &chance)
        var bucket = TokenBucket(rate: rate, burst: burst, at: start)
        var now = start
        var taken = bucket.take(upTo: .max, at: start)
        for _ in 0..<2_000 {
            now = now.advanced(by: .nanoseconds(Int64.random(in: 0...2_000_000, using: &chance)))
            taken += bucket.take(upTo: .max, at: now)
            let earned = Int(now.offset.wholeNanoseconds) * rate / 1_000_000_000
            #expect(taken <= burst + earned)
        }
        // Taken as fast as it comes, credit is never cut off by the burst unless one step earns more than the burst.
        if burst > rate / 500 + 1 {
            #expect(taken == burst + Int(now.offset.wholeNanoseconds) * rate / 1_000_000_000)
        }
    }
}
