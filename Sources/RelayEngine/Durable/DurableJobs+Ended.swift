package import RelayCore
import Synchronization

// MARK: Ends that no run brought about

extension DurableJobs {
    /// The store says that these jobs are over; called on any thread.
    ///
    /// What comes before the start is told at the start.
    package func ended(_ jobs: [EndedJob]) {
        guard !keepsEarly(EndedJobs(jobs)) else { return }
        room.withLock { $0.ended(jobs.count) }
        tell(jobs)
    }

    /// Takes over what the store said before there was anybody to tell.
    package func ended(_ early: EndedJobs) {
        guard !keepsEarly(early) else { return }
        tell(early)
    }

    /// What ended before the start was not counted at the start either.
    func tell(_ ended: EndedJobs) {
        tell(ended.jobs)
        if ended.more > 0 { nextRelay()?.ports.sink.record(.durableEndsUntold(ended.more)) }
    }

    private func tell(_ jobs: [EndedJob]) {
        let now = engine.time.wallMilliseconds()
        let (snapshot, sink) = (engine.snapshot, nextRelay()?.ports.sink)
        for job in jobs {
            if let event = FeedEvent(job) { feed.publish(event, at: now) }
            snapshot.routes[job.route]?.state.ended(job)
            sink?.record(.durableEndedUnsent(job))
            waiters.changed(job.id)
        }
    }
}
