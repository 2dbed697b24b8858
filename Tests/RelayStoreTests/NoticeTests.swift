import Glibc
import RelayBase
import RelayJobs
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A notice and its ending are one transaction", .timeLimit(.minutes(2)))
struct NoticeTests {
    private static func bench(_ fault: StoreFault? = nil) async throws -> (SQLiteBench, JobID) {
        let bench = try await SQLiteBench(fault: fault)
        var maker = NoticeMaker()
        maker.wish = { _, _ in .notice(WholeJob.Extent(attempts: 1, hasBodies: false)) }
        maker.make = { whole in
            let id = whole.job.record.id
            return NewJob(
                JobRecord(id: id.notice(1), route: "outcomes", method: .post, target: "", isNotice: true)
            )
        }
        bench.news.makesNotices(by: maker)
        return (bench, try await bench.accept { $0.record.notifies = true })
    }

    @Test("A notice that cannot be written leaves the job as it was")
    func neither() async throws {
        let (bench, id) = try await Self.bench()
        let claim = try #require(try await bench.claim().first)
        let store = try #require(bench.store as? SQLiteJobStore)
        try await store.write(.other, weight: 1) { writer throws(StoreError) in
            try writer.database.execute(
                """
                CREATE TRIGGER refusal BEFORE INSERT ON job WHEN NEW.route <> 1
                BEGIN SELECT RAISE(ABORT, 'no notice'); END
                """
            )
        }
        await #expect(throws: StoreError.self) { try await bench.settle(claim, .succeeded) }
        try await bench.reopen()
        let job = try await bench.job(id)
        #expect(job.state == .retrying && job.notices == 0)
        #expect(try await bench.store.job(id.notice(1)) == nil)
    }

    @Test("A crash after the ending finds the notice, and misses one that was to be written later")
    func control() async throws {
        for fault in [nil, StoreFault.tellsLater] {
            let (bench, id) = try await Self.bench(fault)
            _ = try await bench.settle(try #require(try await bench.claim().first), .succeeded)
            try await bench.reopen()
            _ = try await bench.sweep()
            #expect(try await bench.job(id).state == .succeeded)
            #expect((try await bench.store.job(id.notice(1)) == nil) == (fault != nil))
        }
    }

    @Test("A store without room keeps the ending, and the notice once there is room")
    func room() async throws {
        let (bench, id) = try await Self.bench()
        let claim = try #require(try await bench.claim().first)
        let store = try #require(bench.store as? SQLiteJobStore)
        store.setMaxSize(1)
        #expect(try await bench.settle(claim, .succeeded) == .applied(.succeeded))
        #expect(try await bench.job(id).owesNotice)
        #expect(try await store.facts().owedNotices == 1)
        store.setMaxSize(1 << 30)
        for _ in 0..<2 { _ = try await bench.sweep() }
        #expect(try await store.facts().owedNotices == 0)
        #expect(try await bench.job(id.notice(1)).record.isNotice)
    }

    @Test("A damaged record of an attempt leaves the notice of the ending without attempts")
    func damagedAttempt() async throws {
        for isDamaged in [false, true] {
            let (bench, id) = try await Self.bench()
            Self.tell(bench) { .bytes([UInt8($0.attempts.count)]) }
            let first = try #require(try await bench.claim().first)
            _ = try await bench.settle(first, .retry(after: .zero, .backoff))
            let store = try #require(bench.store as? SQLiteJobStore)
            try await store.write(.other, weight: 1) { writer throws(StoreError) in
                if isDamaged { try writer.database.execute("UPDATE attempt SET record = x'00' || record") }
            }
            let second = try #require(try await bench.claim().first)
            #expect(try await bench.settle(second, .succeeded) == .applied(.succeeded))
            let notice = try #require(try await bench.store.body(of: id.notice(1)))
            #expect(notice == .bytes([isDamaged ? 0 : 2]))
            #expect(try await store.facts().owedNotices == 0)
        }
    }

    @Test("A transaction makes notices up to its bytes, and owes the rest")
    func bytes() async throws {
        let (bench, first) = try await Self.bench()
        var ids = [first]
        for _ in 0..<3 { ids.append(try await bench.accept { $0.record.notifies = true }) }
        Self.tell(bench) { _ in .bytes([UInt8](repeating: 1, count: 6 << 20)) }
        // The one that goes beyond the 16 MiB is still made.
        #expect(try await bench.apply(.cancel, JobFilter()).changes.count == 4)
        #expect(try await bench.store.facts().owedNotices == 1)
        _ = try await bench.sweep()
        #expect(try await bench.store.facts().owedNotices == 0)
        for id in ids { #expect(try await bench.job(id.notice(1)).record.isNotice) }
    }

    /// Each notice has its body from the job.
    private static func tell(_ bench: SQLiteBench, _ body: @escaping @Sendable (WholeJob) -> StoredBody) {
        var maker = NoticeMaker()
        maker.wish = { _, _ in .notice(WholeJob.Extent(attempts: 10, hasBodies: false)) }
        maker.make = { whole in
            let id = whole.job.record.id.notice(1)
            let record = JobRecord(id: id, route: "outcomes", method: .post, target: "", isNotice: true)
            return NewJob(record, body: body(whole))
        }
        bench.news.makesNotices(by: maker)
    }

    @Test("A start without room ends jobs, and owes their notices", .enabled(if: geteuid() == 0))
    func fullStart() async throws {
        let disk = SmallDisk(megabytes: 12)
        guard disk.isMounted else { return }
        let now = JobMoment(wall: 1_800_000_000_000, steady: 1_000)
        var options = StoreOptions(directory: disk.path)
        options.ballast = 1 << 20
        options.spaceInterval = .milliseconds(1)
        options.events.notices.wish = { _, _ in .notice(WholeJob.Extent(attempts: 1, hasBodies: false)) }
        options.events.notices.make = { whole in
            let id = whole.job.record.id.notice(1)
            let record = JobRecord(id: id, route: "outcomes", method: .post, target: "", isNotice: true)
            return NewJob(record, body: .bytes([UInt8](repeating: 1, count: 100_000)))
        }
        let jobs = (1...20 as ClosedRange<UInt64>).map { number in
            let id = JobID(milliseconds: now.wall, random: (0, number))
            return NewJob(
                JobRecord(id: id, route: "r", method: .post, target: "t", mayRepeat: false, notifies: true)
            )
        }
        let store = try await SQLiteJobStore.open(options, at: now)
        _ = try await store.enqueue(jobs, at: now)
        #expect(try await store.claim("r", limit: 20, at: now).claims.count == 20)
        await store.close()
        // More than the ballast has room for.
        disk.fill()
        let full = try await SQLiteJobStore.open(options, at: now)
        #expect(try await full.job(jobs[0].record.id)?.end == .outcomeUnknown)
        #expect(try await full.facts().owedNotices == 20)
        disk.clear()
        for _ in 0..<100 where try await full.facts().owedNotices > 0 {
            _ = try await full.sweep(Retention(), limit: 100, at: now)
        }
        #expect(try await full.facts().owedNotices == 0)
        #expect(try await full.job(jobs[0].record.id.notice(1))?.record.isNotice == true)
        await full.close()
    }
}
