/// How a stop goes: finish what is under way, ask for more time while it moves, and not for ever.
struct DrainMachine {
    private var deadline: Int64?
    private var lastSeen = Int.max
    private var looks = 0

    var isDraining: Bool { deadline != nil }

    enum StopAction {
        case drain
        /// Asked twice: at once.
        case stopNow
    }

    enum LookAction {
        /// `extend` asks the service manager for more time: something has been finished since the last look.
        case wait(extend: Bool)
        case finished
        case stopNow
    }

    mutating func stopWanted(now: Int64, limit: Duration) -> StopAction {
        guard deadline == nil else { return .stopNow }
        deadline = now + Int64(limit / .nanoseconds(1))
        return .drain
    }

    /// A look at what is left: `busy` connections still open, `inFlight` requests still running.
    mutating func looked(busy: Int, inFlight: Int, now: Int64) -> LookAction {
        looks += 1
        // The first look comes before the loops have closed their idle connections.
        if busy == 0, inFlight == 0, looks > 1 { return .finished }
        if let deadline, now >= deadline { return .stopNow }
        let moved = inFlight < lastSeen
        lastSeen = min(lastSeen, inFlight)
        return .wait(extend: moved || inFlight > 0)
    }
}
