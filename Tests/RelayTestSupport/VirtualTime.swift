package import RelayBase
import Synchronization

/// A clock that moves only when a test moves it, or when somebody sleeps on it.
package final class VirtualTime: TimeSource {
    package enum Mode: Sendable {
        /// A sleep moves the clock to its end and returns.
        case jumping
        /// A sleep waits until the test has moved the clock far enough.
        case manual
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Instant(nanoseconds: 0)
        var wallOffset: Int64 = 1_800_000_000_000
        var sleepers: [UInt64: Sleeper] = [:]
        var nextID: UInt64 = 0
        var slept: [Duration] = []
    }

    private let mode: Mode
    private let state = Mutex(State())

    package init(_ mode: Mode = .jumping) { self.mode = mode }

    package func now() -> Instant { state.withLock { $0.now } }

    package func wallMilliseconds() -> Int64 {
        state.withLock { $0.wallOffset + $0.now.nanoseconds / 1_000_000 }
    }

    /// Every wait so far, in order.
    package var waits: [Duration] { state.withLock { $0.slept } }

    /// How many tasks sleep now.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume(returning: true) }
    }

    /// Somebody sets the wall clock.
    package func stepWall(by milliseconds: Int64) { state.withLock { $0.wallOffset += milliseconds } }

    package func sleep(until deadline: Instant) async throws(CancellationError) {
        if mode == .jumping {
            if Task.isCancelled { throw CancellationError() }
            let wait = state.withLock { state in
                state.slept.append(state.now.duration(to: deadline))
                return state.now.duration(to: deadline)
            }
            if wait > .zero { advance(by: wait) }
            return
        }
        state.withLock { $0.slept.append($0.now.duration(to: deadline)) }
        try await expire(at: deadline)
    }

    package func expire(at deadline: Instant) async throws(CancellationError) {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if deadline <= state.now { return true }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }
}

/// Random numbers that repeat with their seed.
package final class SeededEntropy: Entropy {
    private let numbers: Mutex<SplitMix64>

    package init(seed: UInt64 = 1) { numbers = Mutex(SplitMix64(seed: seed)) }

    package func next() -> UInt64 { numbers.withLock { $0.next() } }
}
