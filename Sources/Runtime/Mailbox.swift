/// Hands elements from threads to one task, in batches: the reader takes everything that is there with one wake-up.
///
/// Bounded by its users: whoever puts in knows what is outstanding.
package final class Mailbox<Element: Sendable>: Sendable {
    private struct Reader {
        let number: UInt64
        let continuation: CheckedContinuation<[Element]?, Never>
    }

    private struct State {
        var elements: [Element] = []
        var reader: Reader?
        var calls: UInt64 = 0
        var isClosed = false
    }

    private let state = Lock(State())

    package init() {}

    /// Nothing is delivered after ``close()``; returns whether it was taken.
    @discardableResult
    package func put(_ elements: [Element]) -> Bool {
        guard !elements.isEmpty else { return true }
        let (reader, delivery, wasTaken): (Reader?, [Element], Bool) = state.withLock {
            state in
            guard !state.isClosed else { return (nil, [], false) }
            guard let reader = state.reader else {
                state.elements.append(contentsOf: elements)
                return (nil, [], true)
            }
            // A reader waits only while the box is empty.
            state.reader = nil
            return (reader, elements, true)
        }
        reader?.continuation.resume(returning: delivery)
        return wasTaken
    }

    @discardableResult
    package func put(_ element: Element) -> Bool {
        put([element])
    }

    /// Everything that is there, waiting for at least one; nil once closed and empty, or when the task is cancelled.
    ///
    /// One reader at a time: a second one that waits meanwhile gets nil.
    package func take() async -> [Element]? {
        // Cancellation ends the wait of this call alone, not that of another reader.
        let number = state.withLock { state in
            state.calls &+= 1
            return state.calls
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: [Element]?? = state.withLock { state in
                    if !state.elements.isEmpty {
                        let taken = state.elements
                        state.elements = []
                        return .some(taken)
                    }
                    if state.isClosed || state.reader != nil || Task.isCancelled { return .some(nil) }
                    state.reader = Reader(number: number, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let reader: Reader? = state.withLock { state in
                guard state.reader?.number == number else { return nil }
                defer { state.reader = nil }
                return state.reader
            }
            reader?.continuation.resume(returning: nil)
        }
    }

    /// What is left can still be taken; then ``take()`` returns nil.
    package func close() {
        let reader = state.withLock { state in
            state.isClosed = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.continuation.resume(returning: nil)
    }
}
