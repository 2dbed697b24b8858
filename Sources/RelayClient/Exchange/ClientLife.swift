import Synchronization

/// The exchanges under way at a client, so that its shutdown can wait for them and then end them.
final class ClientLife: Sendable {
    /// How a shutdown treats what is under way.
    enum Manner {
        /// It may come to its end.
        case working
        /// It waits for something that goes on without the client, and ends at once.
        case waiting
        /// It goes on when somebody asks for more of it, which nobody need do: once ended it is gone.
        case held
    }

    /// Something under way, until it says so or is let go.
    final class Stay: Sendable {
        private let life: ClientLife
        private let number: UInt64

        fileprivate init(_ life: ClientLife, _ number: UInt64) {
            self.life = life
            self.number = number
        }

        deinit { end() }

        func end() { life.left(number) }
    }

    private struct Guest {
        var manner: Manner
        var end: @Sendable () -> Void
    }

    private struct State {
        var isShut = false
        var guests: [UInt64: Guest] = [:]
        var next: UInt64 = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isShut: Bool { state.withLock { $0.isShut } }

    /// Begins something new, which `end` ends early, from any thread; nil when the client is shut.
    func enter(_ manner: Manner, end: @escaping @Sendable () -> Void) -> Stay? {
        let number: UInt64? = state.withLock { state in
            guard !state.isShut else { return nil }
            state.next += 1
            state.guests[state.next] = Guest(manner: manner, end: end)
            return state.next
        }
        return number.map { Stay(self, $0) }
    }

    private func left(_ number: UInt64) {
        update { $0[number] = nil }
    }

    private func update(_ change: (inout [UInt64: Guest]) -> Void) {
        let waiters: [CheckedContinuation<Void, Never>] = state.withLock { state in
            change(&state.guests)
            guard state.guests.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Lets nothing begin any more, and ends what only waits.
    func shut() {
        state.withLock { $0.isShut = true }
        end { $0 == .waiting }
    }

    /// Ends what is still under way.
    func endAll() {
        end { _ in true }
        update { guests in guests = guests.filter { $0.value.manner != .held } }
    }

    private func end(_ isMeant: (Manner) -> Bool) {
        let guests = state.withLock { $0.guests.values.filter { isMeant($0.manner) } }
        for guest in guests { guest.end() }
    }

    /// Returns when nothing is under way.
    func untilEmpty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.guests.isEmpty { state.waiters.append(continuation) }
                return state.guests.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }
}
