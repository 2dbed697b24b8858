package import RelayBase

/// Decides how much of the new work is refused while memory is short: the least urgent first, more the longer it lasts.
///
/// Memory is short for 5 s after each word of the kernel, as long as the process takes more than it is to, and while the
/// account of bodies is nearly full. The account bounds itself, since bodies wait for room or are refused: for it alone
/// nobody is refused but who says that the work is less urgent than usual.
///
/// | short for | not short for, after that | refused urgencies |
/// |---|---|---|
/// | 0 s | 4 s | 4 to 7 |
/// | 2 s | 2 s | 3 to 7, among them all that say nothing |
/// | 5 s | 0 s | all |
/// | – | 6 s | none |
///
/// So that it does not flap, the process has to come down to 15 of 16 parts of its bound, and the account from 7 of 8 to
/// 3 of 4, before it counts as over.
package struct PressureMachine: Sendable {
    /// Why memory is short.
    package enum Cause: String, Sendable {
        case kernel = "the kernel reports memory pressure"
        case resident = "the process takes more memory than limits.shedding.max_resident"
        case account = "the bodies in memory take nearly all of limits.memory"

        /// Whether the process itself is short of memory; the account bounds itself.
        var isSevere: Bool { self != .account }
    }

    package struct Settings: Sendable, Equatable {
        package var isEnabled = true
        /// Whether nothing is refused, and only told of.
        package var reports = false
        /// Bytes of memory that the process is to take at most.
        package var maxResident = UInt64.max

        package init() {}
    }

    /// The figures that the machine last saw, in bytes.
    package struct MemorySample: Sendable {
        package var resident: UInt64
        package var bodies: Int
        package var bodiesLimit: Int

        package init(resident: UInt64, bodies: Int, bodiesLimit: Int) {
            self.resident = resident
            self.bodies = bodies
            self.bodiesLimit = bodiesLimit
        }
    }

    /// How long a word of the kernel counts; it speaks at most once in two seconds.
    private static let signalTime: Duration = .seconds(5)
    private static let relief: Duration = .seconds(2)

    package var settings: Settings
    /// 0 refuses nothing, 3 everything.
    package private(set) var level = 0
    /// Since when it refuses anything.
    package private(set) var since: Instant?
    package private(set) var cause: Cause?
    private var signalledUntil: Instant?
    /// Since when more is short than the account.
    private var severeSince: Instant?
    /// When it last was short, or came down a step.
    private var steppedAt: Instant?

    package init(_ settings: Settings = Settings()) { self.settings = settings }

    private static let refused: [UInt8] = [8, 4, 3, 0]

    /// Urgencies from this one on are refused; 8 refuses none.
    package var refusedFrom: UInt8 { PressureMachine.refused[level] }

    /// When work of that urgency may be let in again, at the earliest.
    package func wait(_ urgency: UInt8, _ now: Instant) -> Duration {
        let needed = PressureMachine.refused.lastIndex { urgency < $0 } ?? 0
        let short = signalledUntil.map { max(.zero, now.duration(to: $0)) } ?? .zero
        return max(.seconds(1), short + PressureMachine.relief * max(0, level - needed))
    }

    /// The kernel reports pressure.
    package mutating func signalled(_ now: Instant) {
        guard settings.isEnabled else { return }
        signalledUntil = now.advanced(by: PressureMachine.signalTime)
        step(.kernel, now)
    }

    /// To be told every half a second.
    package mutating func looked(_ sight: MemorySample, _ now: Instant) {
        guard settings.isEnabled else {
            (level, since, cause, signalledUntil, severeSince, steppedAt) = (0, nil, nil, nil, nil, nil)
            return
        }
        step(presentCause(sight, now), now)
    }

    private func presentCause(_ sight: MemorySample, _ now: Instant) -> Cause? {
        if let signalledUntil, now < signalledUntil { return .kernel }
        let bound = settings.maxResident
        if sight.resident >= (cause == .resident ? bound / 16 * 15 : bound) { return .resident }
        let (eighths, limit) = (cause == .account ? 6 : 7, sight.bodiesLimit)
        return sight.bodies >= limit / 8 * eighths ? .account : nil
    }

    private mutating func step(_ present: Cause?, _ now: Instant) {
        if let present {
            cause = present
            if since == nil { since = now }
        }
        let isSevere = present?.isSevere ?? false
        severeSince = isSevere ? severeSince ?? now : nil
        let short = severeSince?.duration(to: now) ?? .zero
        let byTime = short >= .seconds(5) ? 3 : short >= .seconds(2) ? 2 : 1
        let target = isSevere ? max(level, byTime) : present == nil ? 0 : 1
        if level > target {
            guard let last = steppedAt, last.duration(to: now) >= PressureMachine.relief else { return }
            level -= 1
        } else {
            level = target
        }
        steppedAt = now
        if level == 0 { (since, cause) = (nil, nil) }
    }
}
