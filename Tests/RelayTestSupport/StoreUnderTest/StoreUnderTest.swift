package import RelayBase
package import RelayJobs

/// One store with a clock that the test moves, whatever kind it is.
package protocol StoreUnderTest: AnyObject {
    /// Another one after each reopening.
    var store: any JobStore { get }
    /// The present: what the test tells the store with each call, and what a clock of the store's own shows.
    var now: JobMoment { get set }
    /// All that the store has told without being asked, over its reopenings.
    var news: StoreNews { get }
    /// The number of the last id that was given.
    var lastID: UInt64 { get set }
    /// The shortest time that tells before from after, in milliseconds: one where no time passes by itself.
    var tick: Int64 { get }

    func advance(by milliseconds: Int64) async throws

    /// Lets the process end without warning and the next one begin so much later; what was running has been through a
    /// crash.
    func reopen(after milliseconds: Int64) async throws

    /// Keeps a job, or all of them, in another form of the store's, which nobody is to notice.
    func rearrange(_ id: JobID?) async throws

    /// Returns when all that the store tells of earlier calls has been told.
    func hear() async throws
}

extension StoreUnderTest {
    package var tick: Int64 { 1 }

    package func advance(by milliseconds: Int64) async throws {
        now.wall += milliseconds
        now.steady += milliseconds
    }

    /// Somebody sets the clock.
    package func stepWall(by milliseconds: Int64) { now.wall += milliseconds }

    /// The clocks of the next process, after another boot: the steady one starts anew.
    package func restartClocks(after milliseconds: Int64) {
        now = JobMoment(wall: now.wall + milliseconds, steady: 1_000)
    }

    package func reopen() async throws { try await reopen(after: 1_000) }

    package func rearrange(_ id: JobID?) async throws {}

    package func rearrange() async throws { try await rearrange(nil) }

    /// The news that comes with an answer is told behind it, and before the next answer.
    package func hear() async throws { _ = try await store.settle([], at: now) }

    /// Whether it is that time on the store's clock, as closely as this can be told.
    package func isAt(_ time: Int64?, _ wanted: Int64) -> Bool {
        guard let time else { return false }
        return time >= wanted - tick + 1 && time <= wanted + tick - 1
    }
}

extension JobMoment {
    /// The present in which tests begin.
    package static let ofTests = JobMoment(wall: 1_800_000_000_000, steady: 5_000)
}
