package import RelayBase
package import RelayRoute

/// Other clocks, by which a job without a task can wait.
///
/// Single-threaded, as the loops it stands for.
package final class PromptClock: PromptTime {
    private let time: any TimeSource
    private let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>

    package init(
        _ time: any TimeSource,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { work in
            Task { await work() }
        }
    ) {
        self.time = time
        self.start = start
    }

    package func now() -> Instant { time.now() }

    package func wallMilliseconds() -> Int64 { time.wallMilliseconds() }

    package func sleep(until deadline: Instant) async throws(CancellationError) {
        try await time.sleep(until: deadline)
    }

    package func expire(at deadline: Instant) async throws(CancellationError) {
        try await time.expire(at: deadline)
    }

    package func wake(_ receiver: any AnswerReceiver, at moment: Instant) -> any Sending {
        let wait = Wait(receiver)
        wait.task = start { [time, start] in
            try? await time.sleep(until: moment)
            // In a task of its own: no event of a clock is ever cancelled.
            _ = start { wait.tell() }
        }
        return wait
    }

    private final class Wait: Sending, @unchecked Sendable {
        var task: Task<Void, Never>?
        private let receiver: any AnswerReceiver

        init(_ receiver: any AnswerReceiver) { self.receiver = receiver }

        func tell() { receiver.received(.woken) }

        func cancel() { task?.cancel() }
    }
}
