import RelayCore
import RelayPosix

extension Connection {
    /// The moment the wait at hand is over, in monotonic nanoseconds.
    private var due: Int64 {
        guard isIdleCounted else { return deadline }
        let (idleEnd, overflow) = lastProgress.addingReportingOverflow(idleLimit)
        return overflow ? deadline : min(deadline, idleEnd)
    }

    /// Whether the peer is the one who makes us wait, rather than our own caller.
    private var isIdleCounted: Bool {
        switch phase {
        case .exchanging: upload == nil || !output.isEmpty
        case .reading: body.isAwaited || !output.isEmpty
        case .dialling, .idle, .closed: false
        }
    }

    /// Sees to it that the timer fires no later than the wait at hand ends; moving it later is left to the
    /// timer.
    func arm() {
        let due = due
        // A reader that comes after the close must not wake anything again.
        guard phase != .closed, due < .max, !timer.isScheduled || timer.deadline > due else { return }
        wakeUp.connection = self
        loop.schedule(timer, at: due)
    }

    func timerFired() {
        wakeUp.connection = nil
        guard loop.now >= due else { return arm() }
        let isLate = loop.now >= deadline
        promote(.timeout)
        switch phase {
        case .dialling: dialTimedOut()
        case .exchanging where isLate:
            fail(.httpResponseTimeout, "no response head came from \(place) \(deadlineText)")
        case .exchanging where !output.isEmpty, .reading where !output.isEmpty:
            fail(.connectionWriteTimeout, "\(place) took no more of the request \(idleText)")
        case .exchanging:
            fail(.connectionReadTimeout, "\(place) sent nothing \(idleText)")
        case .reading where isLate:
            fail(
                .httpResponseTimeout,
                "the rest of the response body did not come from \(place) \(deadlineText)"
            )
        case .reading:
            fail(.connectionReadTimeout, "\(place) sent no more of the response body \(idleText)")
        case .idle, .closed: break
        }
    }

    private var idleText: String { "within \(TimeLimit(idleName, .nanoseconds(idleLimit)).text)" }

    private var deadlineText: String { timeLimit.map { "within \($0.text)" } ?? "by the deadline" }

    /// For messages: the origin and the address it has led to.
    var place: String {
        address.isEmpty || address == pool.key.origin.text || pool.key.origin.text.hasSuffix("//" + address)
            ? pool.key.origin.text : "\(pool.key.origin.text) (\(address))"
    }
}
