public import RelayBase
import Synchronization

/// A clock that moves only when a test moves it, or when somebody sleeps on it.
///
/// ```swift
/// let time = VirtualTime()
/// let script = ScriptedTransport(.answer(503), .answer(200))
/// let service = try RelayService(policy, transport: script, time: time, entropy: SeededEntropy())
/// ```
///
/// ``waits`` are the waits that were asked for, in order: a test compares them as values and never waits itself.
public final class VirtualTime: TimeSource {
    /// How a sleep ends.
    public enum Mode: Sendable {
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

    /// A clock that stands at its beginning, for the wall on 15 January 2027.
    public init(_ mode: Mode = .jumping) { self.mode = mode }

    /// The moment to which the clock has come.
    public func now() -> Instant { state.withLock { $0.now } }

    /// Milliseconds since 1970-01-01 UTC.
    public func wallMilliseconds() -> Int64 {
        state.withLock { $0.wallOffset + $0.now.nanoseconds / 1_000_000 }
    }

    /// Every wait so far, in order.
    public var waits: [Duration] { state.withLock { $0.slept } }

    /// How many tasks sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Moves the clock, and wakes those whose time has come.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume(returning: true) }
    }

    /// Somebody sets the wall clock.
    public func stepWall(by milliseconds: Int64) { state.withLock { $0.wallOffset += milliseconds } }

    /// Sleeps until `deadline`, and notes the wait; a clock that jumps is there at once.
    public func sleep(until deadline: Instant) async throws(CancellationError) {
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

    /// Waits until somebody has moved the clock to `deadline`: it never moves by itself for a limit of other work.
    public func expire(at deadline: Instant) async throws(CancellationError) {
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
