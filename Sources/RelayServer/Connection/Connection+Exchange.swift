import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix

extension Connection {
    /// Decides by the head alone what a request is; a refusal answers before the body is asked for.
    func begin(_ head: RequestHead) -> Upload? {
        do throws(Problem) {
            if !listener.isUnix { try BrowserCheck.check(head) }
            guard head.method != .connect else {
                throw Problem(
                    .notImplemented,
                    "CONNECT cannot be relayed: what goes through a tunnel cannot be retried"
                )
            }
            let snapshot = server.engine.snapshot
            let length: UInt64? = if case .length(let length) = head.framing { length } else { nil }
            if isRelayTarget(head.target) {
                let target: RelayTarget
                do throws(HTTPParseError) {
                    target = try RelayTarget.parse(head.target)
                } catch {
                    throw Problem(error)
                }
                let admission = try server.engine.admit(
                    route: target.route,
                    target: target.rest,
                    method: head.method,
                    fields: head.fields.removingHopByHop(),
                    length: length,
                    client: client,
                    whileDraining: true,
                    hasEmptySegment: target.hasEmptySegment
                )
                // A key may be known, which only the whole request tells.
                if let durable = admission.durable, durable.idempotencyKey == nil {
                    try server.durable.checkRoom(for: target.route)
                }
                return Upload(
                    head: head,
                    purpose: .relay(admission),
                    limit: snapshot.maxRequestBody,
                    holdLimit: snapshot.replayBuffer
                )
            }
            let call = try APICall(head, role: listener.role)
            if case .stream = call.resource {
                guard !server.engine.isDraining else { throw Engine.stopping }
                let jobs = try LineStream(
                    head,
                    on: self,
                    lineLimit: min(server.limits.maxDocument, snapshot.maxRequestBody)
                )
                return Upload(head: head, purpose: .stream(jobs), limit: .max, holdLimit: 0)
            }
            let limit = server.limits.maxDocument
            let upload = Upload(head: head, purpose: .api(call), limit: limit, holdLimit: limit)
            if let length, length > UInt64(limit) { throw upload.tooLarge }
            return upload
        } catch {
            // A body that follows would have to be read and thrown away; an unread one ends the connection.
            if !head.framing.isEmpty { keepsAlive = false }
            tell(error, of: head)
            answer(error, isHead: head.method == .head)
            return nil
        }
    }

    /// The request with room for its body; nil when it was refused for want of any.
    ///
    /// Operators ask for none.
    func withRoom(_ upload: Upload) -> Upload? {
        guard listener.control == nil, !upload.head.framing.isEmpty, !upload.isLineStream else {
            return upload
        }
        do throws(Problem) {
            try upload.findRoom(server.memory)
            return upload
        } catch {
            keepsAlive = false
            answer(error, isHead: upload.head.method == .head)
            return nil
        }
    }

    private func isRelayTarget(_ target: String) -> Bool { target.utf8.starts(with: "/r/".utf8) }

    /// Hands the request to a task on this loop.
    func start(_ upload: Upload, _ body: Body) {
        phase = .busy
        clearDeadline()
        if case .bytes = body { upload.collected = [] }
        upload.body = body
        let connection = LoopBound(self, loop)
        task = loop.spawn { await connection.value.serve() }
    }

    private func serve() async {
        guard let upload else { return }
        let body = upload.takeBody()
        switch upload.purpose {
        case .relay(let admission):
            if let durable = admission.durable {
                await keep(admission, durable, body)
                _ = await drainOutput()
                break
            }
            let outcome = await server.engine.run(admission, body: body, relay: server.relay)
            if let rest = answer(outcome, admission, isHead: upload.head.method == .head) {
                await stream(rest)
            }
            if !unsent.isEmpty { _ = await drainOutput() }
            // The answer, and with it the room it takes, is done with only now.
            server.engine.left(admission, outcome)
        case .api(let call):
            var document: [UInt8] = []
            if case .bytes(let bytes) = body { document = bytes }
            await call.answer(document, on: self)
            _ = await drainOutput()
        case .stream(let jobs): await jobs.serve()
        }
        finish(upload)
    }

    /// The answer is out: the next request, or the end.
    private func finish(_ upload: Upload) {
        task = nil
        self.upload = nil
        guard phase == .busy else { return }
        // What was not read of this body would be taken for the next request.
        guard keepsAlive, upload.decoder.isComplete, !server.isDraining else { return lingerThenClose() }
        phase = .idle
        setDeadline(server.limits.idle)
        consumePending()
        if phase == .idle || phase == .head { receive() }
    }

    /// Notes a request that was too large: the limit is an operator's to raise.
    func tell(_ problem: Problem, of head: RequestHead) {
        guard problem.code == .contentTooLarge else { return }
        let target = try? RelayTarget.parse(head.target)
        server.relay.ports.sink.record(
            .requestRefused(
                RefusedRequest(
                    route: target?.route,
                    method: head.method,
                    path: String((target.map { "/" + $0.rest } ?? head.target).prefix { $0 != "?" }),
                    client: client,
                    status: problem.status,
                    code: problem.code.rawValue,
                    detail: problem.detail
                )
            )
        )
    }

    /// Answers a request that never became one, and closes.
    func refuse(_ problem: Problem) {
        keepsAlive = false
        answer(problem, isHead: false)
    }

    /// Answers without a task: the socket takes a small answer at once or the caller is not reading.
    private func answer(_ problem: Problem, isHead: Bool) {
        guard phase != .closed else { return }
        loop.withOutput { output in
            AnswerWriter(server: server, keepsAlive: keepsAlive, isHead: isHead).append(problem, to: &output)
            send(output)
        }
        guard phase != .closed else { return }
        // A caller that reads none of its answers gets no more of them.
        if keepsAlive, unsent.isEmpty {
            phase = .idle
            setDeadline(server.limits.idle)
        } else {
            lingerThenClose()
        }
    }

    /// Closing with unread bytes would reset the connection and could take the answer with it: so the sending side
    /// ends first, and what the caller still sends is thrown away for a moment.
    private func lingerThenClose() {
        phase = .lingering
        task = nil
        setDeadline(server.limits.linger)
        guard unsent.isEmpty else { return }
        finishSending()
    }

    /// The answer is out as far as this side goes.
    func finishSending() {
        Socket.finishSending(descriptor)
        if peerFinished { mayRead = true }
        receive()
    }

    /// Reads and forgets.
    func discardInput() {
        while mayRead, phase == .lingering {
            let scratch = unsafe loop.scratch
            switch unsafe Socket.receive(descriptor, into: scratch) {
            case .wouldBlock: mayRead = false
            case .failed, .end: close()
            case .bytes(let count): if count < scratch.count, !peerFinished { mayRead = false }
            }
        }
    }
}
