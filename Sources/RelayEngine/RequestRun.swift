package import RelayBase
package import RelayCore
package import RelayJobs
package import RelayRoute
import Synchronization

/// One admitted request on its way to its one outcome: by the events of its upstream's connection as long as it has not
/// to wait, by a task from its first wait on.
///
/// It has its hold on the relay until it is let go, when its answer has been passed on. Confined to its loop.
package final class RequestRun {
    private let engine: Engine
    private let admission: Admission
    private let relay: Relay
    private let began: Instant
    /// How long its body had taken by then.
    private let moved: Duration
    /// That of a job of a stream.
    private let ticket: AnswerTicket?
    /// The keeper that makes a job of the request where a rule wants that.
    private let keeper: (any RequestKeeper)?
    @safe @exclusivity(unchecked) private var lease: Lease?
    /// How long it waited for its permit.
    @safe @exclusivity(unchecked) private var permitWait: Duration?
    /// The memory that its answer takes.
    @safe @exclusivity(unchecked) private var reservation: MemoryReservation?
    @safe @exclusivity(unchecked) private var stage: Stage

    private enum Stage {
        case new(Body)
        /// In the queue for a permit.
        case queued(RouteState.PermitTicket, Body)
        case permitted(Body)
        /// Until the network is not constrained any more.
        case constrained(Body)
        /// Its body, which is held by who sends it, is being collected.
        case collecting
        case underWay(Execution)
        /// Over before it was under way.
        indirect case ended(Outcome)
        /// Its outcome is with who asked for it, and the content of its answer still on the way; its last attempt began
        /// at that moment of the monotonic clock.
        indirect case answering(Execution, JobReport, since: Instant)
        /// All of it is with who asked for it.
        case over
    }

    /// The request's permit, its idempotency key and its part in the count of those under way.
    private struct Lease: ~Copyable {
        private let engine: Engine
        private let key: IdempotencyLocks.Lock?
        var permit: RouteState.Permit?

        init(_ engine: Engine, _ key: IdempotencyLocks.Lock?) {
            self.engine = engine
            self.key = key
            engine.running.add(1, ordering: .relaxed)
        }

        /// Nothing more is sent under the key: a caller that has its answer may use it at once, on any connection.
        func releaseKey() { key?.release() }

        /// Of a request that is counted already.
        init(adopting engine: Engine, _ permit: consuming RouteState.Permit) {
            self.engine = engine
            key = nil
            self.permit = consume permit
        }

        deinit {
            key?.release()
            engine.running.subtract(1, ordering: .relaxed)
        }
    }

    package init(
        _ engine: Engine,
        _ admission: Admission,
        _ body: Body,
        _ relay: Relay,
        moved: Duration = .zero,
        ticket: AnswerTicket? = nil,
        keeper: (any RequestKeeper)? = nil
    ) {
        self.engine = engine
        self.moved = moved
        self.keeper = keeper
        self.admission = admission
        self.relay = relay
        self.ticket = ticket
        began = relay.ports.time.now()
        lease = Lease(engine, admission.key)
        stage = .new(body)
    }

    /// A request that was passed through goes on as an ordinary one, with its permit; `began` is in monotonic nanoseconds.
    package init(
        adopting execution: Execution,
        _ engine: Engine,
        _ admission: Admission,
        _ relay: Relay,
        since began: Int64
    ) {
        self.engine = engine
        self.admission = admission
        self.relay = relay
        keeper = nil
        ticket = nil
        moved = .zero
        self.began = Instant(nanoseconds: began)
        lease = Lease(adopting: engine, admission.state.adopted())
        stage = .underWay(execution)
    }

    /// Begins it, and goes on as far as nothing has to be waited for.
    package func begin(_ receiver: any AnswerReceiver) -> Execution.Progress {
        enter()
        if case .permitted(let body) = stage, body.isAtHand { start() }
        switch stage {
        case .new, .queued, .permitted, .constrained, .collecting: return .waits
        case .underWay(let execution): return execution.goOn(receiver)
        case .ended, .answering, .over: return .ended
        }
    }

    /// Goes on with what came of the request that was sent.
    package func tell(_ result: PromptResult, _ receiver: any AnswerReceiver) -> Execution.Progress {
        guard case .underWay(let execution) = stage else { return .ended }
        return execution.tell(result, receiver)
    }

    /// Nobody wants the answer any more: the receiver is told, where something is under way without a task.
    package func cancel() {
        if case .underWay(let execution) = stage { execution.cancel() }
    }

    /// Goes on from wherever it stands, and waits for what has to be waited for.
    package func finish() async -> Outcome {
        if case .new = stage { enter() }
        while case .constrained(let body) = stage { await waitForNetwork(body) }
        if case .queued(let ticket, let body) = stage { await wait(ticket, body) }
        if case .permitted(let body) = stage {
            stage = .collecting
            stage = begun(
                await relay.beginCollecting(
                    admission.request(body),
                    admission.context,
                    admission.snapshot.vault,
                    since: head,
                    moved: moved
                ),
                body
            )
        }
        if case .underWay(let execution) = stage { await execution.run(self) }
        return end()
    }

    /// Tells how it ended, as far as that is known before its answer's content is; to be called once, when it has.
    package func end() -> Outcome {
        var outcome: Outcome
        var execution: Execution?
        switch stage {
        case .underWay(let ended): (outcome, execution) = (ended.outcome, ended)
        case .ended(let ended): outcome = ended
        case .new, .queued, .permitted, .constrained, .collecting, .answering, .over:
            preconditionFailure("a request has one outcome, at its end")
        }
        stage = .over
        let ports = relay.ports
        if let permitWait { outcome.report = outcome.report.after(permitWait: permitWait) }
        if outcome.hasTaken { count() }
        if let execution, case .stream? = outcome.answer?.body, outcome.failure == nil {
            admission.context.memory.meter.isAnswered(shard: ports.shard)
            let report = outcome.report
            stage = .answering(execution, report, since: ports.time.now().before(by: report.lastTook))
        } else {
            lease?.releaseKey()
            ports.sink.record(.ended(outcome.report))
        }
        if let failure = outcome.failure, failure.kind == .cancelled, failure.sent == .unknown {
            engine.cutOff.add(1, ordering: .relaxed)
        }
        reservation = outcome.reservation
        return outcome
    }

    /// Whether its outcome is with who asked for it.
    package var isOver: Bool {
        switch stage {
        case .new, .queued, .permitted, .constrained, .collecting, .underWay, .ended: false
        case .answering, .over: true
        }
    }

    /// The content of its answer, which was not there with its head, has come to its end; the first call counts.
    package func answerEnded(_ end: AnswerEnd) {
        guard case .answering(let execution, let report, let since) = stage else { return }
        stage = .over
        lease?.releaseKey()
        execution.answerEnded(end)
        relay.ports.sink.tell(report, end, taken: since.duration(to: relay.ports.time.now()))
    }

    /// Its answer has been passed on, or is not wanted to its end.
    package func letGo() {
        answerEnded(.unwanted)
        reservation = nil
        lease = nil
    }

    deinit { answerEnded(.unwanted) }

    /// How long the caller has waited, with the trace it belongs to.
    private func count() {
        let (memory, ports) = (admission.context.memory, relay.ports)
        memory.meter.answered(since: began, ports.time.now(), shard: ports.shard) {
            guard let parent = admission.fields[.traceparent], let trace = TraceID(parent: parent) else {
                return nil
            }
            return (trace, ports.time.wallMilliseconds())
        }
    }

    /// When its head was there.
    private var head: Instant { began.before(by: moved) }

    /// - Returns: false where the route has no room for it to wait for a permit.
    @discardableResult
    private func enter() -> Bool {
        guard case .new(let body) = stage else { return true }
        if let crowd = admission.context.share?.crowd, crowd > 0, ticket == nil, isCrowding(crowd) {
            stage = .ended(Outcome(admission.context, crowding(crowd)))
            return true
        }
        if admission.context.constrainedUse == .wait, relay.ports.isConstrained(), presentUse == .wait {
            stage = .constrained(body)
            return true
        }
        switch entry(began) {
        case .permitted(let permit):
            lease?.permit = consume permit
            stage = .permitted(body)
        case .queued(let ticket): stage = .queued(ticket, body)
        case .full:
            stage = .ended(Outcome(admission.context, overloaded))
            return false
        }
        return true
    }

    private func entry(_ now: Instant) -> RouteState.Entry {
        let streams = admission.state.hasStreams && admission.wantsStream
        return admission.state.enter(admission.caller, urgency: admission.urgency, streams: streams, now)
    }

    private func start() {
        guard case .permitted(let body) = stage else { return }
        let result = relay.begin(
            admission.request(body),
            admission.context,
            admission.snapshot.vault,
            since: head,
            moved: moved
        )
        stage = begun(result, body)
    }

    private func begun(_ result: Result<Execution, Failure>, _ body: Body) -> Stage {
        switch result {
        case .success(let execution):
            execution.ticket = ticket
            execution.keeper = keeper
            return .underWay(execution)
        case .failure(let failure):
            return .ended(Outcome(admission.context, failure, sentOnceBecause: body.sentOnceBecause))
        }
    }

    /// Waits for a permit; the wait counts against the job's time.
    @inline(never)
    private func wait(_ ticket: RouteState.PermitTicket, _ body: Body) async {
        let time = relay.ports.time
        let queued = time.now()
        let permit = await permit(of: ticket, before: admission.deadline(since: head, moved: moved))
        permitWait = queued.duration(to: time.now())
        if let permit {
            lease?.permit = consume permit
            stage = .permitted(body)
        } else {
            stage = .ended(Outcome(admission.context, missed))
        }
    }

    /// - Returns: nil where there is none by the deadline, or nobody wants it any more.
    private func permit(
        of ticket: RouteState.PermitTicket,
        before deadline: Instant
    ) async -> RouteState.Permit? {
        let time = relay.ports.time
        var now = time.now()
        repeat {
            // An answer may begin to stream meanwhile, and be one too many of its caller's.
            let look = admission.state.nextRecall(now) ?? now.advanced(by: StreamShares.gracePeriod)
            await cancelling(at: min(deadline, look), time) { await ticket.wait() }
            now = time.now()
            if ticket.isAdmitted { break }
            admission.state.waits(admission.caller, now)
        } while now < deadline && !Task.isCancelled
        return ticket.take()
    }

    /// Whether the route has its requests wait, and most connections of the caller, which has nearly all it may have.
    ///
    /// Only the number of the others that are with the upstream is known: they count as the caller's.
    @inline(never)
    private func isCrowding(_ connections: Int) -> Bool {
        let half = (connections + 1) / 2
        if admission.state.isCrowded(by: admission.caller, atLeast: half) { return true }
        guard admission.state.load.inFlight >= half else { return false }
        return waiting != nil
    }

    private func crowding(_ connections: Int) -> Failure {
        var failure = Failure(
            .overloaded,
            sent: .neverSent,
            "most of its user's \(connections) connections carry requests that wait on this route; the last eighth is left "
                + "to others (limits.per_user.max_connections)"
        )
        failure.retryAfter = .seconds(1)
        return failure
    }

    /// The reason why requests like this one wait for a turn; nil where they do not.
    private var waiting: AttemptDeferral? {
        let (context, now) = (admission.context, relay.ports.time.now())
        let asked = RequestClass(
            context.method,
            target: context.target,
            contentLength: 0,
            user: context.client?.user,
            credential: admission.route.callersCredential(admission.fields)
        )
        return admission.entry.memory.traffic.wait(of: asked, admission.route, now)
    }

    /// The upstream's word, where that has requests wait until they fill the route: a request that finds no place beside
    /// them is told that, and not that the route has too few permits.
    private var heldUp: Failure? {
        guard let waiting, waiting.reason != .rateLimited else { return nil }
        return waiting.failure(relay.ports.time.now())
    }

    private var overloaded: Failure {
        if let heldUp { return heldUp }
        var failure = Failure(
            .overloaded,
            sent: .neverSent,
            "the route has \(admission.route.policy.concurrency.maxRequests) requests under way and no room"
                + " for another to wait (concurrency)"
        )
        failure.retryAfter = .seconds(1)
        return failure
    }

    /// Why there is no permit at the end of the wait for it.
    private var missed: Failure {
        if Task.isCancelled { return Failure(.cancelled, sent: .neverSent, "the caller hung up") }
        let isForStreams =
            admission.wantsStream
            && admission.state.hasItsStreams(admission.caller, relay.ports.time.now())
        if !isForStreams, let heldUp { return heldUp }
        let words =
            isForStreams
            ? "the answers that stream to its user hold as many permits of the route as they may, all but an eighth, and "
                + "none ended before the deadline (concurrency)"
            : "no permit of the route was free before the deadline (concurrency)"
        return Failure(.deadlineExceeded, sent: .neverSent, words)
    }
}

// A request that only waits, for the disk or an operation, keeps no other from the upstream.
extension RequestRun: PermitHolder {
    package func giveBackPermit() { lease?.permit = nil }

    package func giveUp() {
        lease?.permit = nil
        lease?.releaseKey()
    }

    package func regainPermit(before deadline: Instant) async -> Bool {
        let time = relay.ports.time
        var now = time.now()
        while now < deadline {
            switch entry(now) {
            case .permitted(let permit):
                lease?.permit = consume permit
                return true
            case .queued(let ticket):
                guard let permit = await permit(of: ticket, before: deadline) else { return false }
                lease?.permit = consume permit
                return true
            case .full: break
            }
            let next = min(now.advanced(by: RequestRun.look), deadline)
            do throws(CancellationError) { try await time.sleep(until: next) } catch { return false }
            now = time.now()
        }
        return false
    }
}

// Waiting for the network, without a permit: those that wait take none from others.
extension RequestRun {
    /// How long until it is looked again whether the network is still constrained.
    private static let look: Duration = .milliseconds(250)

    /// Waits until the network is not constrained, or the route has it wait no more, and then for its turn.
    @inline(never)
    private func waitForNetwork(_ body: Body) async {
        guard let wait = admission.state.waitForNetwork(admission.caller) else {
            stage = .ended(Outcome(admission.context, tooManyWait))
            return
        }
        defer { withExtendedLifetime(wait) {} }
        let (time, deadline) = (relay.ports.time, admission.deadline(since: head, moved: moved))
        while true {
            let now = time.now()
            let use = relay.ports.isConstrained() ? presentUse : .send
            let isLast = now >= deadline || Task.isCancelled
            if use < .wait {
                stage = .new(body)
                // More may be let go at once than may wait for a permit: one too many keeps its place here.
                if enter() || isLast { return }
                stage = .constrained(body)
            } else if use > .wait || isLast {
                stage = .ended(Outcome(admission.context, missedNetwork(use)))
                return
            }
            try? await time.sleep(until: min(deadline, now.advanced(by: RequestRun.look)))
        }
    }

    private var presentUse: ConstrainedUse { engine.constrainedUse(of: admission.context) }

    private func missedNetwork(_ use: ConstrainedUse) -> Failure {
        if Task.isCancelled { return Failure(.cancelled, sent: .neverSent, "the caller hung up") }
        return .networkConstrained(admission.context, use)
    }

    private var tooManyWait: Failure {
        var failure = Failure(
            .overloaded,
            sent: .neverSent,
            "as many requests of the route wait for a network that is not constrained as may (concurrency.max_pending_requests)"
        )
        failure.retryAfter = .seconds(1)
        return failure
    }
}

extension Engine {
    /// Runs an admitted request to its one outcome, in the task that asks for it.
    package func run(
        _ admission: Admission,
        body: Body,
        relay: Relay,
        ticket: AnswerTicket? = nil,
        keeper: (any RequestKeeper)? = nil
    ) async -> Outcome {
        let run = RequestRun(self, admission, body, relay, ticket: ticket, keeper: keeper)
        defer { run.letGo() }
        return await run.finish()
    }
}

extension Outcome {
    /// Whether its caller waited for more than a no.
    fileprivate var hasTaken: Bool { failure == nil || attempts.contains { $0.exchange != nil } }
}
