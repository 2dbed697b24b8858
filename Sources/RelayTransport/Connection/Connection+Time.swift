import RelayBase
import RelayPosix
import RelayRoute

extension Connection {
    /// The moment the wait at hand is over, in monotonic nanoseconds.
    private var due: Int64 {
        let limit = limit
        guard isIdleCounted else { return limit }
        let (idleEnd, overflow) = lastProgress.addingReportingOverflow(idleLimit)
        return overflow ? limit : min(limit, idleEnd)
    }

    /// The end of the attempt's time, which stands still while the request's content moves.
    private var limit: Int64 {
        guard phase == .exchanging, let transfer else { return deadline }
        let end = transfer.end?.moment.nanoseconds ?? .max
        return transfer.isUpload ? end : min(deadline, end)
    }

    /// Whether the wait is for the request's own content.
    private var awaitsSource: Bool { upload != nil && output.isEmpty }

    /// All of the request is out: the time of its answer begins.
    func contentIsOut() {
        guard transfer?.isUpload ?? false, let moved = transfer?.finish(loop.now), phase == .exchanging else {
            return
        }
        let (end, overflow) = deadline.addingReportingOverflow(moved)
        deadline = overflow ? .max : end
        lastProgress = loop.now
        arm()
    }

    /// The peer has taken or brought bytes.
    ///
    /// - Returns: whether they come too slowly.
    func hasPeerMoved(_ count: Int) -> Bool {
        let wait = loop.now &- lastProgress
        lastProgress = loop.now
        return transfer?.isPeerTooSlow(count, after: wait) ?? false
    }

    /// The same of an answer's content: the end of one whose length nobody knows may be as far as its sender likes.
    func hasContentMoved(_ count: Int) -> Bool {
        guard body.length != nil else {
            lastProgress = loop.now
            return false
        }
        return hasPeerMoved(count)
    }

    /// For messages.
    var paceText: String { "less than \(TimeLimit.minRate(transfer?.floor ?? .none))" }

    /// The answer's content comes too slowly.
    func crawls() {
        let detail = "\(endpointText) sent the response body at \(paceText)\(bodyProgress)"
        fail(.connectionReadTimeout, detail, sent: .unknown)
    }

    /// How much of the answer's content has come, for messages.
    var bodyProgress: String {
        let all = body.length.map { " of \($0)" } ?? ""
        return ", of which \(body.received)\(all) bytes came"
    }

    /// Whether somebody makes us wait who may not for ever.
    private var isIdleCounted: Bool {
        switch phase {
        case .exchanging: true
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
        let isLate = loop.now >= limit
        promote(.timeout)
        switch phase {
        case .dialling: dialTimedOut()
        case .exchanging where awaitsSource:
            stalled("did not come \(isLate ? endText : idleText)")
        case .exchanging where isLate:
            fail(.httpResponseTimeout, "no response head came from \(endpointText) \(deadlineText)")
        case .exchanging where !output.isEmpty, .reading where !output.isEmpty:
            fail(.connectionWriteTimeout, "\(endpointText) took no more of the request \(idleText)")
        case .exchanging:
            fail(.connectionReadTimeout, "\(endpointText) sent nothing \(idleText)")
        case .reading where isLate:
            fail(
                .httpResponseTimeout,
                "the rest of the response body did not come from \(endpointText) \(deadlineText)"
            )
        case .reading where awaitsSource: stalled("did not come \(idleText)")
        case .reading:
            fail(
                .connectionReadTimeout,
                "\(endpointText) sent no more of the response body \(idleText)\(bodyProgress)"
            )
        case .idle, .closed: break
        }
    }

    private var idleText: String { "within \(TimeLimit(idleName, .nanoseconds(idleLimit)).text)" }

    private var deadlineText: String {
        if let end = transfer?.end, end.moment.nanoseconds <= deadline { return endText }
        return timeLimit.map { "within \($0.text)" } ?? "by the deadline"
    }

    private var endText: String { transfer?.end.map { "within \($0.limit.text)" } ?? "by the deadline" }

    /// For messages: the origin and the address it has led to.
    var endpointText: String {
        address.isEmpty || address == pool.key.origin.text || pool.key.origin.text.hasSuffix("//" + address)
            ? pool.key.origin.text : "\(pool.key.origin.text) (\(address))"
    }
}
