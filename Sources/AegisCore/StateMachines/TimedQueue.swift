/// What comes due later, soonest first; among equals, first in first out.
///
/// A binary heap.
package struct TimedQueue<Instant: Comparable & Sendable, Element: Sendable>: Sendable {
    private struct Entry: Sendable {
        let due: Instant
        let order: UInt64
        let element: Element

        static func < (left: Entry, right: Entry) -> Bool {
            left.due == right.due ? left.order < right.order : left.due < right.due
        }
    }

    private var heap: [Entry] = []
    private var nextOrder: UInt64 = 0

    package init() {}

    package var count: Int { heap.count }
    package var nextDue: Instant? { heap.first?.due }

    package mutating func insert(_ element: Element, due: Instant) {
        heap.append(Entry(due: due, order: nextOrder, element: element))
        nextOrder &+= 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child] < heap[parent] else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the next element that is due at `now`, or nil.
    package mutating func popDue(at now: Instant) -> Element? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first.element }
        heap[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[smallest] {
                smallest = child
            }
            guard smallest != parent else { return first.element }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
