/// A queue with two ends whose elements stay where they are: the first and the last are reached in constant time.
struct RingBuffer<Element> {
    private var storage: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        grow()
        storage[(head + count) % storage.count] = element
        count += 1
    }

    mutating func prepend(_ element: Element) {
        grow()
        head = (head + storage.count - 1) % storage.count
        storage[head] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = storage[head].take()
        head = (head + 1) % storage.count
        count -= 1
        return element
    }

    /// Takes out whatever `isChosen` says yes to, in order; the rest keeps its order.
    mutating func remove(where isChosen: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        var kept: [Element?] = []
        kept.reserveCapacity(storage.count)
        while let element = popFirst() {
            if isChosen(element) {
                removed.append(element)
            } else {
                kept.append(element)
            }
        }
        count = kept.count
        head = 0
        kept.append(contentsOf: repeatElement(nil, count: storage.count - kept.count))
        storage = kept
        return removed
    }

    private mutating func grow() {
        guard count == storage.count else { return }
        var larger: [Element?] = []
        let capacity = Swift.max(16, count * 2)
        larger.reserveCapacity(capacity)
        for position in 0..<count { larger.append(storage[(head + position) % count].take()) }
        larger.append(contentsOf: repeatElement(nil, count: capacity - count))
        storage = larger
        head = 0
    }
}

extension RingBuffer: Sendable where Element: Sendable {}
