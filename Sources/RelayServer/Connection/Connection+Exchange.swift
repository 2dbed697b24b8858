import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

extension Connection: AnswerReceiver {
    /// Takes up a request by its head alone; a refusal answers before the body is asked for.
    func begin(_ head: RequestHead) -> ServerRequest? {
        do throws(Problem) {
            return try ServerRequest(head, on: self)
        } catch {
            // A body that follows would have to be read and thrown away; an unread one ends the connection.
            if !head.framing.isEmpty { keepsAlive = false }
            countRefusal(error, of: head)
            answer(error, isHead: head.method == .head)
            return nil
        }
    }

    /// The request with room for its body; nil when it was refused for want of any.
    ///
    /// Operators ask for none.
    func withMemory(_ request: ServerRequest) -> ServerRequest? {
        guard listener.control == nil, !request.head.framing.isEmpty, !request.isLineStream else {
            return request
        }
        do throws(Problem) {
            try request.reserveMemory(server.memory, share)
            return request
        } catch {
            keepsAlive = false
            countRefusal(error, of: request.head)
            answer(error, isHead: request.head.method == .head)
            return nil
        }
    }

    /// Has the request answered: without a task as long as nothing has to be waited for.
    func start(_ request: ServerRequest, _ body: Body) {
        phase = .busy
        clearDeadline()
        if case .bytes = body { request.collected = [] }
        guard case .relay(let admission) = request.purpose, !admission.isDurable else {
            if keepPromptly(request, body) { return }
            request.body = body
            return spawn()
        }
        let keeper = StandInKeeper.made(admission, server.durable, server.relay.ports)
        let run = RequestRun(
            server.engine,
            admission,
            body,
            server.relay,
            moved: .nanoseconds(loop.now &- request.began),
            keeper: keeper
        )
        request.run = run
        countOrdinary(admission)
        if admission.route.holdsHeads, request.keepAlive != nil { return spawn() }
        switch run.begin(self) {
        case .sent: break
        case .waits: spawn()
        case .ended: pass(run, request, letsOthersGo: hasEndedOften())
        }
    }

    func countOrdinary(_ admission: Admission) {
        let reason = admission.entry.ordinaryReason ?? ordinaryReason
        ordinaryReason = .shape
        admission.context.memory.meter.tookOrdinaryPath(reason, shard: server.relay.ports.shard)
        admission.context.way.write(.ordinary(reason))
    }

    /// Whether so many requests have ended at once in this turn of the loop that others come before the next.
    private func hasEndedOften() -> Bool {
        if lastIteration != loop.now { (lastIteration, endsInIteration) = (loop.now, 0) }
        endsInIteration += 1
        return endsInIteration > 64
    }

    /// The upstream of a request without a task has answered, or not.
    func received(_ result: PromptResult) {
        guard let request, let run = request.run else { return }
        switch run.tell(result, self) {
        case .sent: break
        case .waits: spawn()
        case .ended:
            pass(run, request)
            goOn()
        }
    }

    /// From here on the request has a task on this loop.
    func spawn() {
        let connection = LoopBound(self, loop)
        task = loop.spawn { await connection.value.serve() }
        if phase == .closed { task?.cancel() }
    }

    private func serve() async {
        guard let request else { return }
        await request.serve(on: self)
        finish(request)
        goOn()
    }

    /// Passes on the answer of a request without a task, which gets one where the socket does not take all of it.
    private func pass(_ run: RequestRun, _ request: ServerRequest, letsOthersGo: Bool = false) {
        request.streaming = request.write(run.end(), on: self)
        if request.streaming == nil, unsent.isEmpty, !letsOthersGo {
            run.letGo()
            return finish(request)
        }
        guard let streaming = request.streaming, !letsOthersGo, passPieces(of: streaming) else {
            return spawn()
        }
        request.streaming = nil
    }

    /// The answer of a request without a task is with its caller, piece by piece.
    func isPassed() {
        guard let request else { return }
        request.run?.letGo()
        finish(request)
        goOn()
    }

    /// The answer is out: the connection is ready for the next request, or at its end.
    func finish(_ request: ServerRequest) {
        task = nil
        self.request = nil
        streamEnds()
        guard phase == .busy else { return }
        // Bytes of this body that were not read would be taken for the next request.
        guard keepsAlive, request.decoder.isComplete, !server.isDraining else { return lingerThenClose() }
        phase = .idle
        setDeadline(server.limits.idle)
    }

    /// An answer that had to wait for its caller is out.
    func isOver() {
        guard keepsAlive, !server.isDraining else { return lingerThenClose() }
        phase = .idle
        setDeadline(server.limits.idle)
        goOn()
    }

    /// Takes up what has come meanwhile.
    func goOn() {
        guard phase == .idle else { return }
        consumePending()
        if phase == .idle || phase == .head { receive() }
    }

    /// Answers a request that never became one, and closes.
    func refuse(_ problem: Problem) {
        keepsAlive = false
        answer(slot == nil ? server.refusal(of: self) ?? problem : problem, isHead: false)
    }

    /// Answers without a task: the socket takes a small answer at once or the caller is not reading.
    private func answer(_ problem: Problem, isHead: Bool) {
        guard phase != .closed else { return }
        let answer = Answer(problem)
        if case .bytes(let body) = answer.body { put(answer, .length(UInt64(body.count)), hasBody: !isHead) }
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
