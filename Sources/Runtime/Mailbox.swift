import Synchronization

/// Hands elements from threads to one task, in batches: the reader takes everything that is there with one wake-up.
///
/// Bounded by its users: whoever puts in knows what is outstanding.
package final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var reader: CheckedContinuation<[Element]?, Never>?
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Nothing is delivered after ``close()``; returns whether it was taken.
    @discardableResult
    package func put(_ elements: [Element]) -> Bool {
        guard !elements.isEmpty else { return true }
        let (reader, delivery, wasTaken): (CheckedContinuation<[Element]?, Never>?, [Element], Bool) = state.withLock {
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
        reader?.resume(returning: delivery)
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
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: [Element]?? = state.withLock { state in
                    if !state.elements.isEmpty {
                        let taken = state.elements
                        state.elements = []
                        return .some(taken)
                    }
                    if state.isClosed || state.reader != nil || Task.isCancelled { return .some(nil) }
                    state.reader = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }

    /// What is left can still be taken; then ``take()`` returns nil.
    package func close() {
        let reader = state.withLock { state in
            state.isClosed = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }
}
