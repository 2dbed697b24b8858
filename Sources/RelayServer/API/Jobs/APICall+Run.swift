import RelayCore
import RelayEngine
import RelayJSON
import RelayPosix

extension APICall {
    /// Runs a JSON job and answers with what became of it, or keeps it and answers with where it stands.
    func run(_ document: [UInt8], _ connection: Connection) async throws(Problem) -> APIAnswer? {
        let server = connection.server
        _ = try Query(self, [])
        try checkJSON("a job")
        let submission = try Submission(document)
        var jobFields = submission.fields
        // What the caller says about the job in the request's own fields counts as in the drop-in way.
        for entry in fields.entries {
            let name = fields.nameText(entry).lowercased()
            guard name == "prefer" || name == "idempotency-key" || name.hasPrefix("waystation-") else {
                continue
            }
            jobFields.append(name, fields.valueText(entry))
        }
        let admission: Admission
        do throws(Problem) {
            admission = try server.engine.admit(submission, fields: jobFields, client: connection.client)
        } catch { throw submission.placed(error) }
        if admission.durable != nil, submission.isAsynchronous == false { throw Submission.kept }
        if let durable = admission.durable {
            return try await keep(admission, durable, submission, connection)
        }
        let outcome = await server.engine.run(admission, body: submission.content, relay: server.relay)
        server.engine.left(admission, outcome)
        guard connection.phase == .busy else { return nil }
        var json = FinishedJob(
            context: admission.context,
            outcome: outcome,
            acceptedAt: admission.acceptedAt,
            finishedAt: SystemClock.wallSeconds()
        ).document()
        guard let response = outcome.response else { return APIAnswer(200, json.bytes) }
        let content = JSONContent(response.body)
        json.object("response") { JobAnswer.write(response, content, into: &$0) }
        let answer = AnswerDocument(json, content, room: outcome.room)
        connection.respond(APIAnswer(200, []), length: UInt64(answer.length), isHead: false)
        await connection.send(answer, .length(UInt64(answer.length)))
        return nil
    }

    /// Keeps a job; the answer is its document, with the upstream's answer when the caller waited for it.
    private func keep(
        _ admission: Admission,
        _ durable: DurableOptions,
        _ submission: Submission,
        _ connection: Connection
    ) async throws(Problem) -> APIAnswer {
        let server = connection.server
        let accepted = try await JobIntake(server).keep(admission, submission.body)
        let answer = AcceptedAnswer(accepted: accepted, preferences: Preferences(fields))
        guard Sight(connection).mayLearn(accepted) else { return answer.answer(answer.receipt(admission)) }
        let view = JobView(server)
        if let wait = durable.wait, let job = try await connection.over(accepted.id, within: wait) {
            let document = try await view.document(of: job.record.id, withBodies: true, answers: true)
            return APIAnswer(200, document.bytes, fields: answer.fields())
        }
        guard let job = try await connection.kept(accepted.id) else {
            return answer.answer(answer.document(admission, durable))
        }
        return answer.answer(try await view.document(of: job.record.id).bytes)
    }
}

extension Submission {
    /// A problem with a header field that stands for a member of this document, said of that member.
    fileprivate func placed(_ problem: Problem) -> Problem {
        let members = ["waystation-delay": "delay", "waystation-not-before": "not_before"]
        guard let field = problem.field, let member = members[field],
            fields.pairs.contains(where: { $0.name.lowercased() == field })
        else { return problem }
        return Submission.invalid("/options/\(member)", problem.detail)
    }

    fileprivate static var kept: Problem {
        invalid("/mode", "the route keeps every request (delivery.mode)", hint: "leave out mode")
    }

    private static func invalid(_ pointer: String, _ message: String, hint: String? = nil) -> Problem {
        var problem = Problem(.invalidJob, "the job has 1 error; see errors")
        problem.errors = [(pointer, message, hint)]
        return problem
    }
}

extension Engine {
    /// Decides on a JSON job; its answer is collected.
    func admit(
        _ submission: Submission,
        fields: HeaderFields,
        client: ClientIdentity?
    ) throws(Problem) -> Admission {
        try admit(
            route: submission.route,
            target: submission.target,
            method: submission.method,
            fields: fields,
            length: UInt64(submission.body.count),
            client: client,
            collectsAnswer: true,
            hasEmptySegment: submission.hasEmptySegment
        )
    }
}

extension Outcome {
    var response: HTTPResponse? {
        switch ending {
        case .answered(let response, _): response
        case .failed(_, let answer): answer
        }
    }
}
