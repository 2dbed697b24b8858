package import RelayBase
import RelayInterface
import Synchronization

/// Refuses new work while memory is short; what was accepted goes on.
package final class Shedding: Sendable {
    /// How it stands.
    package struct Standing: Sendable {
        /// 0 refuses nothing, 3 everything.
        package let level: Int
        package let since: Instant?
        package let cause: PressureMachine.Cause?
        /// Requests that were refused for it since the start.
        package let refused: Int
        /// Those that would have been.
        package let wouldHaveRefused: Int
        /// Whether it only tells what it would do.
        package let reports: Bool
    }

    /// A change of the shedding: it has begun, become worse or ended.
    package enum Change: Sendable {
        case began(PressureMachine.Cause)
        /// More is short now than the account of bodies, with which it began; told once.
        case worsened(PressureMachine.Cause)
        /// After that long, with so many requests refused.
        case ended(Duration, refused: Int)

        /// Whether what only saves work is to be let go: not for the account, in which none of that counts.
        package var isSevere: Bool {
            switch self {
            case .began(let cause): cause.isSevere
            case .worsened: true
            case .ended: false
            }
        }
    }

    private struct State {
        var machine = PressureMachine()
        var refused = 0
        var wouldHaveRefused = 0
        /// Refused before it last began.
        var before = 0
        /// Whether more than the account has been short since then.
        var hasBeenSevere = false
    }

    private let state = Mutex(State())
    /// Urgencies from this one on are refused.
    private let from = Atomic<UInt8>(8)
    /// The same where that is more than told of.
    private let actsFrom = Atomic<UInt8>(8)

    package init() {}

    package var standing: Standing {
        state.withLock { state in
            Standing(
                level: state.machine.level,
                since: state.machine.since,
                cause: state.machine.cause,
                refused: state.refused,
                wouldHaveRefused: state.wouldHaveRefused,
                reports: state.machine.settings.reports
            )
        }
    }

    package func configure(_ settings: PressureMachine.Settings) {
        state.withLock { $0.machine.settings = settings }
    }

    /// The kernel reports pressure.
    package func signalled(_ now: Instant) -> Change? { tell(now) { $0.signalled(now) } }

    /// To be told every half a second.
    package func looked(_ sight: PressureMachine.MemorySample, _ now: Instant) -> Change? {
        tell(now) { $0.looked(sight, now) }
    }

    private func tell(_ now: Instant, _ body: (inout PressureMachine) -> Void) -> Change? {
        state.withLock { state in
            let before = state.machine.since
            body(&state.machine)
            from.store(state.machine.refusedFrom, ordering: .relaxed)
            let reports = state.machine.settings.reports
            actsFrom.store(reports ? 8 : state.machine.refusedFrom, ordering: .relaxed)
            switch (before, state.machine.since) {
            case (nil, .some):
                state.before = state.refused
                state.hasBeenSevere = state.machine.cause?.isSevere ?? false
                return state.machine.cause.map { .began($0) }
            case (.some, .some):
                guard !state.hasBeenSevere, let cause = state.machine.cause, cause.isSevere else {
                    return nil
                }
                state.hasBeenSevere = true
                return .worsened(cause)
            case (let began?, nil):
                return .ended(began.duration(to: now), refused: state.refused - state.before)
            case (nil, nil): return nil
            }
        }
    }

    /// Whether the process has been short of memory for so long that what says nothing is refused; costs one load.
    package var isLasting: Bool { actsFrom.load(ordering: .relaxed) <= 3 }

    /// Whether new work of that urgency may be refused; costs one load.
    func refuses(_ urgency: UInt8) -> Bool { urgency >= from.load(ordering: .relaxed) }

    /// Why new work of that urgency is refused; nil where it is not.
    @inline(never)
    func refusal(_ urgency: UInt8, _ time: any ClockSource) -> Problem? {
        state.withLock { state in
            guard urgency >= state.machine.refusedFrom, let cause = state.machine.cause else { return nil }
            if state.machine.settings.reports {
                state.wouldHaveRefused += 1
                return nil
            }
            state.refused += 1
            let all = state.machine.refusedFrom == 0
            return Problem(
                .overloaded,
                "memory is short (\(cause.rawValue)), and "
                    + (all
                        ? "no new work is taken"
                        : "no new work of urgency \(state.machine.refusedFrom) to 7 is taken")
                    + " until it is not",
                retryAfter: state.machine.wait(urgency, time.now())
            )
        }
    }
}
