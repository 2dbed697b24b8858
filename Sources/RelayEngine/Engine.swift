package import RelayBase
package import RelayCore
import RelayInterface
import RelayJobs
import RelayRoute
import Synchronization

/// The gate and the dispatcher: who may send what, and when.
package final class Engine: Sendable {
    package let time: any ClockSource
    let entropy: any Entropy
    private let idempotencyLocks = IdempotencyLocks()
    private let current: Mutex<Snapshot>
    /// Counts the configurations.
    private let versions = Atomic<UInt64>(0)
    package var version: UInt64 { versions.load(ordering: .acquiring) }
    private let draining = Atomic<Bool>(false)
    private let aborted = Atomic<Bool>(false)
    private let network = Mutex<(@Sendable () -> Bool)?>(nil)
    let running = Atomic<Int>(0)
    let cutOff = Atomic<Int>(0)
    package let callers = CallerShares()
    package let shedding = Shedding()
    package let recent = RecentJobs(capacity: 1024)
    package let plain = PassThroughRecords(capacity: 1024)
    package let tally = RelayTally()
    package let history: RouteHistory
    /// Those of the table of routes.
    package let rows: RowMemory
    /// Ends where a request comes.
    package let idleSignal = IdleSignal()

    package init(snapshot: Snapshot, time: any ClockSource, entropy: any Entropy) {
        current = Mutex(snapshot)
        self.time = time
        history = RouteHistory(time)
        rows = RowMemory(history.startedAt)
        self.entropy = entropy
    }

    package var snapshot: Snapshot { current.withLock { $0 } }

    /// Makes `snapshot` the configuration of every request from now on.
    package func install(_ snapshot: Snapshot) {
        current.withLock { $0 = snapshot }
        versions.add(1, ordering: .releasing)
    }

    /// Has `source` tell from now on whether the network is constrained; it never is without one.
    package func asksForNetwork(_ source: @escaping @Sendable () -> Bool) {
        network.withLock { $0 = source }
    }

    /// The treatment of the job on a constrained network by the configuration in force, which may be a later one than its
    /// own; a job of a route that is gone is treated as it was let in.
    package func constrainedUse(of context: JobContext) -> ConstrainedUse {
        guard let use = constrainedUse(of: context.route.name, own: context.options.constrained) else {
            return context.constrainedUse
        }
        // A lighter form that it was not let in with is none of its own.
        return use == .light && context.lightRequest == nil ? .wait : use
    }

    /// The same of a job that begins anew; nil of a route that is gone.
    func constrainedUse(of route: String, own: ConstrainedUse) -> ConstrainedUse? {
        snapshot.routes[route].map { max($0.route.policy.constrained, own) }
    }

    private var isConstrained: Bool { network.withLock { $0 }?() ?? false }

    private static let constrained = Problem(
        .networkConstrained,
        "the network is constrained, and the job is refused then (constrained, waystation-constrained)"
    )

    /// From now on new requests are refused with `draining`.
    package func drain() { draining.store(true, ordering: .relaxed) }

    package var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// From now on requests end because the relay does.
    package func abort() { aborted.store(true, ordering: .relaxed) }

    package var isAborted: Bool { aborted.load(ordering: .relaxed) }

    /// Requests with an upstream or waiting for a permit, whatever configuration they began with.
    package var inFlight: Int { running.load(ordering: .relaxed) }

    /// Requests that were given up with an unknown outcome, by their callers or by a stop.
    package var inDoubt: Int { cutOff.load(ordering: .relaxed) }

    /// Decides on a request by its head alone, before a byte of its body is asked for.
    ///
    /// `whileDraining` lets in what a caller sent on a connection that was open before the stop: it could not tell a
    /// restart from a failure. `target` stands below the route, checked and without leading slash; `terms` are read only
    /// when nothing before them refuses the request; `length` is what the body announces, nil when it is chunked;
    /// `hasEmptySegment` tells of a `//` in the path; `share` is nil for operators, who have all there is.
    package func admit(
        route name: String,
        target: String,
        method: Method,
        terms: @autoclosure () throws(Problem) -> RequestTerms,
        length: UInt64?,
        client: ClientIdentity?,
        share: CallerShare? = nil,
        whileDraining: Bool = false,
        hasEmptySegment: Bool = false
    ) throws(Problem) -> Admission {
        idleSignal.end()
        guard whileDraining || !isDraining else { throw Engine.stopping }
        let snapshot = snapshot
        do throws(Problem) {
            try begin(share, snapshot)
        } catch {
            throw error.placed(on: name, snapshot)
        }
        do throws(Problem) {
            let entry = try snapshot.entry(name)
            if hasEmptySegment, !entry.route.policy.request.allowsEmptySegments {
                throw Engine.emptySegment(in: target)
            }
            try entry.checkCaller(client, method)
            if let length, length > UInt64(snapshot.settings.maxRequestBody) {
                throw Engine.tooLarge(snapshot)
            }
            return try admit(entry, snapshot, target, method, try terms(), client, share)
        } catch {
            share?.end()
            throw error.placed(on: name, snapshot)
        }
    }

    private func admit(
        _ entry: Snapshot.Entry,
        _ snapshot: Snapshot,
        _ target: String,
        _ method: Method,
        _ terms: RequestTerms,
        _ client: ClientIdentity?,
        _ share: CallerShare?
    ) throws(Problem) -> Admission {
        guard !terms.isLoop else {
            throw Problem(.loop, "the request has passed through this relay before (it stands in Via)")
        }
        if share != nil, shedding.refuses(terms.durable.priority),
            let refusal = shedding.refusal(terms.durable.priority, time)
        {
            throw refusal
        }
        let now = time.wallMilliseconds()
        let isDurable = terms.wantsDurable || entry.route.policy.delivery.mode == .durable
        if isDurable {
            try terms.durable.check(now, longest: entry.route.policy.delivery.expiresAfter, terms.options)
            let use = max(entry.route.policy.constrained, terms.options.constrained)
            if use == .refuse, isConstrained { throw Engine.constrained }
        }
        let moment = time.now()
        if !isDurable, let pause = entry.state.pause(at: moment) { throw Engine.paused(pause, moment) }
        let id = JobID(milliseconds: now, random: (entropy.next(), entropy.next()))
        var key: IdempotencyLocks.Lock?
        if !isDurable, let text = terms.durable.idempotencyKey {
            key = try idempotencyLocks.acquire(text, of: client, route: entry.route.name, by: id)
        }
        let context = JobContext(
            id: id,
            route: entry.route,
            method: method,
            target: target,
            options: terms.options,
            client: client,
            share: share,
            memory: entry.memory
        )
        return Admission(
            entry,
            snapshot,
            context,
            terms,
            isDurable: isDurable,
            keeping: isDurable || entry.route.keepsRequests ? terms.durable : nil,
            key: key
        )
    }

    /// The answer to a caller that will not wait for the route.
    private static func paused(_ held: PauseInForce, _ now: Instant) -> Problem {
        Problem(
            .routePaused,
            "the route is paused (\(held.pause.reason)); a request with Prefer: respond-async is kept until it goes on",
            retryAfter: held.end.map { max(.milliseconds(1), now.duration(to: $0)) } ?? .seconds(60)
        )
    }

    private static func emptySegment(in target: String) -> Problem {
        let scheme = target.prefix { $0 != ":" }.lowercased()
        if scheme == "http" || scheme == "https", target.dropFirst(scheme.count).hasPrefix("://") {
            return Problem(
                .badTarget,
                "a path is wanted here, not a whole URL: where the upstream is, its url in the route says"
            )
        }
        return Problem(
            .badTarget,
            "the path has an empty segment (//); remove the doubled slash, or let the route pass it on "
                + "(request.allow_empty_segments)"
        )
    }

    /// The answer to a caller that comes too late.
    package static var stopping: Problem {
        Problem(
            .draining,
            "the relay is stopping; send the request again in a moment",
            retryAfter: .seconds(1)
        )
    }

    package static func tooLarge(_ snapshot: Snapshot) -> Problem {
        Problem(
            .contentTooLarge,
            "the body is larger than \(snapshot.settings.maxRequestBody) bytes (limits.max_request_body)"
        )
    }
}

extension Problem {
    /// The same of a request to that route, where the configuration has it.
    fileprivate func placed(on route: String, _ snapshot: Snapshot) -> Problem {
        var problem = self
        if snapshot.routes[route] != nil { problem.route = route }
        return problem
    }
}

extension Snapshot.Entry {
    /// - Throws: `not_allowed`, `not_implemented`.
    fileprivate func checkCaller(_ client: ClientIdentity?, _ method: Method) throws(Problem) {
        if !route.policy.callers.isEmpty {
            guard let client, route.policy.callers.allows(user: client.user, groups: client.groups) else {
                let who = client.map { "uid \($0.user)" } ?? "a caller without peer credentials"
                throw Problem(
                    .notAllowed,
                    "the route's allow_users and allow_groups do not name you (\(who))"
                )
            }
        }
        guard method != .connect, method != .trace else {
            throw Problem(
                .notImplemented,
                "\(method.rawValue) cannot be relayed: what it does cannot be retried"
            )
        }
    }
}
