package import RelayBase
import RelayHTTP
package import RelayPosix
package import RelayRoute

/// HTTP/1.1 over TCP, TLS and Unix sockets, on one event loop with its own pool of connections.
///
/// Used from tasks of the loop it costs no hop; called from elsewhere, the call moves to the loop and back.
/// Proxy variables of the environment are not read, redirects are answers, and an address is dialled exactly
/// as it was looked up and checked.
package final class LoopTransport: PromptTransport {
    package let loop: EventLoop
    private let state: LoopBound<TransportState>

    /// - Parameters:
    ///   - loop: where everything happens; running.
    ///   - resolver: shared by the transports of a process.
    ///   - secrets: reads a client certificate or key; called on the loop, once until `forgetSecrets`.
    ///   - wallSeconds: seconds since 1970, by which pinned keys expire; called on the loop.
    ///   - memory: counts what connections keep of bodies; nil where nobody counts.
    package init(
        on loop: EventLoop,
        resolver: NameResolver = NameResolver(),
        secrets: @escaping @Sendable (SecretReference) -> Secret? = { _ in nil },
        wallSeconds: @escaping @Sendable () -> Int64 = SystemClock.wallSeconds,
        memory: MemoryAccount? = nil
    ) {
        self.loop = loop
        state = loop.bind { TransportState(loop, resolver, secrets, wallSeconds, memory) }
    }

    deinit {
        loop.execute { [state] in state.value.close() }
    }

    package func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        if loop.isCurrent { return try await sendOnLoop(request) }
        return try await withTaskExecutorPreference(loop) { () async throws(Failure) in try await hop(request)
        }
    }

    package func sendNow(
        _ request: OutboundRequest,
        _ receiver: any AnswerReceiver
    ) throws(Failure) -> any Sending {
        try check(request)
        let connection = connection(for: request)
        let sent = SentRequest(connection: connection, serial: connection.serial)
        begin(request, on: connection, .receiver(receiver, self, request))
        return sent
    }

    func pool(for upstream: Upstream) -> OriginPool { state.value.pool(for: upstream) }

    /// The result for a receiver, which has no task.
    func result(of request: OutboundRequest, _ outcome: ExchangeOutcome) -> PromptResult {
        switch outcome {
        case .answer(let response): .answer(response)
        case .failure(let failure): .failure(failure)
        case .stale:
            .gone { [self] () async throws(Failure) -> InboundResponse in try await sendAfresh(request) }
        case .closed(let failure):
            .gone { [self] () async throws(Failure) -> InboundResponse in
                try await sendAgain(request, after: failure)
            }
        }
    }

    /// Drops idle connections and loaded certificates, so that changed files and secrets are read.
    package func forgetSecrets() {
        loop.execute { [state] in state.value.forgetAll() }
    }

    /// Leaves whatever actor the caller is on.
    @concurrent
    private func hop(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        try await sendOnLoop(request)
    }

    private func sendOnLoop(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        try check(request)
        switch await exchange(connection(for: request), request) {
        case .answer(let response): return response
        case .failure(let failure): throw failure
        // No byte was taken, so the request is as unsent as before.
        case .stale: return try await sendAfresh(request)
        case .closed(let failure): return try await sendAgain(request, after: failure)
        }
    }

    /// Sends what may be repeated once more after a kept connection was closed without an answer (RFC 9112 §9.3.1).
    @inline(never)
    private func sendAgain(
        _ request: OutboundRequest,
        after failure: Failure
    ) async throws(Failure) -> InboundResponse {
        guard request.isRepeatable, loop.currentTime() < request.deadline.nanoseconds, !Task.isCancelled,
            let again = request.again
        else { throw failure }
        if let log = request.log {
            do throws(Failure) { try await log.resend() } catch { throw failure }
        }
        do throws(Failure) {
            var answer = try await sendAfresh(again)
            answer.exchange.wasResent = true
            return answer
        } catch {
            var second = error
            let wasSent = second.sent != .neverSent
            // Others may have the job by now.
            if !wasSent, second.kind == .attemptUnrecorded { throw failure }
            // The first sending may have had its effect, however the second one ended.
            if !wasSent { second.sent = .unknown }
            var exchange = second.exchange ?? Exchange()
            exchange.wasResent = wasSent
            second.exchange = exchange
            throw second
        }
    }

    /// Sends on a connection made for it.
    private func sendAfresh(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        let connection = Connection(pool(for: request.upstream), loop: loop)
        switch await exchange(connection, request) {
        case .answer(let response): return response
        case .failure(let failure), .closed(let failure): throw failure
        case .stale:
            throw Failure(
                .connectionTerminated,
                sent: .neverSent,
                "\(request.upstream.origin.text) hung up"
            )
        }
    }

    private func exchange(_ connection: Connection, _ request: OutboundRequest) async -> ExchangeOutcome {
        let sent = SentRequest(connection: connection, serial: connection.serial)
        return await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation { unsafe begin(request, on: connection, .task($0)) }
        } onCancel: {
            sent.cancel()
        }
    }

    /// Makes a connection as the first request would have it, sends nothing, and keeps it for a request to come.
    ///
    /// Called on the loop.
    package func reach(_ request: OutboundRequest) async -> DialReport {
        let connection = Connection(pool(for: request.upstream), loop: loop)
        let sent = SentRequest(connection: connection, serial: connection.serial)
        let record = DialRecord()
        let outcome = await withTaskCancellationHandler {
            unsafe await withUnsafeContinuation {
                unsafe connection.dial(state.value, for: request, .task($0), record)
            }
        } onCancel: {
            sent.cancel()
        }
        record.finish(outcome, now: loop.currentTime())
        return record.report
    }

    /// A kept connection, or one that is still to be made.
    private func connection(for request: OutboundRequest) -> Connection {
        let pool = pool(for: request.upstream)
        return pool.take(now: loop.now) ?? Connection(pool, loop: loop)
    }

    private func begin(_ request: OutboundRequest, on connection: Connection, _ waiter: ExchangeWaiter) {
        switch connection.phase {
        case .dialling: connection.dial(state.value, for: request, waiter)
        case .idle: connection.begin(request, waiter)
        // Cancelled before it was begun.
        case .exchanging, .reading, .closed: waiter.resume(.failure(cancellation))
        }
    }

    private var cancellation: Failure { Failure(.cancelled, sent: .neverSent, "the request was cancelled") }

    /// Refuses what could break out of the request line, and what is too late.
    private func check(_ request: OutboundRequest) throws(Failure) {
        if Task.isCancelled { throw cancellation }
        guard !request.method.rawValue.isEmpty, request.method.rawValue.consists(of: isTokenByte) else {
            throw Failure(.preparation, sent: .neverSent, "the request method is not a token")
        }
        guard request.method != .connect else {
            throw Failure(.preparation, sent: .neverSent, "CONNECT is not sent to an upstream")
        }
        guard !request.target.isEmpty, request.target.consists(of: { $0 > 0x20 && $0 < 0x7F }) else {
            throw .preparation("the request target is empty or holds a byte that must be percent-encoded")
        }
        guard loop.now < request.deadline.nanoseconds else {
            throw Failure(
                .httpResponseTimeout,
                sent: .neverSent,
                "the deadline passed before the request was sent"
            )
        }
    }
}
