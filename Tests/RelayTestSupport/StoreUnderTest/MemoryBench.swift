package import RelayJobs

/// A store in memory, which the next process finds as after a crash.
package final class MemoryBench: StoreUnderTest {
    package private(set) var store: any JobStore
    package var now = JobMoment.ofTests
    package let news = StoreNews()
    package var lastID: UInt64 = 1

    package init() { store = MemoryJobStore(at: now, events: news.events) }

    package func reopen(after milliseconds: Int64) async throws {
        await store.close()
        restartClocks(after: milliseconds)
        if let memory = store as? MemoryJobStore { store = MemoryJobStore(afterCrashOf: memory, at: now) }
    }
}
