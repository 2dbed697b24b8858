import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayPosix
import RelayRoute

private let upgrade = FieldName("Upgrade")

extension ServerRequest {
    /// Decides by the head alone what a request is.
    ///
    /// - Throws: why it is none that may be served.
    convenience init(_ head: RequestHead, on connection: Connection) throws(Problem) {
        let server = connection.server
        if !connection.listener.isUnix { try BrowserCheck.check(head) }
        guard head.method != .connect else {
            throw Problem(
                .notImplemented,
                "CONNECT cannot be relayed: what goes through a tunnel cannot be retried"
            )
        }
        let length: UInt64? = if case .length(let length) = head.framing { length } else { nil }
        if head.target.hasPrefix("/r/") {
            try connection.listener.checkSubmits()
            if let upgrade, let wish = head.fields[upgrade], wish.lowercased().contains(text: "websocket") {
                throw Problem(
                    .notImplemented,
                    "a WebSocket cannot be relayed: what goes through it cannot be retried; "
                        + "connect to the upstream itself"
                )
            }
            let target: RelayTarget
            do throws(HTTPParseError) {
                target = try RelayTarget.parse(head.target)
            } catch {
                throw Problem(error)
            }
            let admission = try server.engine.admit(
                route: target.route,
                target: target.remainder,
                method: head.method,
                terms: RequestTerms(head.fields.removingHopByHop()),
                length: length,
                client: connection.client,
                share: connection.share,
                whileDraining: true,
                hasEmptySegment: target.hasEmptySegment
            )
            // A key may be known, which only the whole request tells.
            if admission.isDurable, admission.keeping.idempotencyKey == nil {
                try server.durable.acceptance.checkCapacity(for: admission)
            }
            self.init(head, relaying: admission, began: server.loop.now)
            return
        }
        let (listener, snapshot) = (connection.listener, server.engine.snapshot)
        let call = try APICall(head, role: listener.role, isUnix: listener.isUnix)
        do {
            try connection.share?.pass(call, snapshot.settings.callers, server.relay.ports.time.now())
        } catch {
            // The part that tells of refusals looks for none while it rests.
            server.engine.idleSignal.end()
            throw error
        }
        let limit = server.limits.maxDocument
        if case .stream = call.resource {
            guard !server.engine.isDraining else { throw Engine.stopping }
            let lineLimit = min(limit, snapshot.settings.maxRequestBody)
            let jobs = try LineStream(head, on: connection, lineLimit: lineLimit)
            self.init(head, .stream(jobs), snapshot, limit: .max, bufferLimit: 0, began: server.loop.now)
            return
        }
        self.init(head, .api(call), snapshot, limit: limit, bufferLimit: limit, began: server.loop.now)
        if let length, length > UInt64(limit) { throw tooLarge }
    }

    /// Does what the request asks, and has the answer out or the caller gone when it returns.
    func serve(on connection: Connection) async {
        if case .stream(let jobs) = purpose { return await jobs.serve() }
        if let run {
            if !run.isOver {
                let comments = keepAlive.map { connection.sendComments(every: $0, to: self) }
                let outcome = await run.finish()
                comments?.cancel()
                streaming = write(outcome, on: connection)
            }
        } else if !isAnswered {
            let answer: Answer
            do throws(Problem) {
                answer = try await self.answer(Caller(connection))
            } catch {
                connection.recordRefusal(error, of: head)
                answer = Answer(error)
            }
            streaming = connection.write(answer, isHead: head.method == .head)
        }
        if let streaming { await connection.stream(streaming) }
        if !connection.unsent.isEmpty { _ = await connection.drainOutput() }
        // The answer, and with it the permit and the room it takes, is done with only now.
        run?.letGo()
    }

    /// Writes the answer of a relayed request as far as that needs no waiting, and returns the rest.
    func write(_ outcome: Outcome, on connection: Connection) -> Streaming? {
        guard case .relay(let admission) = purpose else { return nil }
        // Kept idle, the connection would keep the place that others of its user are refused for.
        let isTurnedAway =
            outcome.failure?.kind == .overloaded
            || outcome.failure?.kind == .rateLimited && outcome.attempts.isEmpty
        if isTurnedAway, connection.share?.crowd ?? 0 > 0 {
            connection.keepsAlive = false
        }
        let answer = outcome.answer(admission, refusal: refusal)
        let isShared = admission.snapshot.settings.callers.isEnabled
        // A caller that has the head may send the next request at once: the stream is known by then.
        var isTold = false
        if isShared, case .stream(let source) = answer.body, source.length == nil, outcome.isEndless {
            connection.streamBegins(admission.state, to: admission.caller, isEndless: true)
            isTold = true
        }
        let streaming =
            isKeptAlive
            ? connection.writeContent(answer, of: outcome, admission)
            : connection.write(answer, isHead: head.method == .head)
        if streaming == nil {
            connection.streamEnds()
        } else if isShared, !isTold {
            connection.streamMayBegin(admission.state, to: admission.caller)
        }
        return streaming
    }

    private func answer(_ caller: Caller) async throws(Problem) -> Answer {
        switch purpose {
        case .relay(let admission):
            let request = KeptRequest(
                admission: admission,
                preferences: Preferences(admission),
                caller: caller
            )
            if let keeping { return try await request.answer(keeping) }
            return try await request.answer(takeBody()) { refusal }
        case .api(let call):
            if case .bytes(let document) = takeBody() { return try await call.answer(document, caller) }
            return try await call.answer([], caller)
        case .stream: preconditionFailure("a stream is served as its body arrives")
        }
    }
}

extension RequestHead {
    /// Whether it brings something to be sent or kept.
    var submits: Bool {
        let isJobs =
            target.hasPrefix("/v1/jobs") && !target.hasPrefix("/v1/jobs/") || target.hasPrefix("/v1/stream")
        return target.hasPrefix("/r/") || method == .post && isJobs
    }
}

extension Outcome {
    /// Whether its answer says that it has no end of its own.
    fileprivate var isEndless: Bool {
        guard let type = answer?.fields[.contentType], type.utf8.first.map({ $0 | 0x20 }) == UInt8(ascii: "t")
        else { return false }
        return type.lowercased().hasPrefix(MediaType.eventStream)
    }
}
