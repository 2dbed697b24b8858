import RelayBase
import RelayCore
package import RelayJobs
import RelayRoute

/// The reason that keeps a job from being delivered now.
package struct Blocker: Sendable {
    /// A word of the API: a `WaitReason`'s name, `running`, or `due`.
    package var reason: String
    /// In words, safe to show; when it ends is `until`.
    package var detail: String
    /// When it goes on by itself, in milliseconds since 1970 UTC; nil when that is not known.
    package var until: Int64?
    /// Since when, in milliseconds since 1970 UTC; nil when that is not known.
    package var since: Int64?

    init(_ reason: String, _ detail: String, until: Int64? = nil, since: Int64? = nil) {
        self.reason = reason
        self.detail = detail
        self.until = until
        self.since = since
    }

    init(_ reason: WaitReason, _ detail: String, until: Int64? = nil, since: Int64? = nil) {
        self.init(reason.name, detail, until: until, since: since)
    }
}

extension DurableJobs {
    /// The reason that keeps the job from being delivered now, in the words of `explain`; nil for one that is over.
    package func blocker(of job: StoredJob) -> Blocker? {
        if job.state.isTerminal { return nil }
        if job.state == .running {
            let detail =
                job.isCancelAsked ? "it is being cancelled" : "attempt \(job.attempts + 1) is under way"
            let last = job.isSuperseded ? ", the last one: a newer job takes its place" : ""
            return Blocker("running", detail + last)
        }
        if job.state == .held, job.reason == .networkConstrained {
            let isOver = !network.holds(job)
            return Blocker(
                .networkConstrained,
                isOver
                    ? "the network, or the configuration, holds it back no more, and the job goes on"
                    : "the network is constrained, and the job waits until it is not (constrained)"
            )
        }
        if job.state == .held, job.reason == .routeRemoved {
            return Blocker(
                .routeRemoved,
                "no daemon of the fleet that runs has the route \"\(job.record.route)\"; the job goes on once one has"
            )
        }
        if job.state == .held, job.reason != .routePaused, job.reason != .credentials {
            return Blocker(
                .operatorHold,
                "it was put aside until somebody releases it: waystation jobs release \(job.record.id)"
            )
        }
        guard let entry = engine.snapshot.routes[job.record.route] else {
            if watch.facts.routesElsewhere.contains(job.record.route) {
                return Blocker("due", "another daemon of the fleet has its route, and sends it")
            }
            return Blocker(
                .routeRemoved,
                "the configuration has no route \"\(job.record.route)\" any more"
            )
        }
        let now = engine.time.wallMilliseconds()
        let due = job.state == .held ? now : job.runAt
        if let pause = pauses.pause(of: job.record.route), pause.until.map({ $0 >= due }) ?? true {
            return Blocker(
                .routePaused,
                "the route is paused by \(pause.who): \(pause.reason)",
                until: pause.until,
                since: pause.began
            )
        }
        if job.state != .held, let closed = closed(entry, now), closed.until ?? due >= due { return closed }
        if job.state == .held { return Blocker(.routePaused, "the route goes on, and the job with it") }
        if job.reason == .ordering {
            guard let key = job.record.orderingKey else {
                return Blocker(.ordering, "the job that it supersedes is with the upstream")
            }
            let what =
                key == JobRecord.routeOrder ? "its route, which keeps all" : "its ordering key \"\(key)\""
            return Blocker(.ordering, "an earlier job of \(what) is not over")
        }
        if due > now { return later(job, due) }
        return held(entry, now, holds(job))
    }

    /// Of a job whose time has not come.
    private func later(_ job: StoredJob, _ due: Int64) -> Blocker {
        if job.state == .scheduled {
            return Blocker(
                .notBefore,
                "it is not to be sent before the date that its caller named",
                until: due
            )
        }
        switch job.reason {
        case .throttled?, .breakerOpen?:
            if let hold = holds(job) {
                var blocker = Blocker(hold, engine.time.now(), engine.time.wallMilliseconds())
                // It is looked at when its own time has come.
                blocker.until = max(blocker.until ?? due, due)
                return blocker
            }
            let what =
                job.reason == .breakerOpen
                ? "the circuit breaker of its upstream was open" : "its upstream was spared"
            return Blocker(job.reason ?? .throttled, what + " when its turn came", until: due)
        case .following?:
            let what = "the operation that the upstream has begun for it is not over, and is looked at again"
            return Blocker(.following, what, until: due)
        case .credentials?, .rateLimited?, .concurrency?:
            return Blocker(job.reason ?? .backoff, "it is held back", until: due)
        default:
            let status = job.failureStatus.map { " \($0.rawValue)" } ?? ""
            let why = job.failureKind.map { " with \($0.rawValue)\(status)" } ?? ""
            return Blocker(.backoff, "its last attempt failed\(why)", until: due)
        }
    }

    /// The hold of its route's traffic on a request like the job's.
    private func holds(_ job: StoredJob) -> AttemptDeferral? {
        guard let entry = engine.snapshot.routes[job.record.route] else { return nil }
        let asked = RequestClass(
            job.record.method,
            target: job.record.target,
            contentLength: job.bodyLength,
            user: job.record.submitter?.user,
            credential: entry.route.callersCredential(job.record.fields)
        )
        return entry.memory.traffic.hold(of: asked, entry.route, engine.time.now())
    }

    /// Of a job of a route that is in a planned window.
    private func closed(_ entry: Snapshot.Entry, _ now: Int64) -> Blocker? {
        entry.route.policy.closed?.end(at: now / 1_000).map { end in
            let hold = AttemptDeferral(reason: .routeClosed, until: .distantFuture)
            return Blocker(.routeClosed, hold.text(), until: end &* 1_000)
        }
    }

    /// Of a job of the route that could be sent now.
    ///
    /// `own` is what holds requests like it back.
    func held(_ entry: Snapshot.Entry, _ now: Int64, _ own: AttemptDeferral? = nil) -> Blocker {
        let route = entry.route.name
        if let closed = closed(entry, now) { return closed }
        switch dispatcher.gate(of: route) {
        case .shut(let until, _)?:
            let wait = engine.time.now().duration(to: until).saturatedNanoseconds / 1_000_000
            let next = now + max(0, wait)
            return Blocker(
                .credentials,
                "the route's credential failed; the next job tries it again",
                until: next
            )
        case .probing?:
            return Blocker(.credentials, "the route's credential failed; another job is trying it now")
        case .open?, nil: break
        }
        if let hold = own ?? entry.memory.traffic.capacity(entry.route, engine.time.now(), atMost: 1).hold {
            return Blocker(hold, engine.time.now(), now)
        }
        let (limit, width) = (entry.route.policy.concurrency.maxRequests, entry.memory.traffic.width)
        if let most = dispatcher.shortLimit(of: route, limit) {
            let words =
                "memory is short, and \(most) kept job\(most == 1 ? "" : "s") of the route may be under way until it is "
                + "not (limits.shedding)"
            return Blocker(.concurrency, words)
        }
        let inFlight = entry.state.load.inFlight
        if inFlight >= limit {
            return Blocker(.concurrency, "the route's \(limit) permits are taken (concurrency.max_requests)")
        }
        if inFlight >= max(1, width) {
            let words =
                "the upstream takes \(max(1, width)) request\(width > 1 ? "s" : "") at once at present, and "
                + "they are under way (adaptive_concurrency)"
            return Blocker(.concurrency, words)
        }
        let isServing = dispatcher.phase == .serving
        return Blocker("due", isServing ? "it is next" : "the relay is stopping or starting")
    }
}

extension Blocker {
    /// The reason that keeps the route from sending, with the present on both clocks.
    fileprivate init(_ hold: AttemptDeferral, _ now: Instant, _ wall: Int64) {
        let until = wall + max(0, now.duration(to: hold.until).saturatedNanoseconds / 1_000_000)
        self.init(
            hold.reason.waitReason,
            hold.text(),
            until: until,
            since: hold.since.map { wall + now.duration(to: $0).saturatedNanoseconds / 1_000_000 }
        )
    }
}
