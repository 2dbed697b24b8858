package import RelayBase
package import RelayCore
package import RelayRoute

/// Another transport, which a job without a task can use.
///
/// Single-threaded, as the loops it stands for.
package final class PromptOver: PromptTransport, @unchecked Sendable {
    private let transport: any Transport
    private let start: (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// Whether the connection turns out to be gone.
    private let isGone: () -> Bool

    package init(
        _ transport: any Transport,
        start: @escaping (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { work in
            Task { await work() }
        },
        isGone: @escaping () -> Bool = { false }
    ) {
        self.transport = transport
        self.start = start
        self.isGone = isGone
    }

    package func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        try await transport.send(request)
    }

    package func sendNow(
        _ request: OutboundRequest,
        _ receiver: any AnswerReceiver
    ) throws(Failure) -> any Sending {
        let isGone = isGone()
        let exchange = Exchange(receiver)
        exchange.task = start { [self] in
            let result: PromptResult
            if isGone {
                result = .gone { () async throws(Failure) -> InboundResponse in
                    try await self.transport.send(request)
                }
            } else {
                do throws(Failure) {
                    result = .answer(try await self.transport.send(request))
                } catch {
                    result = .failure(error)
                }
            }
            // In a task of its own: no event of a connection is ever cancelled.
            _ = start { exchange.tell(result) }
        }
        return exchange
    }

    private final class Exchange: Sending, @unchecked Sendable {
        var task: Task<Void, Never>?
        private let receiver: any AnswerReceiver

        init(_ receiver: any AnswerReceiver) { self.receiver = receiver }

        func tell(_ result: PromptResult) { receiver.received(result) }

        func cancel() { task?.cancel() }
    }
}

extension Relay {
    /// Runs a job as the daemon does: without a task as long as it need not wait.
    package func performPromptly(
        _ request: HTTPRequest,
        context: JobContext,
        vault: CredentialVault,
        since began: Instant? = nil
    ) async -> Outcome {
        if case .stream = request.body {
            return await perform(request, context: context, vault: vault, since: began)
        }
        let outcome: Outcome
        switch begin(request, context, vault, since: began) {
        case .failure(let failure): outcome = Outcome(context, failure)
        case .success(let execution):
            if await PromptRun(execution).waits() { await execution.run() }
            outcome = execution.outcome
        }
        ports.sink.record(.ended(outcome.report))
        return outcome
    }
}

/// Does a connection's part for its request, until that has to wait or has ended.
private final class PromptRun: AnswerReceiver, @unchecked Sendable {
    private let execution: Execution
    private var continuation: CheckedContinuation<Bool, Never>?

    init(_ execution: Execution) { self.execution = execution }

    /// Returns whether the job has to wait, or has ended.
    func waits() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.continuation = continuation
                if Task.isCancelled { execution.cancel() }
                go(execution.goOn(self))
            }
        } onCancel: {
            execution.cancel()
        }
    }

    func received(_ result: PromptResult) { go(execution.tell(result, self)) }

    private func go(_ progress: Execution.Progress) {
        if case .sent = progress { return }
        let isOver = if case .ended = progress { true } else { false }
        let continuation = continuation
        self.continuation = nil
        continuation?.resume(returning: !isOver)
    }
}
