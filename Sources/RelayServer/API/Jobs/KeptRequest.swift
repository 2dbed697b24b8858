import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute

/// A request that is kept: answered as soon as it is on disk, or with what became of it in time.
struct KeptRequest {
    let admission: Admission
    let preferences: Preferences
    let caller: Caller

    /// The answer is that of the upstream, when the caller waited for it.
    func answer(_ body: Body, refusal: () -> Problem?) async throws(Problem) -> Answer {
        let intake = caller.server.intake()
        let tally = caller.server.problems
        let accepted = try await tally.counting(of: admission.route.name) { () async throws(Problem) in
            switch body {
            case .empty: return try await intake.keep(admission, [])
            case .bytes(let bytes): return try await intake.keep(admission, bytes)
            case .stream(let source):
                return try await intake.keep(admission, source) { failure in
                    refusal() ?? Problem(.badRequest, failure.detail)
                }
            }
        }
        return try await answer(accepted)
    }

    /// The same of a job that is on its way to disk already.
    func answer(_ keeping: PromptAcceptance) async throws(Problem) -> Answer {
        let accepted = try await caller.server.problems.counting(of: admission.route.name) {
            () async throws(Problem) in
            try await keeping.finish()
        }
        return try await answer(accepted)
    }

    private func answer(_ accepted: Acceptance.Accepted) async throws(Problem) -> Answer {
        let answer = AcceptedAnswer(accepted: accepted, preferences: preferences)
        guard JobAccess(caller).mayLearn(accepted) else { return answer.answer(answer.receipt(admission)) }
        if let wait = admission.keeping.wait, let job = try await caller.over(accepted.id, within: wait) {
            // Answered, and the answer is not kept (delivery.keep_responses): only the job can tell.
            if !job.hasAnswer, job.state == .succeeded || job.state == .dead && job.failureStatus != nil {
                return answer.answer(try await JobView(caller.server).document(of: accepted.id).bytes)
            }
            let fields = answer.fields
            return try await caller.server.replay(job).answer(isSubmission: true, fields)
        }
        let job = accepted.isReplayed ? try await caller.kept(accepted.id) : nil
        guard let job else { return answer.answer(answer.document(admission)) }
        return answer.answer(try await JobView(caller.server).document(of: job.record.id).bytes)
    }

    /// The answer is the job's document, with the upstream's answer when the caller waited for it.
    func document(_ body: [UInt8]) async throws(Problem) -> Answer {
        let intake = caller.server.intake()
        let tally = caller.server.problems
        let accepted = try await tally.counting(of: admission.route.name) { () async throws(Problem) in
            try await intake.keep(admission, body)
        }
        let answer = AcceptedAnswer(accepted: accepted, preferences: preferences)
        guard JobAccess(caller).mayLearn(accepted) else { return answer.answer(answer.receipt(admission)) }
        let view = JobView(caller.server)
        if let wait = admission.keeping.wait, let job = try await caller.over(accepted.id, within: wait) {
            let document = try await view.document(of: job.record.id, withBodies: true, answers: true)
            return answer.answer(200, document.bytes)
        }
        guard let job = try await caller.kept(accepted.id) else {
            return answer.answer(answer.document(admission))
        }
        return answer.answer(try await view.document(of: job.record.id).bytes)
    }
}
