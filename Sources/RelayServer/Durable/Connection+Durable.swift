import RelayCore
import RelayEngine
import RelayHTTP
import RelayJSON
import RelayPosix

extension Connection {
    /// Keeps an admitted request and answers as soon as it is on disk, or with what became of it in time.
    func keep(_ admission: Admission, _ durable: DurableOptions, _ body: Body) async {
        guard let head = upload?.head else { return }
        let isHead = head.method == .head
        do throws(Problem) {
            let intake = JobIntake(server)
            let accepted: DurableJobs.Accepted
            switch body {
            case .empty: accepted = try await intake.keep(admission, [])
            case .bytes(let bytes): accepted = try await intake.keep(admission, bytes)
            case .stream(let source):
                accepted = try await intake.keep(admission, source) { failure in
                    upload?.refusal ?? Problem(.badRequest, failure.detail)
                }
            }
            // A caller that is gone by now has taken nothing back.
            guard phase == .busy else { return }
            let answer = AcceptedAnswer(accepted: accepted, preferences: Preferences(head.fields))
            guard Sight(self).mayLearn(accepted) else {
                return respond(answer.answer(answer.receipt(admission)), isHead: isHead)
            }
            if let wait = durable.wait,
                let job = try await over(accepted.id, within: wait)
            {
                // Answered, and the answer is not kept (delivery.keep_responses): only the job can tell.
                if !job.hasAnswer, job.state == .succeeded || job.state == .dead && job.failureStatus != nil {
                    let document = try await JobView(server).document(of: accepted.id)
                    return respond(answer.answer(document.bytes), isHead: isHead)
                }
                let replay = JobReplay(
                    job,
                    server.durable,
                    isSubmission: true,
                    extra: answer.fields(withJob: false)
                )
                return try await replay.answer(on: self, isHead: isHead)
            }
            let job = accepted.isReplayed ? try await kept(accepted.id) : nil
            let document =
                if let job { try await JobView(server).document(of: job.record.id).bytes } else {
                    answer.document(admission, durable)
                }
            respond(answer.answer(document), isHead: isHead)
        } catch {
            respond(error, isHead: isHead)
        }
    }

    /// The job; nil when it was dropped, after which only its key is known.
    func kept(_ id: JobID) async throws(Problem) -> StoredJob? {
        do throws(Problem) {
            return try await server.durable.job(id)
        } catch {
            guard error.code == .jobNotFound else { throw error }
            return nil
        }
    }

    /// The job, if it is over within that time; the stop of the daemon ends the wait.
    func over(_ id: JobID, within wait: Duration) async throws(Problem) -> StoredJob? {
        do throws(Problem) {
            let job = try await waiting { (durable, time) throws(Problem) in
                try await durable.job(id, changedSince: nil, by: time.now().advanced(by: wait), time)
            }
            return job.state.isTerminal ? job : nil
        } catch {
            guard error.code == .jobNotFound else { throw error }
            return nil
        }
    }

    /// Waits for something that the caller has no need of when the daemon stops.
    func waiting<Value>(
        _ body: (DurableJobs, any TimeSource) async throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        yieldsAtDrain = true
        defer { yieldsAtDrain = false }
        if server.isDraining { task?.cancel() }
        return try await body(server.durable, server.relay.ports.time)
    }

    func respond(_ answer: APIAnswer, isHead: Bool) {
        guard phase == .busy else { return }
        let writer = AnswerWriter(server: server, keepsAlive: mayKeepAlive, isHead: isHead)
        loop.withOutput { output in
            writer.append(answer, to: &output)
            send(output)
        }
    }

    /// Sends the head of an answer whose body is streamed behind it.
    func respond(_ answer: APIAnswer, length: UInt64, isHead: Bool) {
        guard phase == .busy else { return }
        let writer = AnswerWriter(server: server, keepsAlive: mayKeepAlive, isHead: isHead)
        loop.withOutput { output in
            writer.appendHead(answer, length: length, to: &output)
            send(output)
        }
    }

    func respond(_ problem: Problem, isHead: Bool) {
        guard phase == .busy else { return }
        let writer = AnswerWriter(server: server, keepsAlive: mayKeepAlive, isHead: isHead)
        loop.withOutput { output in
            writer.append(problem, to: &output)
            send(output)
        }
    }
}
