import RelayBase
import RelayPosix
import RelayPostgres

/// The connections of a node, up to a number; confined to its loop.
final class FleetPool {
    private let loop: EventLoop
    private let library: PostgresLibrary
    private let settings: PostgresSettings
    private let limit: Int
    private let statementTimeout: Duration
    private var idle: [PostgresConnection] = []
    /// Connections that are idle, in use or being made.
    private(set) var count = 0
    /// Statements that were sent.
    private(set) var statementCount: UInt64 = 0
    private var waiting: [Waiter] = []
    /// How often a connection was lent, and one was made.
    private(set) var lent: UInt64 = 0
    private(set) var connects: UInt64 = 0
    private var isClosed = false
    /// When a connection may be tried again, in monotonic nanoseconds; the wait doubles with each failure.
    private var retryAt: Int64 = 0
    private var failures = 0
    private var random = FastRandom()
    /// The words for why there is no connection; nil while there may be one.
    private(set) var trouble: StoreError? {
        didSet { if oldValue == nil, trouble != nil { troubled() } }
    }
    /// Called when there is no connection any more.
    var troubled: () -> Void = {}
    /// Called when there is a connection again after a failure.
    var recovered: () -> Void = {}

    private static let longestWait: Int64 = 1_000_000_000

    init(
        _ settings: PostgresSettings,
        _ library: PostgresLibrary,
        limit: Int,
        statementTimeout: Duration,
        on loop: EventLoop
    ) {
        self.settings = settings
        self.library = library
        self.limit = max(1, limit)
        self.statementTimeout = statementTimeout
        self.loop = loop
    }

    /// Lends a connection; one that is over after that is let go.
    func use<Value>(
        _ call: String,
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(StoreError) -> Value {
        do throws(PostgresError) { return try await borrow(call, body) } catch {
            throw StoreError(call, error)
        }
    }

    /// The same for a caller that looks at the error itself.
    func borrow<Value>(
        _ call: String,
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(PostgresError) -> Value {
        let connection = try await take()
        lent += 1
        defer { giveBack(connection) }
        return try await body(connection)
    }

    private func take() async throws(PostgresError) -> PostgresConnection {
        let end = loop.currentTime() + statementTimeout.saturatedNanoseconds
        while true {
            while let connection = idle.popLast() {
                if !connection.isOver { return connection }
                count -= 1
            }
            guard !isClosed else { throw PostgresError(.lost, "the store is closed") }
            if count < limit { return try await connect() }
            guard await isFree(by: end) else {
                let time = DurationText.text(statementTimeout)
                var error = PostgresError(.timeout, "no connection to it was free within \(time)")
                error.endsConnection = false
                throw error
            }
        }
    }

    /// Waits until a connection may be free.
    private func isFree(by end: Int64) async -> Bool {
        await withCheckedContinuation { continuation in
            let waiter = Waiter(continuation)
            waiter.timer.action = { [unowned self, unowned waiter] in
                waiter.continuation.resume(returning: false)
                waiting.removeAll { $0 === waiter }
            }
            loop.schedule(waiter.timer, at: end)
            waiting.append(waiter)
        }
    }

    private final class Waiter {
        let continuation: CheckedContinuation<Bool, Never>
        let timer = LoopTimer {}

        init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = continuation }
    }

    private func connect() async throws(PostgresError) -> PostgresConnection {
        guard loop.currentTime() >= retryAt else {
            wakeOne()
            throw PostgresError(.unreachable, trouble?.message ?? "the database cannot be reached")
        }
        count += 1
        do throws(PostgresError) {
            let connection = try await PostgresConnection.connect(
                settings,
                library,
                on: loop,
                within: statementTimeout
            )
            connects += 1
            let wasAway = failures > 0
            (failures, trouble, retryAt) = (0, nil, 0)
            if wasAway { recovered() }
            return connection
        } catch {
            count -= 1
            failures += 1
            trouble = StoreError("reach it", error)
            let wait = min(Self.longestWait, 10_000_000 << Int64(min(failures, 7)))
            retryAt = loop.currentTime() + wait / 2 + Int64.random(in: 0...wait / 2, using: &random)
            wakeOne()
            throw error
        }
    }

    /// Makes a connection that is not lent, by that way or the usual one.
    func connectAside(_ way: PostgresSettings?) async throws(PostgresError) -> PostgresConnection {
        try await PostgresConnection.connect(
            way ?? settings,
            library,
            on: loop,
            within: statementTimeout
        )
    }

    private func giveBack(_ connection: PostgresConnection) {
        statementCount += connection.statementCount
        connection.statementCount = 0
        if connection.isOver || isClosed {
            connection.close()
            count -= 1
            // The others lead to the same server, which may have become a standby or be gone.
            count -= idle.count
            for connection in idle { connection.close() }
            idle = []
        } else {
            idle.append(connection)
        }
        wakeOne()
    }

    private func wakeOne() {
        if !waiting.isEmpty { go(waiting.removeFirst()) }
    }

    private func go(_ waiter: Waiter) {
        loop.cancel(waiter.timer)
        waiter.continuation.resume(returning: true)
    }

    func close() {
        isClosed = true
        for connection in idle { connection.close() }
        count -= idle.count
        idle = []
        for waiter in waiting { go(waiter) }
        waiting = []
    }
}
