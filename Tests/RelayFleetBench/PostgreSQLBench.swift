package import PostgresTestSupport
import RelayFleet
package import RelayJobs
import RelayPosix
import RelayPostgres
package import RelayTestSupport
import Synchronization

/// A node on a schema of its own, in the server that tests share, by a clock that the test moves.
package final class PostgreSQLBench: StoreUnderTest {
    package var store: any JobStore { node }
    private(set) var node: PostgreSQLJobStore
    package var now = JobMoment.ofTests
    package let news = StoreNews()
    package var lastID: UInt64 = 1
    package let schema: String
    package let server: PostgresServer
    private let library: PostgresLibrary
    private let options: FleetOptions
    private let clock: DatabaseClock

    private static let places = TaskSemaphore(8)
    private static let names = Atomic<Int>(0)

    /// Few slots: the tables of each are made for each test.
    private static let slots = {
        var slots = FleetSchema.Slots()
        (slots.job, slots.ready, slots.tally) = (3, 2, 2)
        return slots
    }()

    /// With connections of its own, or with those that a pooler in transaction mode lends.
    package init(pooled: Bool = false) async throws {
        await Self.places.wait()
        do {
            server = try await PostgresServer.shared()
            library = try PostgresLibrary.open()
            schema = "bench_\(Self.names.add(1, ordering: .relaxed).newValue)"
            let settings = server.settings(schema: schema)
            let (library, slots) = (library, Self.slots)
            try await onLoop { loop in try await FleetMigration(settings, slots: slots).run(library, on: loop)
            }
            clock = try await DatabaseClock(settings, library, at: JobMoment.ofTests.wall)
            var options = FleetOptions(
                database: pooled ? try await PgBouncer.shared().settings(schema: schema) : settings,
                node: "one",
                identity: "i",
                machine: "here",
                version: "test",
                clock: { SystemClock.monotonic() }
            )
            options.connections = 3
            options.slots = slots
            options.wakesByItself = false
            options.databaseClock = clock.expression
            options.present = { [clock] in clock.time }
            self.options = options
            node = try await Self.open(options, library, news.events)
        } catch {
            Self.places.signal()
            throw error
        }
    }

    deinit { Self.end(node, clock, Self.places) }

    private static func end(_ node: PostgreSQLJobStore, _ clock: DatabaseClock, _ places: TaskSemaphore) {
        Task.detached {
            await node.close()
            await clock.end()
            places.signal()
        }
    }

    private static func open(
        _ options: FleetOptions,
        _ library: PostgresLibrary,
        _ events: JobStoreEvents
    ) async throws -> PostgreSQLJobStore {
        let store = try PostgreSQLJobStore.start(options, library, events: events)
        if let refusal = await store.opened(within: .seconds(30)) { throw refusal }
        return store
    }

    package func advance(by milliseconds: Int64) async throws {
        now.wall += milliseconds
        now.steady += milliseconds
        try await clock.set(now.wall)
    }

    package func reopen(after milliseconds: Int64) async throws {
        await node.close()
        restartClocks(after: milliseconds)
        try await clock.set(now.wall)
        node = try await Self.open(options, library, news.events)
    }

    package func hear() async throws { await node.drained() }
}
