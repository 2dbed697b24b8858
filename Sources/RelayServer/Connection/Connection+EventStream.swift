import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayPosix
import RelayRoute

// An event stream whose caller waits for it, and one that breaks off.
extension ServerRequest {
    /// How often the caller of an event stream that is not there yet is told that the relay is; nil where it is not.
    var keepAlive: Duration? {
        guard case .relay(let admission) = purpose, admission.route.holdsHeads, head.minorVersion == 1,
            head.method != .head, let wait = admission.route.policy.response.stream?.keepAlive,
            AcceptedTypes(head.fields).prefer(MediaType.eventStream)
        else { return nil }
        return wait
    }
}

extension Connection {
    private static let comment = Array(": the answer is not there yet\n\n".utf8)

    /// Tells the caller so often that its answer is not there yet, until the task is cancelled.
    func sendComments(every wait: Duration, to request: ServerRequest) -> Task<Void, Never> {
        let (connection, request) = (LoopBound(self, loop), LoopBound(request, loop))
        let time = server.relay.ports.time
        return loop.spawn {
            while true {
                try? await time.sleep(until: time.now().advanced(by: wait))
                if Task.isCancelled { return }
                connection.value.sendComment(to: request.value)
            }
        }
    }

    private func sendComment(to request: ServerRequest) {
        guard phase == .busy, request.decoder.isComplete, unsent.isEmpty,
            case .relay(let admission) = request.purpose
        else { return }
        if !request.isKeptAlive {
            request.isKeptAlive = true
            if !mayKeepAlive { keepsAlive = false }
            var head = Answer.Own(type: "text/event-stream", fields: [("Waystation-Job", "\(admission.id)")])
            head.hasSource = false
            put(Answer(head: .own(head), body: .empty), .chunked, hasBody: false)
        }
        send(Connection.comment, .chunked)
    }

    /// Writes what is left of an answer whose head went out before it was there.
    ///
    /// - Returns: a body that has to be streamed.
    func writeContent(_ answer: Answer, of outcome: Outcome, _ admission: Admission) -> Streaming? {
        guard phase == .busy else {
            if case .stream(let body) = answer.body { body.cancel() }
            return nil
        }
        if let problem = outcome.problem(admission) {
            if case .stream(let body) = answer.body { body.cancel() }
            sendLastEvent(problem, after: [], .chunked)
            return nil
        }
        // That a job is kept has no other place.
        if answer.isEventStream, outcome.report.keptJob == nil {
            switch answer.body {
            case .empty: break
            case .bytes(let bytes):
                send(Array(bytes.dropFirst(bytes.starts(with: ContentScanner.mark) ? 3 : 0)), .chunked)
            case .stream(let body):
                (body as? HeldBody)?.dropMark()
                return Streaming(source: body, framing: .chunked, endsAtDrain: false)
            }
            sendLastChunk()
            return nil
        }
        guard let response = outcome.answer else { return nil }
        let reservation = server.memory.reserveUnchecked(AnswerEvent.limit)
        reservation.charge(to: share)
        let event = AnswerEvent(outcome, response, admission, reservation)
        return Streaming(source: event, framing: .chunked, endsAtDrain: false)
    }

    /// Tells of the break of an answer in the answer itself, where that can have an event more.
    ///
    /// - Returns: whether it was told.
    func tellBreak(_ failure: Failure, in streaming: Streaming) -> Bool {
        guard case .relay(let admission)? = request?.purpose, phase == .busy,
            let part = streaming.source is AnswerEvent ? [] : (streaming.source as? HeldBody)?.endOfPart
        else { return false }
        if case .length = streaming.framing { return false }
        let named = AnswerEnd.broke(failure).failure(admission.route, nil) ?? failure
        let problem = Problem(named, route: admission.route.name, job: admission.id, tookAllTime: false)
        sendLastEvent(problem, after: part, streaming.framing)
        return true
    }

    /// Tells in an event stream that is under way that the relay itself cuts it: as it stops, or for a failure.
    ///
    /// Nothing is told where some of it is not out, since nobody knows then behind what the event would stand.
    func tellCut(_ failure: Failure? = nil) {
        guard phase == .busy, unsent.isEmpty, let request, let streaming = request.streaming,
            case .relay(let admission) = request.purpose, let body = streaming.source as? HeldBody,
            let part = body.endOfSent
        else { return }
        if case .length = streaming.framing { return }
        let problem = failure.map {
            Problem($0, route: admission.route.name, job: admission.id, tookAllTime: false)
        }
        sendLastEvent(problem ?? Connection.stopped, after: part, streaming.framing)
    }

    private static let stopped = Problem(
        .draining,
        "the relay is stopping, and passes on no more of the answer"
    )

    /// Without its last chunk the answer shows as cut short, also to who knows no events.
    private func sendLastEvent(_ problem: Problem, after part: [UInt8], _ framing: AnswerWriter.Framing) {
        keepsAlive = false
        send(
            part + Array("event: waystation-error\ndata: ".utf8) + problem.body + [UInt8(ascii: "\n")],
            framing
        )
    }
}

extension Answer {
    fileprivate var isEventStream: Bool {
        guard case .passed(let status, let fields, _) = head, status.class == .success, !status.forbidsContent
        else { return false }
        return ContentScanner.Kind(fields) == .events
    }
}
