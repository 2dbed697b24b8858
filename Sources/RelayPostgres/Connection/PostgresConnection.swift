import CPostgres
import RelayBase
package import RelayPosix

/// A connection to a server, confined to the loop on which it was made; over when it is closed or let go of.
///
/// Batches are sent one after the other, in the order of the calls.
package final class PostgresConnection {
    private let loop: EventLoop
    private let session: LoopBound<PostgresSession>
    /// The server's process.
    package let processID: Int32
    /// As a number: 150004 for 15.4.
    package let serverVersion: Int32

    private init(_ session: PostgresSession, on loop: EventLoop) {
        self.loop = loop
        self.session = LoopBound(session, loop)
        processID = unsafe relay_pq_process_id(session.raw)
        serverVersion = unsafe relay_pq_server_version(session.raw)
    }

    deinit {
        // Nobody hears of the end of what nobody has.
        if let session = session.valueOnLoop {
            session.onEnd = nil
            session.close(Self.closed(session))
        } else {
            loop.execute { [session] in
                session.value.onEnd = nil
                session.value.close(Self.closed(session.value))
            }
        }
    }

    /// Connects to the first address of the hosts where there is a server that writes; only on the loop.
    package static func connect(
        _ settings: PostgresSettings,
        _ library: PostgresLibrary,
        on loop: EventLoop,
        within: Duration
    ) async throws(PostgresError) -> PostgresConnection {
        let deadline = loop.currentTime() &+ within.saturatedNanoseconds
        var settings = settings
        var others = settings.others[...]
        while true {
            let now = loop.currentTime()
            let end = now &+ (deadline &- now) / Int64(others.count + 1)
            do throws(PostgresError) {
                return try await connect(settings, library, on: loop, until: end, within: within)
            } catch {
                guard let next = others.popFirst() else { throw error }
                (settings.host, settings.port) = next
            }
        }
    }

    /// The same with one host.
    private static func connect(
        _ settings: PostgresSettings,
        _ library: PostgresLibrary,
        on loop: EventLoop,
        until deadline: Int64,
        within: Duration
    ) async throws(PostgresError) -> PostgresConnection {
        let addresses = try await addresses(settings, library.resolver, on: loop, until: deadline, within)
        let password = settings.password()
        var failure = PostgresError(.unreachable, "\(settings.endpoint) has no address")
        for (index, address) in addresses.enumerated() {
            let now = loop.currentTime()
            // Each gets its part of the time that is left.
            let share = (deadline &- now) / Int64(addresses.count - index)
            do throws(PostgresError) {
                let session = try PostgresSession.begin(settings, address, password: password, on: loop)
                try await session.established(until: now &+ share, within: within)
                return PostgresConnection(session, on: loop)
            } catch {
                failure = error
                // Another address has the same users and databases.
                if let state = error.sqlState, state.utf8.starts(with: "28".utf8) || state == "3D000" {
                    break
                }
            }
        }
        throw failure
    }

    /// The addresses of the host; one that is nil where there is nothing to look up.
    private static func addresses(
        _ settings: PostgresSettings,
        _ resolver: NameResolver,
        on loop: EventLoop,
        until deadline: Int64,
        _ within: Duration
    ) async throws(PostgresError) -> [IPAddress?] {
        let host = PostgresHost(settings.host)
        switch host {
        case .directory: return [nil]
        case .address(let address): return [address]
        case .name(let name):
            switch await NameWait.lookUp(name, resolver, on: loop, until: deadline) {
            case .success(let found)?:
                // The name of the machine itself leads nowhere else.
                return host.isLocal ? found.filter(\.isLoopback) : found
            case .failure(let error)?:
                throw PostgresError(.unreachable, "cannot look up \(name): \(error)")
            case nil:
                throw PostgresError(
                    .timeout,
                    "\(name) was not looked up within \(DurationText.text(within))"
                )
            }
        }
    }

    /// Runs a batch as one pipeline with one Sync: one implicit transaction, unless the statements hold BEGIN and COMMIT.
    ///
    /// A batch is one transaction, whose COMMIT is its last statement if it has one. The first error ends the rest of it and
    /// rolls it back, a transaction block included, and says which statement it was. A connection that did not answer in
    /// time, broke, or leads to a server that does not write or stops is over, whatever comes after.
    @discardableResult
    package func run(
        _ statements: [PostgresStatement],
        within: Duration
    ) async throws(PostgresError) -> [PostgresResult] {
        guard !statements.isEmpty else { return [] }
        statementCount += UInt64(statements.count)
        let deadline = loop.currentTime() &+ within.saturatedNanoseconds
        let result = await withCheckedContinuation { continuation in
            let batch = Batch(statements, isPooled: session.value.isPooled) {
                continuation.resume(returning: $0)
            }
            session.value.start(batch, until: deadline, within: within)
        }
        return try result.get()
    }

    /// Statements that were sent, for whoever lends the connection to add up.
    package var statementCount: UInt64 {
        get { session.value.statementCount }
        set { session.value.statementCount = newValue }
    }

    package var isOver: Bool { session.value.end != nil }

    /// How many statements the server holds for this connection.
    package var preparedCount: Int { session.value.prepared.count }

    /// Called on the loop with each notification of a channel that was listened to.
    package var onNotification: ((_ channel: String, _ payload: String) -> Void)? {
        get { session.value.onNotification }
        set { session.value.onNotification = newValue }
    }

    /// Called on the loop with what the server says beside its answers.
    package var onNotice: ((PostgresNotice) -> Void)? {
        get { session.value.onNotice }
        set { session.value.onNotice = newValue }
    }

    /// Called on the loop once, when the connection is over for another reason than `close`.
    package var onEnd: ((PostgresError) -> Void)? {
        get { session.value.onEnd }
        set { session.value.onEnd = newValue }
    }

    /// Ends it; a batch under way fails as lost.
    package func close() {
        session.value.onEnd = nil
        session.value.close(Self.closed(session.value))
    }

    private static func closed(_ session: PostgresSession) -> PostgresError {
        PostgresError(.lost, "the connection to \(session.endpoint) was closed")
    }
}
