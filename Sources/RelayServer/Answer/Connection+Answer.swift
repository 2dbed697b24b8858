import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix

extension Connection {
    /// Passes a job's one outcome on.
    func answer(_ outcome: Outcome, _ admission: Admission, isHead: Bool) async {
        switch outcome.ending {
        case .answered(let response, let source):
            await pass(response, source, outcome, admission, isHead: isHead)
        case .failed(_, let answer?):
            await pass(answer, .upstream, outcome, admission, isHead: isHead)
        case .failed(let failure, nil):
            // A job that was cancelled because its caller left has nobody to tell.
            guard phase == .busy else { return }
            let pastDeadline = failure.kind == .deadlineExceeded || isPastDeadline(outcome, admission)
            let problem = Problem(failure, route: admission.route.name, job: admission.id, pastDeadline: pastDeadline)
            let facts = AnswerFacts(job: admission.id, source: nil, attempts: outcome.attempts)
            let writer = AnswerWriter(server: server, keepsAlive: mayKeepAlive, isHead: isHead)
            var fields = HeaderFields()
            fields.append("Content-Type", "application/problem+json")
            if let wait = problem.retryAfter {
                fields.append("Retry-After", "\(max(1, (wait.saturatedNanoseconds + 999_999_999) / 1_000_000_000))")
            }
            let body = problem.body
            loop.withOutput { output in
                writer.appendHead(
                    Response(status: problem.status, fields: fields), framing: .length(UInt64(body.count)),
                    facts: facts, to: &output)
                if !isHead { output += body }
                send(output)
            }
            _ = await drainOutput()
        }
    }

    private func isPastDeadline(_ outcome: Outcome, _ admission: Admission) -> Bool {
        guard let first = outcome.attempts.first, let last = outcome.attempts.last else { return false }
        return first.began.duration(to: last.began) + last.duration >= admission.total
    }

    private var mayKeepAlive: Bool {
        keepsAlive && !server.isDraining && upload?.decoder.isComplete ?? true
    }

    private func pass(
        _ response: Response, _ source: Outcome.Source, _ outcome: Outcome, _ admission: Admission, isHead: Bool
    ) async {
        guard phase == .busy else {
            if case .stream(let body) = response.body { body.cancel() }
            return
        }
        let facts = AnswerFacts(job: admission.id, source: source, attempts: outcome.attempts)
        let framing = framing(response, isHead: isHead)
        if framing == .untilClose { keepsAlive = false }
        let writer = AnswerWriter(server: server, keepsAlive: mayKeepAlive, isHead: isHead)
        if !mayKeepAlive { keepsAlive = false }
        loop.withOutput { output in
            writer.appendHead(response, framing: framing, facts: facts, to: &output)
            if case .bytes(let bytes) = response.body, framing != .none { output += bytes }
            send(output)
        }
        switch response.body {
        case .stream(let body) where framing != .none: await stream(body, framing)
        case .stream(let body): body.cancel()
        case .empty, .bytes: break
        }
        _ = await drainOutput()
    }

    private func framing(_ response: Response, isHead: Bool) -> AnswerWriter.Framing {
        if isHead || response.status.forbidsContent { return .none }
        switch response.body {
        case .empty: return .length(0)
        case .bytes(let bytes): return .length(UInt64(bytes.count))
        case .stream(let source):
            if let length = source.length { return .length(length) }
            return upload?.head.minorVersion == 1 ? .chunked : .untilClose
        }
    }

    /// Recovery ended with the first byte: a break from here on shows as an answer cut short.
    private func stream(_ body: any BodySource, _ framing: AnswerWriter.Framing) async {
        do throws(Failure) {
            while await drainOutput() {
                guard let piece = try await body.next() else {
                    if framing == .chunked {
                        loop.withOutput { output in
                            HeadWriter.appendLastChunk(to: &output)
                            send(output)
                        }
                    }
                    return
                }
                if framing == .chunked {
                    loop.withOutput { output in
                        HeadWriter.appendChunkHeader(piece.count, to: &output)
                        output += piece
                        HeadWriter.appendLineEnd(to: &output)
                        send(output)
                    }
                } else {
                    send(piece)
                }
            }
            body.cancel()
        } catch {
            abort()
        }
    }
}
