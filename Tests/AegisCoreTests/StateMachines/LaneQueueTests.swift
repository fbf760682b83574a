import AegisCore
import AegisTestKit
import Testing

@Suite struct LaneQueueTests {
    private func queue(capacity: Int = 1_000) -> LaneQueue<Int> {
        LaneQueue(capacities: .init(urgent: capacity, standard: capacity, bulk: capacity))
    }

    @Test func `each lane keeps its order and the urgent one goes first`() {
        var queue = queue()
        for number in 0..<3 {
            #expect(queue.push(200 + number, .bulk) == true)
            #expect(queue.push(100 + number, .standard) == true)
            #expect(queue.push(number, .urgent) == true)
        }
        #expect(queue.pop(5) == [0, 1, 2, 100, 101])
        #expect(queue.pop(9) == [102, 200, 201, 202])
        #expect(queue.pop(1).isEmpty)
        #expect(queue.isEmpty)
    }

    @Test func `under load every lane has its weight, across calls`() {
        var queue = queue()
        for _ in 0..<500 {
            for (number, lane) in Lane.allCases.enumerated() { #expect(queue.push(number, lane) == true) }
        }
        var taken: [Int] = []
        while taken.count < 210 { taken += queue.pop(7) }
        #expect(Lane.allCases.indices.map { lane in taken.filter { $0 == lane }.count } == [160, 40, 10])
        #expect(queue.count(in: .bulk) == 490)
    }

    @Test func `an urgent one overtakes a bulk of any size`() {
        var queue = queue()
        for _ in 0..<1_000 { #expect(queue.push(2, .bulk) == true) }
        #expect(queue.pop(333).count == 333)
        #expect(queue.push(0, .urgent) == true)
        #expect(queue.pop(2).contains(0))
    }

    @Test func `a full lane refuses, the others do not, and what comes back has its place`() {
        var queue = queue(capacity: 2)
        #expect(queue.push(1, .standard) == true)
        #expect(queue.push(2, .standard) == true)
        #expect(queue.push(3, .standard) == false)
        #expect(queue.room(in: .standard) == 0)
        #expect(queue.push(4, .bulk) == true)
        queue.pushFront(0, .standard)
        #expect(queue.count(in: .standard) == 3)
        #expect(queue.room(in: .standard) == 0)
        #expect(queue.pop(4) == [0, 1, 2, 4])
        #expect(queue.room(in: .standard) == 2)
    }

    @Test func `what is taken out by a rule leaves the rest in order`() {
        var queue = queue()
        for number in 0..<40 { #expect(queue.push(number, number < 20 ? .bulk : .urgent) == true) }
        #expect(queue.pop(3) == [20, 21, 22])
        #expect(queue.remove { $0.isMultiple(of: 10) } == [30, 0, 10])
        #expect(queue.count == 34)
        #expect(queue.pop(8) == [23, 24, 25, 26, 27, 28, 29, 31])
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func `each lane behaves as an array would`(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var queue = LaneQueue<(lane: Lane, number: Int)>(capacities: .init(urgent: 20, standard: 30, bulk: 40))
        var model: [Lane: [Int]] = [:]
        for number in 0..<3_000 {
            guard let lane = Lane.allCases.randomElement(using: &chance) else { return }
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<5:
                let fits = model[lane, default: []].count < queue.capacities[lane]
                #expect(queue.push((lane, number), lane) == fits)
                if fits { model[lane, default: []].append(number) }
            case 5:
                queue.pushFront((lane, number), lane)
                model[lane, default: []].insert(number, at: 0)
            case 6:
                let divisor = Int.random(in: 2...9, using: &chance)
                let removed = queue.remove { $0.number.isMultiple(of: divisor) }
                let expected = Lane.allCases.flatMap { lane in
                    model[lane, default: []].filter { $0.isMultiple(of: divisor) }
                }
                #expect(removed.map(\.number) == expected)
                for lane in Lane.allCases { model[lane]?.removeAll { $0.isMultiple(of: divisor) } }
            default:
                for taken in queue.pop(Int.random(in: -1...6, using: &chance)) {
                    #expect(model[taken.lane]?.first == taken.number)
                    model[taken.lane]?.removeFirst()
                }
            }
            for lane in Lane.allCases { #expect(queue.count(in: lane) == model[lane, default: []].count) }
        }
    }
}
