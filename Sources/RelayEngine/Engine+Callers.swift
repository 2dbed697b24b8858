import RelayBase
package import RelayCore
import RelayInterface
package import RelayRoute

extension Engine {
    /// Counts the request as its caller's, which has to be told of its end, and looks whether that is over a bound.
    ///
    /// Operators have no share, and are refused nothing.
    ///
    /// - Throws: `overloaded`, `rate_limited`; nothing is counted then.
    func begin(_ share: CallerShare?, _ snapshot: Snapshot) throws(Problem) {
        guard let share else { return }
        let count = share.begin()
        // Nothing more is looked at where nothing is bounded.
        if snapshot.settings.isBounding { try checkBounds(share, count, snapshot.settings) }
    }

    @inline(never)
    private func checkBounds(
        _ share: CallerShare,
        _ count: Int,
        _ settings: Snapshot.Settings
    ) throws(Problem) {
        if let most = settings.maxRequests, callers.requests > most {
            share.end()
            share.refused(.allRequests)
            throw Problem(
                .overloaded,
                "the relay has as many requests under way as limits.max_requests allows (\(most))",
                retryAfter: .seconds(1)
            )
        }
        guard let (bound, wait) = share.refusal(count, settings.callers, time.now()) else { return }
        share.end()
        throw Problem(bound, of: share, settings.callers, retryAfter: wait)
    }
}

extension Problem {
    /// The problem that is told to a caller that came to a bound of its own.
    package init(
        _ bound: CallerBound,
        of share: CallerShare,
        _ limits: CallerLimits,
        retryAfter: Duration? = .seconds(1)
    ) {
        let who = share.user.map { "uid \($0)" } ?? "callers of ports together"
        let verb = share.user == nil ? "have" : "has"
        let code: Code = bound == .queuedJobs ? .queueFull : bound == .rate ? .rateLimited : .overloaded
        let detail =
            switch bound {
            case .allRequests, .requests:
                "\(who) \(verb) as many requests under way as \(bound.rawValue) allows (\(limits.maxRequests ?? 0))"
            case .bytes:
                "\(who) \(verb) as many bytes of bodies in memory and in the spool as \(bound.rawValue) allows "
                    + "(\(limits.maxBytes ?? 0))"
            case .queuedJobs:
                "\(limits.maxQueuedJobs ?? 0) jobs of \(who) wait for their delivery already (\(bound.rawValue))"
            case .streams:
                "answers that stream to \(who) hold as many permits of the route as they may: all but an eighth of "
                    + bound.rawValue
            case .rate:
                "\(who) \(share.user == nil ? "send" : "sends") faster than \(bound.rawValue) allows"
                    + (limits.rate.map { " (\($0.maxRequests) in \(DurationText.text($0.per)))" } ?? "")
            }
        self.init(code, detail, retryAfter: retryAfter)
    }
}
