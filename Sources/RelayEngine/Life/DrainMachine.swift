/// How a stop goes: finish what is under way, ask for more time while it moves, and not for ever.
package struct DrainMachine {
    private var deadline: Int64?
    /// The numbers that the last look saw; nil before the first.
    private var lastSeen: (busy: Int, inFlight: Int)?

    package init() {}

    package var isDraining: Bool { deadline != nil }

    package enum StopAction {
        case drain
        /// Asked twice: at once.
        case stopNow
    }

    package enum LookAction: Equatable {
        /// `extend` asks the service manager for more time: requests are under way, each bound by its own deadline and
        /// all of them by the drain's, or connections have closed since the last look.
        case wait(extend: Bool)
        case finished
        case stopNow
    }

    package mutating func stopWanted(now: Int64, limit: Duration) -> StopAction {
        guard deadline == nil else { return .stopNow }
        deadline = now + Int64(limit / .nanoseconds(1))
        return .drain
    }

    /// A look at what is left: `busy` connections still open, `inFlight` requests still running.
    package mutating func looked(busy: Int, inFlight: Int, now: Int64) -> LookAction {
        let before = lastSeen
        lastSeen = (busy, inFlight)
        // The first look comes before the loops have closed their idle connections.
        if busy == 0, inFlight == 0, before != nil { return .finished }
        if let deadline, now >= deadline { return .stopNow }
        return .wait(extend: inFlight > 0 || before.map { busy < $0.busy } ?? false)
    }
}
