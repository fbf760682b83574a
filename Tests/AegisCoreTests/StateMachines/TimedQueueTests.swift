import AegisCore
import AegisTestKit
import Testing

@Suite struct TimedQueueTests {
    @Test func `nothing comes out before it is due`() {
        var queue = TimedQueue<Int, String>()
        queue.insert("later", due: 10)
        #expect(queue.popDue(at: 9) == nil)
        #expect(queue.nextDue == 10)
        #expect(queue.popDue(at: 10) == "later")
        #expect(queue.nextDue == nil)
    }

    @Test func `what is due at the same time comes out in the order it went in`() {
        var queue = TimedQueue<Int, Int>()
        for number in 0..<100 { queue.insert(number, due: 5) }
        var out: [Int] = []
        while let number = queue.popDue(at: 5) { out.append(number) }
        #expect(out == Array(0..<100))
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `it takes out what a sorted list would`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = TimedQueue<Int, Int>()
        var model: [(due: Int, number: Int)] = []
        var now = 0
        for number in 0..<2_000 {
            if Bool.random(using: &generator) {
                let due = now + Int.random(in: 0...20, using: &generator)
                queue.insert(number, due: due)
                model.append((due, number))
            } else {
                now += Int.random(in: 0...3, using: &generator)
                let expected = model.enumerated().filter { $0.element.due <= now }
                    .min { ($0.element.due, $0.element.number) < ($1.element.due, $1.element.number) }
                #expect(queue.popDue(at: now) == expected?.element.number)
                if let expected { model.remove(at: expected.offset) }
            }
            #expect(queue.count == model.count)
            #expect(queue.nextDue == model.map(\.due).min())
        }
    }
}
