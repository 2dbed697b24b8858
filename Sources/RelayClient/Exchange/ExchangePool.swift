import RelayPosix
import Synchronization

/// Runs exchanges on threads of their own, so many at once, the others in the order in which they came.
final class ExchangePool: Sendable {
    /// Does the work and gives what tells its caller, which is called once the place is free.
    private typealias Work = @Sendable () -> @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting: [Work] = []
        /// Where in `waiting` the next one stands.
        var first = 0

        var waitingCount: Int { waiting.count - first }

        /// Passes over the next one; what is done is let go when it is the greater part.
        mutating func advance() {
            first += 1
            guard first > 64, first > waiting.count / 2 else { return }
            waiting.removeFirst(first)
            first = 0
        }
    }

    private let limit: Int
    private let maxWaiting: Int
    private let life: ClientLife
    private let state = Mutex(State())

    init(limit: Int, maxWaiting: Int = .max, life: ClientLife) {
        self.limit = limit
        self.maxWaiting = maxWaiting
        self.life = life
    }

    /// Begins an exchange, runs `work` for it on a thread as soon as there is a place, and gives what it made.
    ///
    /// Cancelling the task hangs up, and gives up the wait for a place at once; a shutdown does the same.
    func run<Value: Sendable>(
        _ canceller: Canceller,
        _ manner: ClientLife.Manner = .working,
        _ work: @escaping @Sendable () throws(RelayClientError) -> Value
    ) async throws(RelayClientError) -> Value {
        let turn = PendingExchange<Value>()
        let stay = life.enter(manner) {
            canceller.cancel(.shutDown)
            turn.cancel(.neverSent(.shutDown))
        }
        guard let stay else { throw .neverSent(.shutDown) }
        defer { stay.end() }
        return try await run(canceller, turn, work)
    }

    /// Goes on with an exchange that has begun and that a shutdown knows.
    func goOn<Value: Sendable>(
        _ canceller: Canceller,
        _ work: @escaping @Sendable () throws(RelayClientError) -> Value
    ) async throws(RelayClientError) -> Value {
        try await run(canceller, PendingExchange(), work)
    }

    private func run<Value: Sendable>(
        _ canceller: Canceller,
        _ turn: PendingExchange<Value>,
        _ work: @escaping @Sendable () throws(RelayClientError) -> Value
    ) async throws(RelayClientError) -> Value {
        let result: Result<Value, RelayClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard turn.wait(continuation) else { return }
                let isTaken = submit {
                    guard turn.begin() else { return {} }
                    let result = Result(catching: work)
                    return { turn.end(result) }
                }
                if !isTaken { turn.cancel(.tooMany(maxWaiting)) }
            }
        } onCancel: {
            canceller.cancel(.cancelled)
            turn.cancel(.neverSent(.cancelled))
        }
        return try result.get()
    }

    private enum Admission {
        case started
        case queued
        case refused
    }

    /// Does the work as soon as there is a place; false when too many wait for one.
    private func submit(_ work: @escaping Work) -> Bool {
        let admission: Admission = state.withLock { state in
            if state.running < limit {
                state.running += 1
                return .started
            }
            guard state.waitingCount < maxWaiting else { return .refused }
            state.waiting.append(work)
            return .queued
        }
        guard admission == .started else { return admission == .queued }
        do throws(PosixError) {
            try startDetachedThread("relay-client") { self.workOff(work) }
        } catch {
            // No thread to be had: the caller's own does it, which is slow but loses nothing.
            workOff(work)
        }
        return true
    }

    /// Does the work and then what has been waiting.
    private func workOff(_ first: @escaping Work) {
        var work: Work? = first
        while let current = work {
            let tell = current()
            work = state.withLock { state in
                guard state.first < state.waiting.count else {
                    state.running -= 1
                    state.waiting = []
                    state.first = 0
                    return nil
                }
                defer { state.advance() }
                return state.waiting[state.first]
            }
            tell()
        }
    }
}

extension RelayClientError {
    fileprivate static func tooMany(_ count: Int) -> RelayClientError {
        RelayClientError(
            .tooManyRequests,
            "\(count) requests of this client wait for a place already (maxWaitingRequests); nothing was sent"
        )
    }
}
