import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

/// Tells upstreams to stop the operations of kept jobs that were cancelled, once the cancellation is on disk.
///
/// Nobody waits for it, and each is told once: one that a crash or a stop of the relay keeps from being told is not told
/// later, and the record of its job says nothing then. Each route has a queue of its own, so that an upstream which does
/// not answer holds up no other's.
final class OperationStops: Sendable {
    private struct Queue {
        var waiting: ArraySlice<(id: JobID, since: Instant)> = []
        var workers = 0
    }

    private let queues = Mutex([String: Queue]())

    /// Requests of one route at once, and jobs whose operations wait for that.
    private static let mostWorkers = 4
    private static let mostWaiting = 10_000
    /// An operation whose turn comes later than that is not stopped any more: nobody expects it.
    private static let longestWait: Duration = .seconds(600)

    /// These were cancelled.
    func add(_ ids: [JobID], on route: String, _ dispatcher: Dispatcher) {
        guard !ids.isEmpty, let relay = dispatcher.relay else { return }
        let now = relay.ports.time.now()
        let (fresh, untold) = queues.withLock { queues in
            var queue = queues[route] ?? Queue()
            let room = max(0, OperationStops.mostWaiting - queue.waiting.count)
            queue.waiting += ids.prefix(room).map { ($0, now) }
            let fresh = max(0, min(OperationStops.mostWorkers, queue.waiting.count) - queue.workers)
            queue.workers += fresh
            queues[route] = queue
            return (fresh, max(0, ids.count - room))
        }
        count(untold: untold, on: route, dispatcher)
        for _ in 0..<fresh { _ = relay.ports.start { [self] in await work(route, relay, dispatcher) } }
    }

    private func work(_ route: String, _ relay: Relay, _ dispatcher: Dispatcher) async {
        while let next = next(of: route) {
            if next.since.duration(to: relay.ports.time.now()) > OperationStops.longestWait {
                count(untold: 1, on: route, dispatcher)
            } else {
                await stop(next.id, relay, dispatcher)
            }
        }
    }

    private func next(of route: String) -> (id: JobID, since: Instant)? {
        queues.withLock { queues in
            if let next = queues[route]?.waiting.popFirst() { return next }
            queues[route]?.workers -= 1
            if queues[route]?.workers == 0 { queues[route] = nil }
            return nil
        }
    }

    private func count(untold: Int, on route: String, _ dispatcher: Dispatcher) {
        let meter = dispatcher.engine.snapshot.routes[route]?.state.meter
        for _ in 0..<untold { meter?.looked(.untold) }
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
