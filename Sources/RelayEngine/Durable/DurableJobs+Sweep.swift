import RelayCore
import Synchronization

// What is done every second.
extension DurableJobs {
    /// Sweeps until the task is cancelled.
    func sweep(_ time: any TimeSource) async {
        while !Task.isCancelled {
            let began = time.now()
            do throws(StoreError) {
                try await sweepOnce()
                _ = try await count()
            } catch {
                // What the store cannot survive ends the process; anything else may have passed in a second.
                if error.code == .closed { return }
            }
            await endPauses()
            do throws(CancellationError) {
                try await time.sleep(until: began.advanced(by: .seconds(1)))
            } catch { return }
        }
    }

    private func sweepOnce() async throws(StoreError) {
        var hasMore = true
        while hasMore, !Task.isCancelled {
            let report = try await store.sweep(settings.retention, limit: 500, at: moment)
            let now = engine.time.wallMilliseconds()
            for job in report.expiredJobs {
                var event = FeedEvent(.jobExpired, route: job.route, job: job.id, user: job.user)
                event.end = .expired
                feed.publish(event, at: now)
                engine.snapshot.routes[job.route]?.state.expired()
                nextRelay()?.ports.sink.record(.durableExpired(job.id, route: job.route))
                waiters.changed(job.id)
            }
            hasMore = report.hasMore
        }
    }

    /// Asks the store how many jobs there are, and how it is.
    func count() async throws(StoreError) -> JobCounters {
        room.withLock { $0.counting() }
        let counters = try await store.counters(at: moment)
        let count = counters.counts.reduce(0) { $1.key.state.isTerminal ? $0 : $0 + $1.value }
        room.withLock { $0.counted(count) }
        latest.withLock { $0 = counters }
        let facts = try await store.facts()
        latestFacts.withLock { $0 = facts }
        return counters
    }
}
