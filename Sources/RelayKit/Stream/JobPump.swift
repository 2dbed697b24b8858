import RelayBase
import RelayCore
import Synchronization

/// Reads the requests of a job stream, runs each as a job in a task of its own, and hands out the outcomes.
///
/// A `JobOrderMachine` decides on the order; continuations are resumed only after the lock is released.
final class JobPump<
    Requests: AsyncSequence & Sendable,
    Value: Sendable,
    ServerError: FailureInitializable
>: Sendable where Requests.Element == Request<Value, ServerError> {
    private typealias Reader = CheckedContinuation<Step, Never>

    /// The answer to `next`.
    private enum Step: Sendable {
        case outcome(JobOutcome<Value, ServerError>)
        case end(Result<Void, Requests.Failure>)
    }

    private struct State {
        var machine: JobOrderMachine<JobOutcome<Value, ServerError>>
        var reader: Reader?
        var writer: CheckedContinuation<Bool, Never>?
        var end: Result<Void, Requests.Failure>?
        var isCancelled = false
        var pump: Task<Void, Never>?
        var jobs: [Int: Task<JobOutcome<Value, ServerError>, Never>] = [:]
    }

    private let stream: JobStream<Requests, Value, ServerError>
    private let state: Mutex<State>

    init(_ stream: JobStream<Requests, Value, ServerError>) {
        self.stream = stream
        state = Mutex(State(machine: JobOrderMachine(limit: stream.limit, order: stream.order)))
    }

    /// Stops reading requests and cancels every job: cancelling the task cancels its group.
    func cancel() {
        let (pump, writer) = state.withLock { state in
            state.isCancelled = true
            return (state.pump, state.writer.take())
        }
        writer?.resume(returning: false)
        pump?.cancel()
    }

    func next() async throws(Requests.Failure) -> JobOutcome<Value, ServerError>? {
        // A task that is cancelled already must not read or send a request.
        if Task.isCancelled { cancel() }
        start()
        let step = await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: Reader) in
                let (now, writer) = state.withLock { state in take(&state, reader) }
                writer?.resume(returning: true)
                if let now { reader.resume(returning: now) }
            }
        } onCancel: {
            cancel()
            state.withLock { $0.reader.take() }?.resume(returning: .end(.success(())))
        }
        switch step {
        case .outcome(let outcome): return outcome
        case .end(let end):
            try end.get()
            return nil
        }
    }

    /// Returns the step that the reader gets at once, and the loop that may read its next request; keeps a reader that
    /// has to wait.
    private func take(
        _ state: inout State,
        _ reader: Reader
    ) -> (Step?, CheckedContinuation<Bool, Never>?) {
        if state.isCancelled { return (.end(.success(())), nil) }
        if let (index, ended) = state.machine.take() {
            var outcome = ended
            outcome.index = index
            return (.outcome(outcome), state.writer.take())
        }
        if state.machine.isIdle, let end = state.end {
            // An error is thrown once; after it the stream is over like any other.
            state.end = .success(())
            return (.end(end), nil)
        }
        precondition(state.reader == nil, "two tasks wait for the next outcome of one job stream")
        state.reader = reader
        return (nil, nil)
    }

    private func start() {
        state.withLock { state in
            guard state.pump == nil, !state.isCancelled else { return }
            state.pump = Task { [self] in await run() }
        }
    }

    private func run() async {
        await withDiscardingTaskGroup { group in
            var requests = stream.requests.makeAsyncIterator()
            var end: Result<Void, Requests.Failure> = .success(())
            do throws(Requests.Failure) {
                while await waitToRead(), let request = try await requests.next(isolation: nil),
                    let (index, job) = begin(request)
                {
                    group.addTask { [self] in await finish(job, at: index) }
                }
            } catch {
                end = .failure(error)
            }
            finished(end)
        }
    }

    /// Waits until the next request may be read; false when the stream was cancelled.
    private func waitToRead() async -> Bool {
        await withCheckedContinuation { continuation in
            let now: Bool? = state.withLock { state in
                if state.isCancelled { return false }
                if state.machine.mayBegin { return true }
                state.writer = continuation
                return nil
            }
            if let now { continuation.resume(returning: now) }
        }
    }
}

extension JobPump {
    private typealias Job = Task<JobOutcome<Value, ServerError>, Never>

    /// Starts the job in a task of its own, so that a newer job of the same key can cancel this one alone; nil when the
    /// caller has left the stream meanwhile.
    private func begin(_ request: Request<Value, ServerError>) -> (Int, Job)? {
        let key = stream.key?(request)
        let (begun, old): ((Int, Job)?, Job?) = state.withLock { state in
            guard !state.isCancelled else { return (nil, nil) }
            let (index, superseded) = state.machine.began(key: key)
            let job = Task { [service = stream.service] in await service.outcome(of: request) }
            state.jobs[index] = job
            return ((index, job), superseded.flatMap { state.jobs[$0] })
        }
        old?.cancel()
        return begun
    }

    private func finish(_ job: Job, at index: Int) async {
        let outcome = await withTaskCancellationHandler {
            await job.value
        } onCancel: {
            job.cancel()
        }
        let (reader, step, writer) = state.withLock { state in
            state.jobs[index] = nil
            state.machine.ended(outcome, at: index)
            return wake(&state)
        }
        writer?.resume(returning: true)
        if let step { reader?.resume(returning: step) }
    }

    private func finished(_ end: Result<Void, Requests.Failure>) {
        let (reader, step, _) = state.withLock { state in
            state.end = end
            return wake(&state)
        }
        if let step { reader?.resume(returning: step) }
    }

    /// The waiting reader, the step that it gets, and the writer with a place now.
    private func wake(_ state: inout State) -> (Reader?, Step?, CheckedContinuation<Bool, Never>?) {
        guard let reader = state.reader.take() else { return (nil, nil, nil) }
        let (step, writer) = take(&state, reader)
        return (reader, step, writer)
    }
}
