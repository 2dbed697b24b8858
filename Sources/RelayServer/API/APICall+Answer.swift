import RelayCore
import RelayEngine
import RelayHTTP
import RelayJSON
import RelayPosix

extension APICall {
    /// Does what the call asks and answers on `connection`.
    func answer(_ document: [UInt8], on connection: Connection) async {
        let server = connection.server
        do throws(Problem) {
            switch resource {
            case .version:
                var json = JSONObjectWriter()
                json.member("name", "waystationd")
                json.member("version", server.control.version)
                json.array("api_versions") { $0.element("v1") }
                respond(200, json.bytes, connection)
            case .status: respond(200, server.control.status(), connection)
            case .live: respond(200, Array(#"{"status":"live"}"#.utf8), connection)
            case .ready:
                guard server.control.isReady, !server.engine.isDraining else {
                    var problem = Problem(.draining, "the relay is not ready")
                    problem.retryAfter = .seconds(1)
                    throw problem
                }
                respond(200, Array(#"{"status":"ready"}"#.utf8), connection)
            case .reload:
                let (status, document) = await server.control.reload()
                respond(Status(rawValue: status), document, connection)
            case .job(let id): respond(200, try find(id, connection), connection)
            case .jobs: try await run(document, connection)
            case .stream: preconditionFailure("a stream is served as its body arrives")
            case .constrained: respond(200, try constrained(document, connection), connection)
            }
        } catch {
            write(connection) { writer, output in writer.append(error, to: &output) }
        }
        _ = await connection.drainOutput()
    }

    private func respond(_ status: Status, _ body: [UInt8], _ connection: Connection) {
        write(connection) { writer, output in
            if status.class == .success {
                writer.append(status, type: "application/json", body, to: &output)
            } else {
                writer.append(status, type: "application/problem+json", body, to: &output)
            }
        }
    }

    private func write(_ connection: Connection, _ compose: (AnswerWriter, inout [UInt8]) -> Void) {
        let writer = AnswerWriter(
            server: connection.server,
            keepsAlive: connection.keepsAlive && !connection.server.isDraining,
            isHead: method == .head
        )
        connection.loop.withOutput { output in
            compose(writer, &output)
            connection.send(output)
        }
    }

    /// Callers see their own jobs; the role `read` sees all.
    private func find(_ id: String, _ connection: Connection) throws(Problem) -> [UInt8] {
        guard let record = connection.server.engine.recent.find(id),
            connection.listener.role >= .read
                || record.context.client?.user == connection.client?.user && connection.client != nil
        else {
            throw Problem(
                .jobNotFound,
                "no job of yours among the last ones finished has this id; older ones are forgotten"
            )
        }
        return record.document().bytes
    }

    /// Runs a JSON job and answers with what became of it.
    private func run(_ document: [UInt8], _ connection: Connection) async throws(Problem) {
        let server = connection.server
        if let type = fields[.contentType], !type.lowercased().hasPrefix("application/json") {
            throw Problem(.unsupportedMediaType, "a job is application/json")
        }
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
        let admission = try server.engine.admit(submission, fields: jobFields, client: connection.client)
        let outcome = await server.engine.run(admission, body: submission.content, relay: server.relay)
        server.engine.left(admission, outcome)
        guard connection.phase == .busy else { return }
        var json = JobRecord(
            context: admission.context,
            outcome: outcome,
            acceptedAt: admission.acceptedAt,
            finishedAt: SystemClock.wallSeconds()
        ).document()
        if let response = outcome.response {
            var body: [UInt8] = []
            if case .bytes(let bytes) = response.body { body = bytes }
            json.object("response") { JobAnswer.write(response, body, into: &$0) }
        }
        respond(200, json.bytes, connection)
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
            collectsAnswer: true
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

/// The answer inside a job's document.
enum JobAnswer {
    static func write(_ response: HTTPResponse, _ body: [UInt8], into json: inout JSONObjectWriter) {
        json.member("status", response.status.rawValue)
        json.array("headers") { list in
            for (name, value) in response.fields.removingHopByHop().pairs {
                list.array {
                    $0.element(name)
                    $0.element(value)
                }
            }
        }
        json.object("body") { writer in
            writer.member("size", body.count)
            if (try? JSONScan.validate(body.span)) != nil {
                writer.member("json", json: body)
            } else if let text = String(validating: body, as: UTF8.self) {
                writer.member("text", text)
            } else {
                writer.member("base64", base64(body))
            }
        }
    }
}
