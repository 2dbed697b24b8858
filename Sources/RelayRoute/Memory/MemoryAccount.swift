package import RelayBase
import Synchronization

/// The account of the memory for bodies, which all loops share.
package final class MemoryAccount: Sendable {
    private struct State {
        var machine: MemoryMachine
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var last: UInt64 = 0
        /// The most that was in use since what is free was last given back to the system.
        var peak = 0

        mutating func take(_ ids: [UInt64]) -> [CheckedContinuation<Bool, Never>] {
            ids.compactMap { waiters.removeValue(forKey: $0) }
        }

        mutating func note() { peak = max(peak, machine.used) }
    }

    /// Bytes that are not worth counting one by one: what a caller may have without asking.
    package static let free = 16_384
    /// Free memory worth giving back to the system.
    private static let worthTrimming = 8 << 20

    private let state: Mutex<State>

    package init(limit: Int) { state = Mutex(State(machine: MemoryMachine(limit: limit))) }

    /// How the account stands.
    package var usage: MemoryMachine { state.withLock { $0.machine } }

    package func configure(limit: Int) {
        let (admitted, refused) = state.withLock { state in
            let (admitted, refused) = state.machine.configured(limit: limit)
            return (state.take(admitted), state.take(refused))
        }
        for waiter in admitted { waiter.resume(returning: true) }
        for waiter in refused { waiter.resume(returning: false) }
    }

    /// Room for a body that is to be collected; waits in turn, at most until `deadline`.
    ///
    /// - Returns: nil when there was none by then, there never is that much, or the task was cancelled.
    package func collect(
        _ bytes: Int,
        by deadline: Instant,
        _ time: any TimeSource
    ) async -> MemoryReservation? {
        let (id, arrival) = state.withLock { state in
            state.last += 1
            let arrival = state.machine.arrived(state.last, bytes)
            // The place in the queue is taken by `wait`, together with its continuation.
            if arrival == .waits { _ = state.machine.gaveUp(state.last) }
            state.note()
            return (state.last, arrival)
        }
        switch arrival {
        case .refused: return nil
        case .granted: return MemoryReservation(self, .collected, bytes)
        case .waits: break
        }
        let granted = await cancelling(at: deadline, time) { await self.wait(id, bytes) }
        return granted ? MemoryReservation(self, .collected, bytes) : nil
    }

    private func wait(_ id: UInt64, _ bytes: Int) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    switch state.machine.arrived(id, bytes) {
                    case .granted:
                        state.note()
                        return true
                    case .refused: return false
                    case .waits:
                        state.waiters[id] = continuation
                        return nil
                    }
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let (waiter, admitted) = state.withLock { state in
                let (waited, admitted) = state.machine.gaveUp(id)
                return (waited ? state.waiters.removeValue(forKey: id) : nil, state.take(admitted))
            }
            waiter?.resume(returning: false)
            for waiter in admitted { waiter.resume(returning: true) }
        }
    }

    /// Room for what would be held; nil when there is none now.
    package func reserve(_ bytes: Int) -> MemoryReservation? {
        let isHeld = state.withLock { state in
            defer { state.note() }
            return state.machine.reserve(bytes)
        }
        return isHeld ? MemoryReservation(self, .held, bytes) : nil
    }

    /// Counts what is in memory already.
    package func reserveUnchecked(_ bytes: Int) -> MemoryReservation {
        let reservation = MemoryReservation(self, .held, 0)
        reservation.grow(by: bytes)
        return reservation
    }

    fileprivate func grow(_ bytes: Int) {
        state.withLock { state in
            state.machine.reserveUnchecked(bytes)
            state.note()
        }
    }

    fileprivate func giveBack(_ kind: MemoryReservation.Kind, _ bytes: Int) {
        guard bytes > 0 else { return }
        let admitted = state.withLock { state in
            let admitted = state.machine.gaveBack(
                collected: kind == .collected ? bytes : 0,
                held: kind == .held ? bytes : 0
            )
            state.note()
            return state.take(admitted)
        }
        for waiter in admitted { waiter.resume(returning: true) }
    }

    /// Whether so much was let go that the allocator should give it back to the system; told once.
    package func takeTrim() -> Bool {
        state.withLock { state in
            let used = state.machine.used
            guard state.peak - used >= MemoryAccount.worthTrimming, used <= state.peak / 2 else {
                return false
            }
            state.peak = used
            return true
        }
    }
}

/// The part of one caller in the account.
package protocol MemoryShare: AnyObject, Sendable {
    /// Counts so many bytes more as the caller's; fewer where negative.
    func charge(_ count: Int)
    /// Whether the caller has more now than it may; counted as a refusal where it is one.
    func isOver(_ limits: CallerLimits, isRefused: Bool) -> Bool
}

/// Room in the account; it goes back with the last reference.
package final class MemoryReservation: Sendable {
    fileprivate enum Kind: Sendable {
        case collected
        case held
    }

    private let account: MemoryAccount
    private let kind: Kind
    private let state: Mutex<State>

    private struct State {
        var bytes: Int
        /// The share of the caller whose bytes they are.
        var share: (any MemoryShare)?
    }

    fileprivate init(_ account: MemoryAccount, _ kind: Kind, _ bytes: Int) {
        self.account = account
        self.kind = kind
        state = Mutex(State(bytes: bytes))
    }

    deinit {
        let bytes = state.withLock { state in
            state.share?.charge(-state.bytes)
            return state.bytes
        }
        account.giveBack(kind, bytes)
    }

    /// Counts what it takes as that caller's, until it goes.
    package func charge(to share: (any MemoryShare)?) {
        guard let share else { return }
        state.withLock { state in
            state.share?.charge(-state.bytes)
            state.share = share
            share.charge(state.bytes)
        }
    }

    /// Whether the caller to whom it is charged has more now than it may; counted as a refusal where it is one.
    package func isOver(_ limits: CallerLimits, isRefused: Bool = true) -> Bool {
        state.withLock { $0.share }?.isOver(limits, isRefused: isRefused) ?? false
    }

    /// No more than so many bytes are needed.
    package func shrink(to count: Int) {
        let excess = state.withLock { state in
            let excess = max(0, state.bytes - count)
            state.bytes -= excess
            state.share?.charge(-excess)
            return excess
        }
        account.giveBack(kind, excess)
    }

    /// Counts so many bytes more; only of what is held.
    package func grow(by count: Int) {
        state.withLock { state in
            state.bytes += count
            state.share?.charge(count)
        }
        account.grow(count)
    }
}
