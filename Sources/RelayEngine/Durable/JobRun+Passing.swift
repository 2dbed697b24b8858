import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

// A run whose first attempt is passed through: of what the ordinary path makes, there is only what is told of it.
extension JobRun: DeliveryReceiver {
    /// The facts of it until its upstream has answered.
    struct Passed: Sendable {
        let delivery: PassedDelivery
        let context: JobContext
        let log: RunLog
        let attempt: Attempt
    }

    /// - Returns: false, having done nothing, where it is not plain, or something would have to be waited for.
    func beginPassing() -> Bool {
        guard let passage, job.attempts == 0, job.record.bounds.attemptTimeout == nil,
            job.record.bounds.constrained == .send,
            case .bytes(let body) = claim.body, body.count <= MemoryAccount.free, stop == nil,
            store.maySend(claim.token)
        else { return false }
        return passage.begin(claim, body, for: self)
    }

    package func begunPassing(_ delivery: PassedDelivery) {
        let log = RunLog(self)
        var history = knownHistory
        history.log = log
        let context = JobContext(job, delivery.route.entry, history: history)
        let attempt = Attempt(
            number: claim.attemptNumber,
            upstream: delivery.route.plain.upstream.name,
            beganAt: delivery.wall
        )
        passed.withLock {
            $0 = Passed(delivery: delivery, context: context, log: log, attempt: attempt)
        }
        _ = log.beginNow(attempt)
        relay.ports.sink.record(.attemptBegan(context, attempt))
        // Nothing is on its way yet: an end that was asked for comes after it.
        if keep(delivery.sending) { relay.ports.execute { delivery.sending.cancel() } }
    }

    package var takesPlainAnswer: Bool { true }
    /// A record holds its answer's content.
    package var pieces: (any PieceReceiver)? { nil }

    package func hasMemory(for bytes: Int) -> Bool { bytes <= MemoryAccount.free }

    package func answered(_ answer: PassThroughAnswer, by sender: any PassThroughSender) -> Bool {
        guard let passed = passed.withLock({ $0.take() }) else { return false }
        _ = keep(nil)
        let (delivery, ports) = (passed.delivery, relay.ports)
        let now = ports.time.now()
        if let grant = delivery.grant {
            let route = delivery.route.entry.route
            let change = delivery.route.entry.memory.traffic.endedPlainly(
                grant,
                asked: { passed.context.requestClass },
                of: route,
                random: ports.entropy.next(),
                now.nanoseconds
            )
            if let change { ports.sink.record(.breakerChanged(route: route.name, change)) }
        }
        var attempt = passed.attempt
        attempt.duration = .nanoseconds(now.nanoseconds &- delivery.began)
        attempt.answered(
            UInt16(truncatingIfNeeded: answer.status),
            sender.address,
            wasReused: answer.wasReused,
            firstByte: answer.firstByte
        )
        var result = Delivery(
            passed.context,
            response(answer, delivery.route.entry.route),
            by: .upstream,
            attempts: [attempt]
        )
        // Its bytes are there already, and stay until they are on disk.
        if answer.length > MemoryAccount.free {
            result.reservation = ports.memory?.reserveUnchecked(answer.length)
        }
        #if DEBUG
        if passage?.checks == true { check(passed, result, answer, by: sender) }
        #endif
        finish(result, passed.log, delivery.route.entry.route, since: Instant(nanoseconds: delivery.began))
        return false
    }

    /// The answer, with what the job's record keeps of it.
    private func response(_ answer: PassThroughAnswer, _ route: Route) -> HTTPResponse {
        let status = Status(rawValue: UInt16(truncatingIfNeeded: answer.status))
        guard route.policy.delivery.keepsResponses == .always, let passage else {
            return HTTPResponse(status: status, fields: HeaderFields())
        }
        let content = unsafe UnsafeBufferPointer(
            start: answer.base + answer.body.lowerBound,
            count: answer.body.count
        )
        let body: Body = content.isEmpty ? .empty : unsafe .bytes(Array(content))
        return HTTPResponse(status: status, fields: passage.fields(of: answer), body: body)
    }
}

// The ordinary run that is made of one that was sent.
extension JobRun {
    package func promoted(
        _ sending: any Sending,
        _ reason: PromotionReason
    ) -> (OutboundRequest, any AnswerReceiver)? {
        guard let passed = passed.withLock({ $0.take() }) else { return nil }
        let (delivery, context) = (passed.delivery, passed.context)
        delivery.route.entry.memory.meter.promoted(reason, shard: relay.ports.shard)
        context.way.write(.promoted(reason))
        do throws(Failure) {
            let (execution, request) = try adopted(passed, delivery.grant, sending)
            let run = PromptRun(
                execution,
                passed.log,
                context.route,
                began: Instant(nanoseconds: delivery.began)
            )
            prompt.withLock { $0 = run }
            // Its connection is told afterwards: it is about to wait for the answer.
            if keep(sending) { relay.ports.execute { sending.cancel() } }
            return (request, self)
        } catch {
            broke(passed, error)
            return nil
        }
    }

    func adopted(
        _ passed: Passed,
        _ grant: AttemptGrant?,
        _ sending: any Sending
    ) throws(Failure) -> (Execution, OutboundRequest) {
        let (record, delivery) = (job.record, passed.delivery)
        return try relay.adopt(
            HTTPRequest(
                method: record.method,
                target: record.target,
                fields: record.fields,
                body: claim.body.body(from: store) ?? .empty
            ),
            passed.context,
            delivery.route.snapshot.vault,
            since: delivery.began,
            wall: delivery.wall,
            grant: grant,
            token: delivery.token,
            sending: sending
        )
    }

    /// No ordinary run can be made of one that was sent: what became of it is not known, and its upstream is not judged.
    private func broke(_ passed: Passed, _ failure: Failure) {
        _ = keep(nil)
        let (delivery, now) = (passed.delivery, relay.ports.time.now())
        let entry = delivery.route.entry
        if let grant = delivery.grant {
            let random = relay.ports.entropy.next()
            entry.memory.traffic.endedUnjudged(grant, of: entry.route, random: random, now.nanoseconds)
        }
        var failure = failure
        failure.sent = .unknown
        var attempt = passed.attempt
        attempt.duration = .nanoseconds(now.nanoseconds &- delivery.began)
        attempt.failure = failure
        var result = Delivery(passed.context, .dead(.outcomeUnknown), failure, attempts: [attempt])
        result.isUncertain = true
        finish(result, passed.log, entry.route, since: Instant(nanoseconds: delivery.began))
    }
}
