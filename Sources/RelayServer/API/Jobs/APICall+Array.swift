import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

extension APICall {
    /// Jobs of one array at most.
    static let arrayLimit = 1_000

    /// Keeps the jobs of an array in one commit, and then tells of each what became of it.
    func keepAll(_ document: [UInt8], _ caller: Caller) async throws(Problem) -> Answer {
        guard !caller.server.engine.isDraining else { throw Engine.stopping }
        try fields.checkNone(of: "an array of jobs")
        let isAsynchronous = Preferences(fields).isAsynchronous
        var jobs: [(id: String?, job: Result<KeptJob, Problem>)] = []
        for element in try APICall.elements(document) {
            // Many jobs must not have the loop to themselves.
            if jobs.count % 64 == 63 { await caller.nextIteration() }
            let job = StreamedJob(.success(element))
            let kept = Result { () throws(Problem) in
                try admit(job.submission.get(), isAsynchronous, caller)
            }
            jobs.append((job.id, kept))
        }
        let outcomes = await caller.server.intake().keep(jobs.map(\.job))
        for outcome in outcomes { caller.server.problems.count(outcome) }
        let told = ListedOutcomes(
            jobs: zip(jobs, outcomes).map { ListedOutcome(id: $0.id, outcome: $1) }
        )
        return Answer(
            // A caller that looks at the status alone must not take an array of which nothing is kept for accepted.
            told.refused == jobs.count ? 422 : 200,
            told.bytes,
            fields: isAsynchronous ? [("Preference-Applied", "respond-async")] : []
        )
    }

    private static func elements(_ document: [UInt8]) throws(Problem) -> [JSONValue] {
        let value = try JSONValue(document, as: "the array of jobs", or: .invalidJob)
        guard case .array(let elements) = value, (1...arrayLimit).contains(elements.count) else {
            throw Problem(.invalidJob, "an array has 1 to \(arrayLimit) jobs; send more in several")
        }
        return elements
    }

    private func admit(
        _ submission: Submission,
        _ isAsynchronous: Bool,
        _ caller: Caller
    ) throws(Problem) -> KeptJob {
        var fields = submission.fields
        if isAsynchronous { fields.append("Prefer", "respond-async") }
        let admission: Admission
        do throws(Problem) {
            admission = try caller.server.engine.admit(
                submission,
                fields: fields,
                client: caller.client,
                share: caller.share
            )
        } catch { throw submission.placed(error) }
        guard admission.isDurable, submission.isAsynchronous != false else {
            throw Submission.invalid(
                "/mode",
                "the jobs of an array are kept, which this one does not ask for",
                hint: "say \"async\""
            )
        }
        return KeptJob(admission, submission.body)
    }
}
