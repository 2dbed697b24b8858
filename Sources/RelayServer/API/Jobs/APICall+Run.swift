import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayPosix
import RelayRoute

extension APICall {
    /// Does what `POST /v1/jobs` asks, of one job or of an array of them.
    func run(_ document: [UInt8], _ caller: Caller) async throws(Problem) -> Answer {
        _ = try query()
        try await caller.server.problems.counting { () throws(Problem) in try checkJSON("a job") }
        // Blanks come before all else in the order of bytes.
        let first = document.first { $0 > UInt8(ascii: " ") }
        return first == UInt8(ascii: "[")
            ? try await keepAll(document, caller) : try await runOne(document, caller)
    }

    /// Runs a JSON job and answers with what became of it, or keeps it and answers with where it stands.
    private func runOne(_ document: [UInt8], _ caller: Caller) async throws(Problem) -> Answer {
        let server = caller.server
        let submission = try await server.problems.counting { () throws(Problem) in try Submission(document) }
        var jobFields = submission.fields
        // The request's own fields about the job count as in the drop-in way.
        for entry in fields.entries {
            let name = fields.nameText(entry).lowercased()
            guard name == "prefer" || name == "idempotency-key" || name.hasPrefix("waystation-") else {
                continue
            }
            jobFields.append(name, fields.valueText(entry))
        }
        let admission: Admission
        do throws(Problem) {
            admission = try server.engine.admit(
                submission,
                fields: jobFields,
                client: caller.client,
                share: caller.share
            )
        } catch {
            server.problems.count(error)
            throw submission.placed(error)
        }
        if admission.isDurable, submission.isAsynchronous == false {
            try await server.problems.counting { () throws(Problem) in throw Submission.kept(by: admission) }
        }
        if admission.isDurable {
            let request = KeptRequest(
                admission: admission,
                preferences: Preferences(fields),
                caller: caller
            )
            return try await request.document(submission.body)
        }
        let outcome = await server.engine.run(
            admission,
            body: submission.content,
            relay: server.relay,
            keeper: StandInKeeper.made(admission, server.durable, server.relay.ports)
        )
        var json = JSONObjectWriter()
        json.members(of: Job(outcome.report, finishedAt: SystemClock.wall() / 1_000_000))
        guard let response = outcome.answer else { return Answer(200, json.bytes) }
        let content = JSONContent(response.body)
        json.object("response") { JobAnswer.write(response, content, into: &$0) }
        return Answer(
            200,
            .stream(DocumentBody(AnswerDocument(json, content, reservation: outcome.reservation)))
        )
    }
}

extension Submission {
    /// A problem with a header field that stands for a member of this document, said of that member.
    func placed(_ problem: Problem) -> Problem {
        guard let field = problem.field,
            let option = JobOption.all.first(where: { $0.lowercasedField == field }), asks(for: option)
        else { return problem }
        return Submission.invalid(
            "/options/\(option.member)",
            JobOption.renamed(problem.detail, JobOption.all.filter { asks(for: $0) }) {
                "options.\($0.member)"
            }
        )
    }

    private func asks(for option: JobOption) -> Bool {
        fields.entries.contains { fields.matches($0, option.field) }
    }

    fileprivate static func kept(by admission: Admission) -> Problem {
        let keeper =
            admission.route.policy.delivery.mode == .durable
            ? "the route keeps every request (delivery.mode)"
            : "a field of the request asks for a job that is kept (Prefer or Waystation-…)"
        return invalid("/mode", keeper, hint: "leave out mode")
    }

    /// The terms in the job's own fields; its answer is collected.
    func terms() throws(Problem) -> RequestTerms { try Submission.terms(fields) }

    fileprivate static func terms(_ fields: HeaderFields) throws(Problem) -> RequestTerms {
        var terms = try RequestTerms(fields)
        terms.options.collectsAnswer = true
        return terms
    }

    static func invalid(_ pointer: String, _ message: String, hint: String? = nil) -> Problem {
        Problem(.invalidJob, "the job has 1 error; see errors", errors: [(pointer, message, hint)])
    }
}

extension Engine {
    /// Decides on a JSON job; its answer is collected.
    func admit(
        _ submission: Submission,
        fields: HeaderFields,
        client: ClientIdentity?,
        share: CallerShare?
    ) throws(Problem) -> Admission {
        try admit(
            route: submission.route,
            target: submission.target,
            method: submission.method,
            terms: Submission.terms(fields),
            length: UInt64(submission.body.count),
            client: client,
            share: share,
            hasEmptySegment: submission.hasEmptySegment
        )
    }
}
