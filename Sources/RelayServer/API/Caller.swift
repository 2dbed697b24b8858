import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayPosix
import RelayRoute

/// The party that asks, and all that a call may know of the connection it came by.
struct Caller {
    let server: LoopServer
    let role: Role
    let client: ClientIdentity?
    /// Its part of the means that all share; nil for operators.
    let share: CallerShare?
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
        server = connection.server
        role = connection.listener.role
        client = connection.client
        share = connection.share
    }

    /// Whether there is somebody to answer.
    var isThere: Bool { connection.phase == .busy }

    /// Lets others have their turn.
    func nextIteration() async { await connection.loop.nextIteration() }

    /// Waits for something that the caller has no need of when the daemon stops.
    func waiting<Value>(
        _ body: (DurableJobs, any TimeSource) async throws(Problem) -> Value
    ) async throws(Problem) -> Value {
        connection.yieldsAtDrain = true
        defer { connection.yieldsAtDrain = false }
        if server.isDraining { connection.task?.cancel() }
        return try await body(server.durable, server.relay.ports.time)
    }

    /// The job; nil when it was dropped, after which only its key is known.
    func kept(_ id: JobID) async throws(Problem) -> StoredJob? {
        do throws(Problem) {
            return try await server.durable.store.present(id)
        } catch {
            guard error.code == .jobNotFound else { throw error }
            return nil
        }
    }

    /// The job, if it is over within that time; the stop of the daemon ends the wait.
    func over(_ id: JobID, within wait: Duration) async throws(Problem) -> StoredJob? {
        do throws(Problem) {
            let job = try await waiting { (durable, time) throws(Problem) in
                try await durable.job(id, changedSince: nil, by: time.now().advanced(by: wait), time)
            }
            return job.state.isTerminal ? job : nil
        } catch {
            guard error.code == .jobNotFound else { throw error }
            return nil
        }
    }
}

extension Caller {
    /// How long an action waits for the name of whoever asked for it; later its uid alone is told.
    private static let nameTimeout: Duration = .milliseconds(250)

    /// The user that asks; nil when the kernel does not tell it.
    func principal() async -> Principal? {
        guard let client else { return nil }
        let (user, node) = (client.user, client.node)
        let wait = Pending<String?>()
        switch server.names.lookUp(user, { wait.give($0) }) {
        case .known(let name): return Principal(user, name: name, on: node)
        case .refused: return Principal(user, on: node)
        case .asked:
            let time = server.relay.ports.time
            let deadline = time.now().advanced(by: Caller.nameTimeout)
            let name = await cancelling(at: deadline, time) { await wait.valueUnlessCancelled() }
            return Principal(user, name: name.flatMap { $0 }, on: node)
        }
    }
}
