import Synchronization

/// Carries elements from any thread to one consumer; a full mailbox drops and counts instead of making anyone wait.
package final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var dropped = 0
        var droppedInAll = 0
        var isClosed = false
        /// Whether the consumer has been woken for what is in `elements`.
        var isSignalled = false
    }

    /// The elements that the consumer finds when it looks.
    package struct Batch: Sendable {
        package var elements: [Element]
        /// Elements that found the mailbox full since the last batch.
        package var dropped: Int
        /// Whether nothing more will come.
        package var isLast: Bool
    }

    private let capacity: Int
    private let state = Mutex(State())
    private let event: EventDescriptor
    private let wake: @Sendable (EventDescriptor) -> Void

    /// Fails when the process has no descriptor left.
    ///
    /// `wake` signals the descriptor that the consumer waits on, on the thread of whoever offers.
    package init?(
        capacity: Int,
        wake: @escaping @Sendable (EventDescriptor) -> Void = { $0.signal() }
    ) {
        guard let event = EventDescriptor() else { return nil }
        self.event = event
        self.capacity = capacity
        self.wake = wake
    }

    /// Elements that found the mailbox full, ever.
    package var dropped: Int { state.withLock { $0.droppedInAll } }

    /// Leaves an element for the consumer.
    ///
    /// A vital one is accepted even when the mailbox is full; for the few elements whose number is bounded by
    /// whoever sends them. An urgent one wakes the consumer itself: of others only the first does, and its thread may
    /// be held before it comes to that.
    ///
    /// - Returns: false when it was dropped.
    @discardableResult
    package func offer(_ element: Element, isVital: Bool = false, isUrgent: Bool = false) -> Bool {
        let (accepted, wakes) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            guard isVital || state.elements.count < capacity else {
                state.dropped += 1
                state.droppedInAll += 1
                return (false, false)
            }
            state.elements.append(element)
            defer { state.isSignalled = true }
            return (true, isUrgent || !state.isSignalled)
        }
        if wakes { wake(event) }
        return accepted
    }

    /// Ends the consumer's work once it has taken what is there.
    package func close() {
        state.withLock { $0.isClosed = true }
        event.signal()
    }

    /// Waits for elements and takes them all; empty when the time was up.
    package func take(milliseconds: Int32?) -> Batch {
        if let batch = takeNow() { return batch }
        event.wait(milliseconds: milliseconds)
        return takeNow() ?? Batch(elements: [], dropped: 0, isLast: false)
    }

    /// The batch that is there, or nil when there is nothing and more may come.
    package func takeNow() -> Batch? {
        state.withLock { state in
            state.isSignalled = false
            guard !state.elements.isEmpty || state.dropped > 0 || state.isClosed else { return nil }
            let batch = Batch(elements: state.elements, dropped: state.dropped, isLast: state.isClosed)
            state.elements = []
            state.dropped = 0
            return batch
        }
    }
}
