package import RelayCore
import Synchronization

/// A request's part in what its caller and all callers have under way, given up at its end.
struct RequestPlace: ~Copyable, Sendable {
    private let engine: Engine
    private let share: CallerShare?

    /// Operators have no share, and are asked for no place.
    ///
    /// - Throws: `overloaded`, `rate_limited`.
    init(_ engine: Engine, _ share: CallerShare?, _ settings: Snapshot.Settings) throws(Problem) {
        let count = engine.admitted.add(1, ordering: .relaxed).newValue
        if let share, let problem = RequestPlace.refusal(count, share, settings, engine) {
            engine.admitted.subtract(1, ordering: .relaxed)
            throw problem
        }
        self.engine = engine
        self.share = share
    }

    /// Counts the request as its caller's, or says why not; it is the `count`th of all.
    private static func refusal(
        _ count: Int,
        _ share: CallerShare,
        _ settings: Snapshot.Settings,
        _ engine: Engine
    ) -> Problem? {
        if let most = settings.maxRequests, count > most {
            share.refused(.allRequests)
            return Problem(
                .overloaded,
                "the relay has as many requests under way as limits.max_requests allows (\(most))",
                retryAfter: .seconds(1)
            )
        }
        guard let (bound, wait) = share.begin(settings.callers, engine.time.now()) else { return nil }
        return Problem(bound, of: share, settings.callers, retryAfter: wait)
    }

    deinit {
        engine.admitted.subtract(1, ordering: .relaxed)
        share?.end()
    }
}

extension Problem {
    /// What a caller is told that came to a bound of its own.
    package init(
        _ bound: CallerBound,
        of share: CallerShare,
        _ limits: CallerLimits,
        retryAfter: Duration = .seconds(1)
    ) {
        let who = share.user.map { "uid \($0)" } ?? "callers of ports together"
        let verb = share.user == nil ? "have" : "has"
        let (code, detail): (Code, String) =
            switch bound {
            case .allRequests, .requests:
                (
                    .overloaded,
                    "\(who) \(verb) as many requests under way as \(bound.rawValue) allows "
                        + "(\(limits.maxRequests ?? 0))"
                )
            case .bytes:
                (
                    .overloaded,
                    "\(who) \(verb) as many bytes of bodies in memory and in the spool as \(bound.rawValue) allows "
                        + "(\(limits.maxBytes ?? 0))"
                )
            case .queuedJobs:
                (
                    .queueFull,
                    "\(limits.maxQueuedJobs ?? 0) jobs of \(who) wait for their delivery already "
                        + "(\(bound.rawValue))"
                )
            case .rate:
                (
                    .rateLimited,
                    "\(who) \(share.user == nil ? "send" : "sends") faster than \(bound.rawValue) allows"
                        + (limits.rate.map { " (\($0.maxRequests) in \(DurationText.text($0.per)))" } ?? "")
                )
            }
        self.init(code, detail, retryAfter: retryAfter)
    }
}
