import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport

/// A program's own code in the way of one job, misbehaving as its seed says.
final class ProgramCode: JobHooks {
    private let world: Confined<World>
    private let owner: Confined<JobRecord>

    init(_ world: World, _ job: JobRecord) {
        self.world = Confined(world)
        owner = Confined(job)
    }

    private var job: JobRecord { owner.value }
    private var checker: Checker { world.value.checker }

    func hasSteps(_ phase: PreparationPhase) -> Bool {
        if case .nothing? = job.program?.manners.preparing { return false }
        return phase == .attempt
    }

    func prepare(
        _ phase: PreparationPhase,
        _ request: HTTPRequest,
        number: Int
    ) async throws(Failure) -> HTTPRequest {
        guard let program = job.program, hasSteps(phase) else { return request }
        checker.prepares(job)
        // A key that stays the same in all attempts is set in all of them.
        if program.manners.preparing != .steadyKey, !program.draw.chance(75) {
            checker.prepared(job, key: key(of: request))
            return request
        }
        var prepared = request
        let draws = program.draw.next()
        var draw = SplitMix64(seed: draws)
        switch program.manners.preparing {
        case .nothing: break
        case .otherMethod: prepared.method = draw.pick([.get, .post, .put, .patch])
        case .freshKey: replaceKey(&prepared, "f\(number)")
        case .steadyKey: replaceKey(&prepared, "s")
        case .otherTarget: prepared.target = "t\(draw.below(12))"
        case .otherBody:
            if prepared.method != .get { prepared.body = .bytes(Array(#"{"b":2}"#.utf8)) }
        case .fails: throw unprepared()
        case .waits:
            guard await world.pause(until: world.value.timeline.now + draw.time(0...400)) else {
                throw unprepared()
            }
        case .hangs:
            checker.note(.programHung)
            _ = await world.pause(until: .max)
            throw unprepared()
        case .isDeaf:
            program.isDeaf = true
            checker.note(.programDeaf)
            await world.outwait(until: job.attemptDeadline + draw.time(0...2_500))
        }
        checker.prepared(job, key: key(of: prepared))
        return prepared
    }

    func classify(_ response: HTTPResponse) -> Failure? {
        guard let program = job.program, program.draw.chance(program.manners.classifies) else { return nil }
        checker.note(.programClassified)
        return program.forged(response.status)
    }

    func quickRecovery(_ failure: Failure, _ response: HTTPResponse?) -> HTTPResponse? {
        guard let program = job.program, program.draw.chance(program.manners.recovers) else { return nil }
        checker.note(.programRecovered)
        return HTTPResponse(status: 203)
    }

    func accept(_ response: HTTPResponse, isQuickRecovered: Bool) throws(Failure) {
        guard let program = job.program else { return }
        program.accepted = nil
        if program.draw.chance(program.manners.rejects) {
            checker.note(.programRejected)
            if world.value.plant == .forcesAnswer { return }
            throw program.forged(nil)
        }
        program.accepted = response.status.rawValue
    }

    func consult(
        _ strategy: any RecoveryStrategy,
        about failure: Failure,
        of request: HTTPRequest,
        _ context: RecoveryContext
    ) async -> RecoveryDisposition {
        await strategy.recover(from: failure, of: request, context: context)
    }

    func named(_ failure: Failure) -> Failure {
        guard let program = job.program, program.draw.chance(program.manners.renames) else { return failure }
        checker.note(.programRenamed)
        var renamed = failure
        let forged = program.forged(failure.status)
        renamed.kind = forged.kind
        program.isRenamed = true
        renamed.sent = forged.sent
        renamed.status = forged.status
        renamed.retryAfter = forged.retryAfter
        renamed.isRetryable = forged.isRetryable
        return renamed
    }

    func attemptBegan(_ attempt: Attempt, of request: HTTPRequest) { checker.observedBegin(job, attempt) }

    func responded(_ response: HTTPResponse, _ attempt: Attempt) {
        checker.observedAnswer(job, response, attempt)
    }

    func decided(_ attempt: Attempt) {
        if world.value.plant == .losesDecision, job.number % 100 == 99 { return }
        checker.observedDecision(job, attempt)
    }

    private func key(of request: HTTPRequest) -> String? {
        ["idempotency-key", "webhook-id", "x-once"].lazy.compactMap(FieldName.init)
            .compactMap { request.fields[$0] }.first
    }

    private func replaceKey(_ request: inout HTTPRequest, _ key: String) {
        request.fields.remove(.idempotencyKey)
        request.fields.append("Idempotency-Key", key)
    }

    private func unprepared() -> Failure {
        job.program?.isUnprepared = true
        checker.note(.programUnprepared)
        let isDisguised = world.value.plant == .disguisesPreparation
        return Failure(isDisguised ? .connectionRefused : .preparation, sent: .neverSent, "simulated")
    }
}

extension ProgramRecord {
    func forged(_ status: Status?) -> Failure {
        let kinds: [FailureKind] = [
            .connectionRefused, .httpResponseTimeout, .httpStatus, .apiError, .preparation, .cancelled, "own",
            .credentialsFailed,
        ]
        var failure = Failure(
            kinds[draw.weighted([30, 10, 10, 10, 3, 2, 20, 5])],
            sent: draw.pick([.neverSent, .neverSent, .unknown, .answered]),
            "simulated",
            status: draw.pick([nil, status, 503, 401])
        )
        failure.isRetryable = draw.pick([nil, nil, true, false])
        failure.retryAfter = draw.pick([nil, nil, .zero, .seconds(-5), .milliseconds(50), .seconds(1 << 40)])
        return failure
    }
}
