/// Three bounded queues, one a lane, emptied by weight: urgent first, without starving bulk.
///
/// A round takes from each lane as many as its weight says, the most urgent first; a lane with nothing to give leaves its
/// share to the others. Each element is one delivery.
package struct LaneQueue<Element> {
    /// One number a lane.
    package struct PerLane: Hashable, Sendable {
        package var urgent: Int
        package var standard: Int
        package var bulk: Int

        package init(urgent: Int, standard: Int, bulk: Int) {
            self.urgent = urgent
            self.standard = standard
            self.bulk = bulk
        }

        package subscript(lane: Lane) -> Int {
            get {
                switch lane {
                case .urgent: urgent
                case .standard: standard
                case .bulk: bulk
                }
            }
            set {
                switch lane {
                case .urgent: urgent = newValue
                case .standard: standard = newValue
                case .bulk: bulk = newValue
                }
            }
        }
    }

    /// How many deliveries each lane holds at most.
    package let capacities: PerLane
    private let weights: PerLane
    /// What is left of the round.
    private var shares: PerLane
    private var urgent = RingBuffer<Element>()
    private var standard = RingBuffer<Element>()
    private var bulk = RingBuffer<Element>()

    /// - Parameter weights: Each at least 1, so that no lane starves.
    package init(capacities: PerLane, weights: PerLane = PerLane(urgent: 16, standard: 4, bulk: 1)) {
        self.capacities = capacities
        self.weights = PerLane(
            urgent: max(1, weights.urgent), standard: max(1, weights.standard), bulk: max(1, weights.bulk))
        shares = self.weights
    }

    /// Puts one at the end of its lane; false, and nothing done, when the lane is full.
    package mutating func push(_ element: Element, _ lane: Lane) -> Bool {
        guard room(in: lane) > 0 else { return false }
        withQueue(lane) { $0.append(element) }
        return true
    }

    /// Puts one back where it came from; what was in once has its place, full or not.
    package mutating func pushFront(_ element: Element, _ lane: Lane) {
        withQueue(lane) { $0.prepend(element) }
    }

    /// Takes up to `limit`, as the weights say, each lane's in order.
    package mutating func pop(_ limit: Int) -> [Element] {
        var taken: [Element] = []
        taken.reserveCapacity(min(max(0, limit), count))
        while taken.count < limit, let element = popOne() { taken.append(element) }
        return taken
    }

    /// Takes out whatever `isChosen` says yes to, the most urgent lane first.
    package mutating func remove(where isChosen: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        for lane in Lane.allCases { removed += withQueue(lane) { $0.remove(where: isChosen) } }
        return removed
    }

    package var count: Int { urgent.count + standard.count + bulk.count }

    package var isEmpty: Bool { count == 0 }

    package func count(in lane: Lane) -> Int {
        switch lane {
        case .urgent: urgent.count
        case .standard: standard.count
        case .bulk: bulk.count
        }
    }

    /// How many more the lane takes.
    package func room(in lane: Lane) -> Int {
        max(0, capacities[lane] - count(in: lane))
    }

    private mutating func popOne() -> Element? {
        guard !isEmpty else { return nil }
        while true {
            if let element = popOne(from: .urgent) ?? popOne(from: .standard) ?? popOne(from: .bulk) { return element }
            // Whoever has something left has used up its share: the next round begins.
            shares = weights
        }
    }

    private mutating func popOne(from lane: Lane) -> Element? {
        guard shares[lane] > 0, let element = withQueue(lane, { $0.popFirst() }) else { return nil }
        shares[lane] -= 1
        return element
    }

    private mutating func withQueue<Result>(_ lane: Lane, _ body: (inout RingBuffer<Element>) -> Result) -> Result {
        switch lane {
        case .urgent: body(&urgent)
        case .standard: body(&standard)
        case .bulk: body(&bulk)
        }
    }
}

extension LaneQueue: Sendable where Element: Sendable {}
