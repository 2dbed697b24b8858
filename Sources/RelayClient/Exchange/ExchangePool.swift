import RelayBase
import RelayPosix
import Synchronization

/// Runs exchanges on threads of their own, so many at once, the others in the order in which they came.
final class ExchangePool: Sendable {
    /// Does the work and gives what tells its caller, which is called once the place is free.
    private typealias Work = @Sendable () -> @Sendable () -> Void

    private struct State {
        var running = 0
        /// Those in the line, by their numbers in the order in which they came.
        var waiting: [UInt64: Work] = [:]
        /// No number below it waits.
        var first: UInt64 = 0
        /// The number of the next that joins.
        var end: UInt64 = 0

        mutating func join(_ work: @escaping Work) -> UInt64 {
            waiting[end] = work
            defer { end += 1 }
            return end
        }

        /// Takes out whoever has waited longest; nil when nobody waits.
        mutating func next() -> Work? {
            guard !waiting.isEmpty else {
                first = end
                return nil
            }
            while true {
                defer { first += 1 }
                if let work = waiting.removeValue(forKey: first) { return work }
            }
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

    /// How many exchanges wait for a place.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Begins an exchange, runs `work` for it on a thread as soon as there is a place, and gives what it made.
    ///
    /// Cancelling the task hangs up, and gives up the wait for a place at once; a shutdown does the same. The wait ends
    /// at the deadline too; `work` has to end by itself.
    func run<Value: Sendable>(
        _ canceller: Canceller,
        _ manner: ClientLife.Manner = .working,
        by deadline: Int64? = nil,
        _ work: @escaping @Sendable () throws(RelayClientError) -> Value
    ) async throws(RelayClientError) -> Value {
        let turn = PendingExchange<Value>()
        let stay = life.enter(manner) {
            canceller.cancel(.shutDown)
            turn.cancel(.neverSent(.shutDown))
        }
        guard let stay else { throw .neverSent(.shutDown) }
        defer { stay.end() }
        let gaveUp = RelayClientError.neverSent(.cancelled)
        return try await run(canceller, turn, by: deadline, late: .late, gaveUp: gaveUp, work)
    }

    /// Goes on with an exchange that has begun and that a shutdown knows.
    func goOn<Value: Sendable>(
        _ canceller: Canceller,
        by deadline: Int64,
        _ work: @escaping @Sendable () throws(RelayClientError) -> Value
    ) async throws(RelayClientError) -> Value {
        let late = RelayClientError(.timedOut, "no place became free in time to read on")
        let gaveUp = RelayClientError.hungUp(.cancelled)
        return try await run(canceller, PendingExchange(), by: deadline, late: late, gaveUp: gaveUp, work)
    }

    private func run<Value: Sendable>(
        _ canceller: Canceller,
        _ turn: PendingExchange<Value>,
        by deadline: Int64?,
        late: RelayClientError,
        gaveUp: RelayClientError,
        _ work: @escaping @Sendable () throws(RelayClientError) -> Value
    ) async throws(RelayClientError) -> Value {
        let result: Result<Value, RelayClientError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard turn.wait(continuation) else { return }
                let admission = submit {
                    guard turn.begin() else { return {} }
                    let result = Result(catching: work)
                    return { turn.end(result) }
                }
                switch admission {
                case .started: break
                case .refused: turn.cancel(.tooMany(maxWaiting))
                case .queued(let number):
                    let timer = deadline.map { ExchangePool.timer($0) { turn.cancel(late) } }
                    turn.onceNoMoreWaiting {
                        timer?.cancel()
                        self.remove(number)
                    }
                }
            }
        } onCancel: {
            canceller.cancel(.cancelled)
            turn.cancel(gaveUp)
        }
        return try result.get()
    }

    /// Calls `ring` at that moment, unless it is cancelled before.
    private static func timer(
        _ moment: Int64,
        _ ring: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        Task {
            let (clock, end) = (ClientClock.machine, Instant(nanoseconds: moment))
            while clock.now() < end {
                // By the hour, since nobody promises to sleep for centuries.
                let left = min(clock.now().duration(to: end), .seconds(3_600))
                guard (try? await clock.sleep(left)) != nil else { return }
            }
            ring()
        }
    }

    private enum Admission {
        case started
        /// In the line, under that number.
        case queued(UInt64)
        case refused
    }

    /// Does the work as soon as there is a place, unless too many wait for one.
    private func submit(_ work: @escaping Work) -> Admission {
        let admission: Admission = state.withLock { state in
            if state.running < limit {
                state.running += 1
                return .started
            }
            guard state.waiting.count < maxWaiting else { return .refused }
            return .queued(state.join(work))
        }
        guard case .started = admission else { return admission }
        do throws(PosixError) {
            try startDetachedThread("relay-client") { self.workOff(work) }
        } catch {
            // No thread to be had: the caller's own does it, which is slow but loses nothing.
            workOff(work)
        }
        return .started
    }

    /// Gives up a place in the line.
    private func remove(_ number: UInt64) {
        // Let go outside the lock: it may be the last to hold what it sends.
        _ = state.withLock { $0.waiting.removeValue(forKey: number) }
    }

    /// Does the work and then what has been waiting.
    private func workOff(_ first: @escaping Work) {
        var work: Work? = first
        while let current = work {
            let tell = current()
            work = state.withLock { state in
                let next = state.next()
                if next == nil { state.running -= 1 }
                return next
            }
            tell()
        }
    }
}

extension RelayClientError {
    /// The error of a request whose time was up while it waited for a place.
    static var late: RelayClientError {
        RelayClientError(.timedOut, "the time was up before the request could be sent", sent: .neverSent)
    }

    fileprivate static func tooMany(_ count: Int) -> RelayClientError {
        RelayClientError(
            .tooManyRequests,
            "\(count) requests of this client wait for a place already (maxWaitingRequests); nothing was sent"
        )
    }
}
