/// Decides when everything is to be looked at again: twice a second while something moves, and otherwise when somebody
/// has something to do, once a minute at the least.
///
/// | what a look finds | the next look |
/// |---|---|
/// | something under way, or something has begun since the last one | after half a second |
/// | nothing, for the first time | after half a second, unless something begins: what began just before is seen then |
/// | nothing, and nothing has begun since the look before | when something is due, or something begins |
package struct IdleMachine {
    /// Changes of the status and of the memory in use are acted on within a second.
    package static let period: Int64 = 500_000_000
    /// The minutes of the history are taken up as they end, within this much.
    static let longest: Int64 = 60_000_000_000
    /// Work that stays due does not keep a processor busy.
    static let shortest: Int64 = 100_000_000

    /// Whether the next thing that begins is to wake.
    package private(set) var listens = false

    package init() {}

    /// Everything was looked at.
    ///
    /// - Parameters:
    ///   - isQuiet: whether nothing is under way.
    ///   - isUndisturbed: whether nothing has begun since the look before; says nothing while it did not listen.
    ///   - due: when somebody has something to do.
    ///   - now: monotonic nanoseconds.
    /// - Returns: when to look again.
    package mutating func looked(isQuiet: Bool, isUndisturbed: Bool, due: Int64?, now: Int64) -> Int64 {
        let mayRest = isQuiet && listens && isUndisturbed
        listens = isQuiet
        guard mayRest else { return now + IdleMachine.period }
        return max(now + IdleMachine.shortest, min(due ?? .max, now + IdleMachine.longest))
    }

    /// Something begins.
    ///
    /// - Returns: when to look, where that was not to be before `next`.
    package mutating func woken(next: Int64, now: Int64) -> Int64? {
        listens = false
        let at = now + IdleMachine.period
        return next > at ? at : nil
    }
}
