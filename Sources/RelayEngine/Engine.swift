package import RelayCore
import Synchronization

/// The gate and the dispatcher: who may send what, and when.
package final class Engine: Sendable {
    private let time: any TimeSource
    private let entropy: any Entropy
    private let current: Mutex<Snapshot>
    private let draining = Atomic<Bool>(false)
    package let recent = RecentJobs(capacity: 1024)

    package init(snapshot: Snapshot, time: any TimeSource, entropy: any Entropy) {
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

    /// Requests with an upstream or waiting for a place, over all routes.
    package var inFlight: Int {
        snapshot.routes.values.reduce(0) { $0 + $1.load.inFlight + $1.load.pending }
    }

    /// Decides on a request by its head alone, before a byte of its body is asked for.
    ///
    /// `target` stands below the route, checked and without leading slash; `length` is what the body announces, nil
    /// when it is chunked.
    package func admit(
        route name: String, target: String, method: Method, fields: HeaderFields, length: UInt64?,
        client: ClientIdentity?
    ) throws(Problem) -> Admission {
        guard !isDraining else {
            var problem = Problem(.draining, "the relay is stopping; send the request again in a moment")
            problem.retryAfter = .seconds(1)
            throw problem
        }
        let snapshot = snapshot
        guard let state = snapshot.routes[name] else {
            var problem = Problem(.routeNotFound, "the configuration has no route \"\(name.prefix(64))\"")
            problem.didYouMean = nearestWord(to: name, among: snapshot.routeNames)
            throw problem
        }
        do throws(Problem) {
            return try admit(state, snapshot, target, method, fields, length, client)
        } catch {
            var problem = error
            problem.route = name
            throw problem
        }
    }

    private func admit(
        _ state: RouteState, _ snapshot: Snapshot, _ target: String, _ method: Method, _ fields: HeaderFields,
        _ length: UInt64?, _ client: ClientIdentity?
    ) throws(Problem) -> Admission {
        if !state.route.policy.callers.isEmpty {
            guard let client, state.route.policy.callers.allows(user: client.user, groups: client.groups) else {
                let who = client.map { "uid \($0.user)" } ?? "a caller without peer credentials"
                throw Problem(
                    .notAllowed, "the route's allow_users and allow_groups do not name you (\(who))")
            }
        }
        guard method != .connect, method != .trace else {
            throw Problem(.notImplemented, "\(method.rawValue) cannot be relayed: what it does cannot be retried")
        }
        if let length, length > UInt64(snapshot.maxRequestBody) { throw Engine.tooLarge(snapshot) }
        let sorted = try RelayFields(fields)
        guard !sorted.isLoop else {
            throw Problem(.loop, "the request has passed through this relay before (it stands in Via)")
        }
        if sorted.wantsDurable || state.route.policy.delivery == .durable {
            throw Problem(
                .durableUnavailable,
                "this version keeps no jobs on disk: leave out respond-async, and delivery.mode durable")
        }
        let now = time.wallMilliseconds()
        let context = JobContext(
            id: JobID(milliseconds: now, random: (entropy.next(), entropy.next())), route: state.route,
            method: method, target: target, options: sorted.options, client: client)
        return Admission(
            state: state, snapshot: snapshot, context: context, fields: sorted.forwarded,
            acceptedAt: now / 1000)
    }

    package static func tooLarge(_ snapshot: Snapshot) -> Problem {
        Problem(
            .contentTooLarge,
            "the body is larger than \(snapshot.maxRequestBody) bytes (limits.max_request_body)")
    }

    /// Runs an admitted request to its one outcome; the caller gives the place back with `left` when the answer
    /// has been passed on.
    package func run(_ admission: Admission, body: Body, relay: Relay) async -> Outcome {
        var mayEnter = admission.state.tryEnter()
        if mayEnter == nil {
            let deadline = relay.ports.time.now().advanced(by: admission.total)
            mayEnter = await cancelling(at: deadline, relay.ports.time) { await admission.state.enter() }
            if mayEnter != true, let failure = waitEnded(relay.ports.time.now() >= deadline) {
                return ended(admission, Outcome(ending: .failed(failure, answer: nil), attempts: [], hasPlace: false))
            }
        }
        guard mayEnter == true else { return ended(admission, overloaded(admission)) }
        let request = Request(
            method: admission.context.method, target: admission.context.target, fields: admission.fields,
            body: body)
        return ended(
            admission, await relay.perform(request, context: admission.context, vault: admission.snapshot.vault))
    }

    package func left(_ admission: Admission, _ outcome: Outcome) {
        if outcome.hasPlace { admission.state.leave() }
    }

    private func ended(_ admission: Admission, _ outcome: Outcome) -> Outcome {
        let now = time.wallSeconds()
        admission.state.ended(outcome, wallSeconds: now)
        recent.keep(
            JobRecord(
                context: admission.context, outcome: outcome, acceptedAt: admission.acceptedAt, finishedAt: now))
        return outcome
    }

    private func overloaded(_ admission: Admission) -> Outcome {
        var failure = Failure(
            .overloaded, sent: .neverSent,
            "the route has \(admission.route.policy.concurrency.maxRequests) requests under way and no room"
                + " for another to wait (concurrency)")
        failure.retryAfter = .seconds(1)
        return Outcome(ending: .failed(failure, answer: nil), attempts: [], hasPlace: false)
    }

    /// Why a request stopped waiting for a place; nil when it was not let wait.
    private func waitEnded(_ isLate: Bool) -> Failure? {
        if Task.isCancelled { return Failure(.cancelled, sent: .neverSent, "the caller went away") }
        guard isLate else { return nil }
        return Failure(
            .deadlineExceeded, sent: .neverSent, "no place of the route was free before the deadline (concurrency)")
    }
}
