package import RelayBase
import RelayCore
import RelayInterface
package import RelayJobs
import Synchronization

/// Those who wait for a job to change.
final class JobWaiters: JobListener {
    private struct State {
        var tickets: [JobID: [Ticket]] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// A wait for the next change of one job.
    typealias Ticket = Pending<Void>

    /// Begins to watch a job; nil when too many wait.
    ///
    /// The ticket has to be given back.
    func ticket(_ id: JobID) -> Ticket? {
        state.withLock { state in
            guard state.count < limit else { return nil }
            let ticket = Ticket()
            state.count += 1
            state.tickets[id, default: []].append(ticket)
            return ticket
        }
    }

    func giveBack(_ ticket: Ticket, of id: JobID) {
        state.withLock { state in
            state.count -= 1
            state.tickets[id]?.removeAll { $0 === ticket }
            if state.tickets[id]?.isEmpty == true { state.tickets[id] = nil }
        }
    }

    func heard(_ event: JobEvent, at wall: Int64) {
        switch event {
        case .accepted: break
        // The reason why its jobs wait has changed.
        case .routePaused, .routeResumed, .routeShut: allChanged()
        default: if let id = event.job { changed(id) }
        }
    }

    private func changed(_ id: JobID) {
        let tickets = state.withLock { state in state.count == 0 ? nil : state.tickets[id] }
        for ticket in tickets ?? [] { ticket.give(()) }
    }

    /// Jobs have changed, nobody knows which.
    private func allChanged() {
        let tickets = state.withLock { state in state.tickets.values.flatMap(\.self) }
        for ticket in tickets { ticket.give(()) }
    }
}

extension DurableJobs {
    /// The job is looked at again after that, for changes that come from elsewhere.
    private static let lookInterval: Duration = .seconds(10)

    /// The job as soon as its version is no longer `version` (nil: as soon as it is over), or as it is at `deadline`.
    ///
    /// `time` is that of the loop that asks. Returns at once when the task is cancelled.
    ///
    /// - Throws: `job_not_found`, `storage_failed`; `overloaded` when too many wait.
    package func job(
        _ id: JobID,
        changedSince version: UInt64?,
        by deadline: Instant,
        _ time: any TimeSource
    ) async throws(Problem) -> StoredJob {
        while true {
            guard let ticket = waiters.ticket(id) else {
                throw Problem(
                    .overloaded,
                    "too many requests wait for jobs; ask without waiting",
                    job: id,
                    retryAfter: .seconds(1)
                )
            }
            defer { waiters.giveBack(ticket, of: id) }
            let job = try await store.present(id)
            if version.map({ $0 != job.version }) ?? job.state.isTerminal { return job }
            let now = time.now()
            guard now < deadline, !Task.isCancelled else { return job }
            let next = min(deadline, now.advanced(by: DurableJobs.lookInterval))
            _ = await cancelling(at: next, time) { await ticket.valueUnlessCancelled() }
        }
    }
}
