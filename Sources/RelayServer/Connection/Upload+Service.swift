import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix

extension Upload {
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
        let snapshot = server.engine.snapshot
        let length: UInt64? = if case .length(let length) = head.framing { length } else { nil }
        if head.target.utf8.starts(with: "/r/".utf8) {
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
                terms: RequestTerms(head.fields.removingHopByHop()),
                length: length,
                client: connection.client,
                whileDraining: true,
                hasEmptySegment: target.hasEmptySegment
            )
            // A key may be known, which only the whole request tells.
            if let durable = admission.durable, durable.idempotencyKey == nil {
                try server.durable.acceptance.checkRoom(for: target.route)
            }
            self.init(
                head: head,
                purpose: .relay(admission),
                limit: snapshot.settings.maxRequestBody,
                holdLimit: snapshot.settings.replayBuffer
            )
            return
        }
        let call = try APICall(head, role: connection.listener.role)
        let limit = server.limits.maxDocument
        if case .stream = call.resource {
            guard !server.engine.isDraining else { throw Engine.stopping }
            let lineLimit = min(limit, snapshot.settings.maxRequestBody)
            let jobs = try LineStream(head, on: connection, lineLimit: lineLimit)
            self.init(head: head, purpose: .stream(jobs), limit: .max, holdLimit: 0)
            return
        }
        self.init(head: head, purpose: .api(call), limit: limit, holdLimit: limit)
        if let length, length > UInt64(limit) { throw tooLarge }
    }

    /// Does what the request asks, and has the answer out or the caller gone when it returns.
    func serve(on connection: Connection) async {
        let body = takeBody()
        let isHead = head.method == .head
        switch purpose {
        case .relay(let admission) where admission.durable == nil:
            let server = connection.server
            let relayed = await server.engine.run(admission, body: body, relay: server.relay)
            let answer = relayed.outcome.answer(admission, refusal: refusal)
            if let rest = connection.write(answer, isHead: isHead) { await connection.stream(rest) }
            if !connection.unsent.isEmpty { _ = await connection.drainOutput() }
            // The answer, and with it the permit and the room it takes, is done with only now.
            _ = consume relayed
        case .relay, .api:
            let answer: Answer
            do throws(Problem) {
                answer = try await self.answer(body, Caller(connection))
            } catch {
                answer = Answer(error)
            }
            if let rest = connection.write(answer, isHead: isHead) { await connection.stream(rest) }
            _ = await connection.drainOutput()
        case .stream(let jobs): await jobs.serve()
        }
    }

    private func answer(_ body: Body, _ caller: Caller) async throws(Problem) -> Answer {
        switch purpose {
        case .relay(let admission):
            let request = KeptRequest(
                admission: admission,
                durable: admission.durable ?? DurableOptions(),
                preferences: Preferences(head.fields),
                caller: caller
            )
            return try await request.answer(body) { refusal }
        case .api(let call):
            if case .bytes(let document) = body { return try await call.answer(document, caller) }
            return try await call.answer([], caller)
        case .stream: preconditionFailure("a stream is served as its body arrives")
        }
    }
}

extension Connection {
    /// Notes a request that was too large: the limit is an operator's to raise.
    func tell(_ problem: Problem, of head: RequestHead) {
        guard problem.code == .contentTooLarge else { return }
        let target = try? RelayTarget.parse(head.target)
        let refused = RefusedRequest(
            route: target?.route,
            method: head.method,
            path: String((target.map { "/" + $0.rest } ?? head.target).prefix { $0 != "?" }),
            client: client,
            status: problem.status,
            code: problem.code.rawValue,
            detail: problem.detail
        )
        server.relay.ports.sink.record(.requestRefused(refused))
    }
}
