import RelayCore
import Synchronization

/// Those who wait for a job to change.
final class JobWaiters: Sendable {
    private struct State {
        var tickets: [JobID: [Ticket]] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// One who waits for the next change of one job.
    final class Ticket: Sendable {
        private enum Phase {
            case idle
            case waiting(CheckedContinuation<Void, Never>)
            case over
        }

        let id: JobID
        private let phase = Mutex(Phase.idle)

        fileprivate init(_ id: JobID) { self.id = id }

        fileprivate func end() {
            let waiter: CheckedContinuation<Void, Never>? = phase.withLock { phase in
                defer { phase = .over }
                if case .waiting(let continuation) = phase { return continuation }
                return nil
            }
            waiter?.resume()
        }

        /// Returns when the job has changed since the ticket was taken, or when the task is cancelled.
        func wait() async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = phase.withLock { phase in
                        if case .over = phase { return true }
                        phase = .waiting(continuation)
                        return false
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                end()
            }
        }
    }

    /// Begins to watch a job; nil when too many wait.
    ///
    /// The ticket has to be given back.
    func ticket(_ id: JobID) -> Ticket? {
        state.withLock { state in
            guard state.count < limit else { return nil }
            let ticket = Ticket(id)
            state.count += 1
            state.tickets[id, default: []].append(ticket)
            return ticket
        }
    }

    func giveBack(_ ticket: Ticket) {
        state.withLock { state in
            state.count -= 1
            state.tickets[ticket.id]?.removeAll { $0 === ticket }
            if state.tickets[ticket.id]?.isEmpty == true { state.tickets[ticket.id] = nil }
        }
    }

    func changed(_ id: JobID) {
        let tickets = state.withLock { state in state.count == 0 ? nil : state.tickets[id] }
        for ticket in tickets ?? [] { ticket.end() }
    }

    /// Jobs have changed, nobody knows which.
    func allChanged() {
        let tickets = state.withLock { state in state.tickets.values.flatMap(\.self) }
        for ticket in tickets { ticket.end() }
    }

    var count: Int { state.withLock { $0.count } }
}
