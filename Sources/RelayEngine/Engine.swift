package import RelayCore
import Synchronization

/// The gate and the dispatcher: who may send what, and when.
package final class Engine: Sendable {
    let time: any ClockSource
    let entropy: any Entropy
    private let keys = KeysUnderWay()
    private let current: Mutex<Snapshot>
    private let draining = Atomic<Bool>(false)
    private let running = Atomic<Int>(0)
    private let cutOff = Atomic<Int>(0)
    package let recent = RecentJobs(capacity: 1024)
    /// Pauses a route for a rule; whoever keeps the pauses sets it.
    let pausing = Mutex<(@Sendable (_ route: String, _ rule: String?, _ reason: String) -> Void)?>(nil)

    package init(snapshot: Snapshot, time: any ClockSource, entropy: any Entropy) {
        current = Mutex(snapshot)
        self.time = time
        self.entropy = entropy
    }

    package var snapshot: Snapshot { current.withLock { $0 } }

    /// Makes `snapshot` the configuration of every request from now on.
    package func install(_ snapshot: Snapshot) { current.withLock { $0 = snapshot } }

    /// From now on new requests are refused with `draining`.
    package func drain() { draining.store(true, ordering: .relaxed) }

    package var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Requests with an upstream or waiting for a place, whatever configuration they began with.
    package var inFlight: Int { running.load(ordering: .relaxed) }

    /// Requests that were given up with an unknown outcome, by their callers or by a stop.
    package var inDoubt: Int { cutOff.load(ordering: .relaxed) }

    /// Decides on a request by its head alone, before a byte of its body is asked for.
    ///
    /// `whileDraining` lets in what a caller sent on a connection that was open before the stop: it could not tell a
    /// restart from a failure. `target` stands below the route, checked and without leading slash; `length` is what the
    /// body announces, nil when it is chunked; `hasEmptySegment` tells of a `//` in the path.
    package func admit(
        route name: String,
        target: String,
        method: Method,
        fields: HeaderFields,
        length: UInt64?,
        client: ClientIdentity?,
        collectsAnswer: Bool = false,
        whileDraining: Bool = false,
        hasEmptySegment: Bool = false
    ) throws(Problem) -> Admission {
        guard whileDraining || !isDraining else {
            throw Engine.stopping
        }
        let snapshot = snapshot
        guard let entry = snapshot.routes[name] else {
            var problem = Problem(.routeNotFound, "the configuration has no route \"\(name.prefix(64))\"")
            problem.didYouMean = nearestWord(to: name, among: snapshot.routeNames)
            throw problem
        }
        do throws(Problem) {
            if hasEmptySegment, !entry.route.policy.request.allowsEmptySegments {
                throw Engine.emptySegment(in: target)
            }
            return try admit(entry, snapshot, target, method, fields, length, client, collectsAnswer)
        } catch {
            var problem = error
            problem.route = name
            throw problem
        }
    }

    private func admit(
        _ entry: Snapshot.Entry,
        _ snapshot: Snapshot,
        _ target: String,
        _ method: Method,
        _ fields: HeaderFields,
        _ length: UInt64?,
        _ client: ClientIdentity?,
        _ collectsAnswer: Bool
    ) throws(Problem) -> Admission {
        if !entry.route.policy.callers.isEmpty {
            guard let client, entry.route.policy.callers.allows(user: client.user, groups: client.groups)
            else {
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
        if let length, length > UInt64(snapshot.maxRequestBody) { throw Engine.tooLarge(snapshot) }
        var sorted = try RelayFields(fields)
        sorted.options.collectsAnswer = collectsAnswer
        guard !sorted.isLoop else {
            throw Problem(.loop, "the request has passed through this relay before (it stands in Via)")
        }
        let now = time.wallMilliseconds()
        let isDurable = sorted.wantsDurable || entry.route.policy.delivery.mode == .durable
        if isDurable {
            try sorted.durable.check(now, longest: entry.route.policy.delivery.expiresAfter, sorted.options)
        }
        let moment = time.now()
        if !isDurable, let pause = entry.state.pause(at: moment) { throw Engine.paused(pause, moment) }
        let id = JobID(milliseconds: now, random: (entropy.next(), entropy.next()))
        var key: KeysUnderWay.Held?
        if !isDurable, let text = sorted.durable.idempotencyKey {
            key = try keys.hold(text, of: client, route: entry.route.name, by: id)
        }
        let context = JobContext(
            id: id,
            route: entry.route,
            method: method,
            target: target,
            options: sorted.options,
            client: client,
            memory: entry.memory
        )
        return Admission(
            entry: entry,
            snapshot: snapshot,
            context: context,
            fields: sorted.forwarded,
            acceptedAt: now / 1000,
            durable: isDurable ? sorted.durable : nil,
            key: key
        )
    }

    /// What is answered to who will not wait for the route.
    private static func paused(_ held: PauseInForce, _ now: Instant) -> Problem {
        var problem = Problem(
            .routePaused,
            "the route is paused (\(held.pause.reason)); a request with Prefer: respond-async is kept until it goes on"
        )
        problem.retryAfter = held.end.map { max(.milliseconds(1), now.duration(to: $0)) } ?? .seconds(60)
        return problem
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

    /// What who comes too late is told.
    package static var stopping: Problem {
        var problem = Problem(.draining, "the relay is stopping; send the request again in a moment")
        problem.retryAfter = .seconds(1)
        return problem
    }

    package static func tooLarge(_ snapshot: Snapshot) -> Problem {
        Problem(
            .contentTooLarge,
            "the body is larger than \(snapshot.maxRequestBody) bytes (limits.max_request_body)"
        )
    }

    /// Runs an admitted request to its one outcome; the caller gives the place back with `left` when the answer
    /// has been passed on.
    ///
    /// `turn` is that of a job of a stream.
    package func run(
        _ admission: Admission,
        body: Body,
        relay: Relay,
        turn: AnswerTurn? = nil
    ) async -> Outcome {
        running.add(1, ordering: .relaxed)
        let began = relay.ports.time.now()
        if let mayEnter = admission.state.tryEnter() {
            guard mayEnter else { return refused(admission, overloaded(admission), relay) }
        } else if let failure = await wait(admission, since: began, relay.ports.time) {
            return refused(admission, failure, relay)
        }
        let outcome = await relay.perform(
            admission.request(body),
            context: admission.context,
            vault: admission.snapshot.vault,
            since: began,
            turn: turn
        )
        ended(admission, outcome, sentOnceBecause: body.sentOnceBecause)
        return outcome
    }

    package func left(_ admission: Admission, _ outcome: Outcome) {
        if outcome.hasPlace { admission.state.leave() }
        admission.key?.letGo()
        running.subtract(1, ordering: .relaxed)
    }

    @inline(never)
    private func ended(_ admission: Admission, _ outcome: Outcome, sentOnceBecause: String? = nil) {
        let now = time.wallSeconds()
        if case .failed(let failure, _) = outcome.ending, failure.kind == .cancelled, failure.sent == .unknown
        {
            cutOff.add(1, ordering: .relaxed)
        }
        let isBreach =
            if case .failed(let failure, _) = outcome.ending {
                admission.context.isBreached(by: failure)
            } else {
                false
            }
        admission.state.ended(outcome, isBreach: isBreach, wallSeconds: now)
        if let reason = outcome.pauseReason {
            pausing.withLock { $0 }?(admission.route.name, outcome.attempts.last?.rule, reason)
        }
        recent.keep(
            FinishedJob(
                context: admission.context,
                outcome: outcome,
                acceptedAt: admission.acceptedAt,
                finishedAt: now,
                sentOnceBecause: sentOnceBecause
            )
        )
    }

    @inline(never)
    private func refused(_ admission: Admission, _ failure: Failure, _ relay: Relay) -> Outcome {
        if admission.context.isBreached(by: failure) {
            relay.ports.sink.record(.neverFailsBreached(admission.context, failure))
        }
        relay.ports.sink.record(.jobFailed(admission.context, failure, attempts: []))
        let outcome = Outcome(ending: .failed(failure, answer: nil), attempts: [], hasPlace: false)
        ended(admission, outcome)
        return outcome
    }

    @inline(never)
    private func overloaded(_ admission: Admission) -> Failure {
        var failure = Failure(
            .overloaded,
            sent: .neverSent,
            "the route has \(admission.route.policy.concurrency.maxRequests) requests under way and no room"
                + " for another to wait (concurrency)"
        )
        failure.retryAfter = .seconds(1)
        return failure
    }

    /// Waits for a place; the wait counts against the job's time.
    ///
    /// - Returns: why there is none; nil when the request may go on.
    @inline(never)
    private func wait(_ admission: Admission, since began: Instant, _ time: any TimeSource) async -> Failure?
    {
        let deadline = began.advanced(by: admission.total)
        if await cancelling(at: deadline, time, { await admission.state.enter() }) == true { return nil }
        if Task.isCancelled { return Failure(.cancelled, sent: .neverSent, "the caller hung up") }
        guard time.now() >= deadline else { return overloaded(admission) }
        return Failure(
            .deadlineExceeded,
            sent: .neverSent,
            "no place of the route was free before the deadline (concurrency)"
        )
    }
}
