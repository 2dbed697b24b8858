import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix

/// The rest of an answer whose head is out.
struct Streaming {
    let source: any BodySource
    let framing: AnswerWriter.Framing
}

extension Connection {
    /// Passes a job's one outcome on, as far as that needs no waiting.
    ///
    /// - Returns: a body that has to be streamed behind the head.
    func answer(_ outcome: Outcome, _ admission: Admission, isHead: Bool) -> Streaming? {
        switch outcome.ending {
        case .answered(let response, let source):
            return pass(response, facts(source, outcome, admission), isHead: isHead)
        case .failed(_, let answer?):
            return pass(answer, facts(.upstream, outcome, admission), isHead: isHead)
        case .failed(let failure, nil):
            // A job that was cancelled because its caller left has nobody to tell.
            if phase == .busy { fail(failure, outcome, admission, isHead: isHead) }
            return nil
        }
    }

    private func fail(_ failure: Failure, _ outcome: Outcome, _ admission: Admission, isHead: Bool) {
        var problem = Problem(
            failure,
            route: admission.route.name,
            job: admission.id,
            pastDeadline: outcome.isPastDeadline(admission)
        )
        if failure.kind == .clientGone, let refusal = upload?.refusal {
            problem = refusal
            problem.route = admission.route.name
            problem.job = admission.id
        }
        let facts = AnswerFacts(
            job: admission.id,
            source: nil,
            isFailure: true,
            attempts: outcome.attempts
        )
        let writer = AnswerWriter(server: server, keepsAlive: mayKeepAlive, isHead: isHead)
        var fields = HeaderFields()
        fields.append("Content-Type", "application/problem+json")
        if let wait = problem.retryAfter {
            fields.append(
                "Retry-After",
                "\(max(1, (wait.saturatedNanoseconds + 999_999_999) / 1_000_000_000))"
            )
        }
        let body = problem.body
        loop.withOutput { output in
            writer.appendHead(
                HTTPResponse(status: problem.status, fields: fields),
                framing: .length(UInt64(body.count)),
                facts: facts,
                to: &output
            )
            if !isHead { output += body }
            send(output)
        }
    }

    private func facts(
        _ source: Outcome.Source,
        _ outcome: Outcome,
        _ admission: Admission
    ) -> AnswerFacts {
        AnswerFacts(
            job: admission.id,
            source: source,
            isFailure: outcome.isFailure,
            attempts: outcome.attempts
        )
    }

    var mayKeepAlive: Bool {
        keepsAlive && !server.isDraining && upload?.decoder.isComplete ?? true
    }

    /// Passes an upstream's answer on, or one in its stead.
    ///
    /// - Returns: a body that has to be streamed behind the head.
    func pass(_ response: HTTPResponse, _ facts: AnswerFacts, isHead: Bool) -> Streaming? {
        guard phase == .busy else {
            if case .stream(let body) = response.body { body.cancel() }
            return nil
        }
        let framing = framing(response, isHead: isHead)
        if framing == .untilClose || !mayKeepAlive { keepsAlive = false }
        let writer = AnswerWriter(server: server, keepsAlive: keepsAlive, isHead: isHead)
        loop.withOutput { output in
            writer.appendHead(response, framing: framing, facts: facts, to: &output)
            if case .bytes(let bytes) = response.body, framing != .none, bytes.count <= BytesInPieces.size {
                output += bytes
            }
            send(output)
        }
        if case .bytes(let bytes) = response.body, framing != .none, bytes.count > BytesInPieces.size {
            return Streaming(source: BytesInPieces(bytes), framing: framing)
        }
        guard case .stream(let body) = response.body else { return nil }
        if framing != .none { return Streaming(source: body, framing: framing) }
        body.cancel()
        return nil
    }

    private func framing(_ response: HTTPResponse, isHead: Bool) -> AnswerWriter.Framing {
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
    func stream(_ streaming: Streaming) async {
        do throws(Failure) {
            while await drainOutput() {
                guard let piece = try await streaming.source.next() else {
                    if streaming.framing == .chunked { sendLastChunk() }
                    return
                }
                send(piece, streaming.framing)
            }
            streaming.source.cancel()
        } catch {
            abort()
        }
    }

    func send(_ piece: [UInt8], _ framing: AnswerWriter.Framing) {
        guard framing == .chunked else { return send(piece) }
        loop.withOutput { output in
            HeadWriter.appendChunkHeader(piece.count, to: &output)
            output += piece
            HeadWriter.appendLineEnd(to: &output)
            send(output)
        }
    }

    func sendLastChunk() {
        loop.withOutput { output in
            HeadWriter.appendLastChunk(to: &output)
            send(output)
        }
    }
}

extension Outcome {
    var isFailure: Bool { if case .failed = ending { true } else { false } }

    /// Whether the attempts took all the time the job had.
    func isPastDeadline(_ admission: Admission) -> Bool {
        guard let first = attempts.first, let last = attempts.last else { return false }
        return first.began.duration(to: last.began) + last.duration >= admission.total
    }
}
