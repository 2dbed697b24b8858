import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

/// Tells upstreams to stop the operations of kept jobs that were cancelled, once the cancellation is on disk.
///
/// Nobody waits for it, and each is told once: one that a crash or a stop of the relay keeps from being told is not told
/// later, and the record of its job says nothing then.
final class OperationStops: Sendable {
    private struct State {
        var waiting: [JobID] = []
        var workers = 0
    }

    private let state = Mutex(State())

    /// Upstreams that are told at once, and jobs whose operations wait for that.
    private static let mostWorkers = 4
    private static let mostWaiting = 10_000

    /// These were cancelled.
    func add(_ ids: [JobID], _ dispatcher: Dispatcher) {
        guard !ids.isEmpty, let relay = dispatcher.relay else { return }
        let fresh = state.withLock { state in
            state.waiting += ids.prefix(Self.mostWaiting - state.waiting.count)
            let fresh = min(Self.mostWorkers, state.waiting.count) - state.workers
            state.workers += max(0, fresh)
            return max(0, fresh)
        }
        for _ in 0..<fresh { _ = relay.ports.start { [self] in await work(relay, dispatcher) } }
    }

    private func work(_ relay: Relay, _ dispatcher: Dispatcher) async {
        while let id = next() { await stop(id, relay, dispatcher) }
    }

    private func next() -> JobID? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.workers -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private func stop(_ id: JobID, _ relay: Relay, _ dispatcher: Dispatcher) async {
        let (store, snapshot) = (dispatcher.store, dispatcher.engine.snapshot)
        do throws(StoreError) {
            guard dispatcher.phase != .aborted, let job = try await store.job(id), job.state == .cancelled,
                let entry = snapshot.routes[job.record.route]
            else { return }
            let record = job.record
            var history = JobHistory()
            history.attempts = job.attempts
            try await history.read(job, on: entry.route, from: store, after: 0)
            let attempt = await relay.stopOperation(
                of: HTTPRequest(method: record.method, target: record.target, fields: record.fields),
                JobContext(job, entry, history: history),
                snapshot.vault
            )
            guard let attempt else { return }
            _ = try await store.note(attempt.onRecord, of: id, at: JobMoment(dispatcher.engine.time))
        } catch {
            // The store tells of its own failures, and the event of what was said to the upstream is out.
        }
    }
}

extension JobHistory {
    /// Takes the job's attempts behind that number into account.
    mutating func read(
        _ job: StoredJob,
        on route: Route,
        from store: any JobStore,
        after number: Int
    ) async throws(StoreError) {
        var last = number
        while last < job.attempts {
            let page = try await store.attempts(of: job.record.id, after: last, limit: 256)
            for attempt in page {
                if attempt.number > job.earlierAttempts {
                    count(attempt, on: route, job.record.method)
                } else {
                    count(earlier: attempt)
                }
                last = max(last, attempt.number)
            }
            if page.count < 256 { break }
        }
    }
}
