/// What is due when: a binary heap, earliest first, first in first out within a millisecond.
struct TimerQueue {
    private struct Entry {
        let due: Int64
        let order: Int
        let connection: Int
        let event: EventLoop.TimerEvent

        func isBefore(_ other: Entry) -> Bool {
            due != other.due ? due < other.due : order < other.order
        }
    }

    private var heap: [Entry] = []
    private var inserted = 0

    /// For epoll: -1 if nothing is due ever.
    func millisecondsUntilNext(from now: Int64) -> Int32 {
        guard let first = heap.first else { return -1 }
        return Int32(clamping: max(0, first.due - now))
    }

    mutating func insert(_ event: EventLoop.TimerEvent, connection: Int, due: Int64) {
        inserted += 1
        heap.append(Entry(due: due, order: inserted, connection: connection, event: event))
        var index = heap.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].isBefore(heap[parent]) else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    mutating func popDue(at now: Int64) -> (event: EventLoop.TimerEvent, connection: Int)? {
        guard let first = heap.first, first.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            var smallest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].isBefore(heap[smallest]) {
                smallest = child
            }
            guard smallest != index else { break }
            heap.swapAt(index, smallest)
            index = smallest
        }
        return (first.event, first.connection)
    }
}
