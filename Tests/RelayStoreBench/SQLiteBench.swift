package import RelayBase
package import RelayJobs
package import RelayTestSupport

@testable package import RelayStore

/// A store on disk, in a folder of its own.
package final class SQLiteBench: StoreUnderTest {
    package let scratch = TemporaryFolder()
    package private(set) var store: any JobStore
    package var now = JobMoment.ofTests
    package let news = StoreNews()
    package var lastID: UInt64 = 1
    private let options: StoreOptions

    package init(
        orderingKeysInMemory: Int = 32_768,
        eraseDelay: Duration = .seconds(5),
        fault: StoreFault? = nil
    ) async throws {
        var options = StoreOptions(directory: scratch.path)
        options.events = news.events
        options.ballast = 1 << 20
        options.eraseDelay = eraseDelay
        options.readTimeout = .seconds(60)
        options.orderingKeysInMemory = orderingKeysInMemory
        options.fault = fault
        self.options = options
        store = try await SQLiteJobStore.open(options, at: now)
    }

    package func reopen(after milliseconds: Int64) async throws {
        await store.close()
        restartClocks(after: milliseconds)
        store = try await reopened()
    }

    /// A child of this process holds the lock's file, too, until its own program has begun.
    private func reopened() async throws(StoreError) -> SQLiteJobStore {
        for _ in 0..<1_000 {
            do throws(StoreError) { return try await SQLiteJobStore.open(options, at: now) } catch {
                guard error.code == .locked else { throw error }
            }
        }
        return try await SQLiteJobStore.open(options, at: now)
    }

    /// Makes the rows that others have of plain jobs, of all or of one.
    package func rearrange(_ id: JobID?) async throws {
        guard let store = store as? SQLiteJobStore else { return }
        try await store.write(.other, weight: 1) { writer throws(StoreError) in
            guard let id else {
                let all = try writer.database.statement("SELECT seq FROM plain ORDER BY seq").numbers()
                for seq in all { try writer.unfold(seq) }
                return
            }
            if let seq = try writer.seq(of: id) { try writer.unfold(seq) }
        }
    }

    /// A body with which a job is not kept in memory until its claim.
    package static let unremembered = String(repeating: "b", count: 4_096)
}
