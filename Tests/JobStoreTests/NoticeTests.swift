import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

/// The endings of jobs that another route is told of, in every store.
@Suite("A notice comes with the ending that it tells of", .timeLimit(.minutes(5)))
struct NoticeTests {
    /// The ways in which a job ends.
    enum Ending: CaseIterable, Sendable {
        case success, death, settledCancel, cancel, expiry, newer
    }

    /// Tells all endings to another route, with what the notice was made of as its body.
    static let telling = {
        var maker = NoticeMaker()
        maker.wish = { _, _ in .notice(WholeJob.Extent(attempts: 10, hasBodies: true)) }
        maker.make = { whole in
            let job = whole.job
            let answer = whole.answer.map { "\($0.status.rawValue)" } ?? "none"
            let text =
                "\(job.state.name) \(whole.attempts.map(\.number)) \(answer) \(whole.body?.length ?? 0)"
            return NewJob(
                JobRecord(
                    id: job.record.id.notice(job.notices),
                    route: "outcomes",
                    method: .post,
                    target: "",
                    idempotencyKey: job.record.id.noticeKey(job.notices),
                    submitter: .ofNotices,
                    isNotice: true
                ),
                body: .bytes(Array(text.utf8))
            )
        }
        return maker
    }()

    private static func accept(_ bench: any StoreUnderTest, _ key: String? = nil) async throws -> JobID {
        try await bench.accept {
            $0.record.notifies = true
            $0.record.supersedeKey = key
            $0.expiresAfter = .seconds(60)
            $0.body = .bytes([1, 2, 3])
        }
    }

    private static func text(_ bench: any StoreUnderTest, _ id: JobID) async throws -> String? {
        guard case .bytes(let bytes)? = try await bench.store.body(of: id) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Each ending of a job writes one notice with it", arguments: StoreKind.all, Ending.allCases)
    func endings(kind: StoreKind, ending: Ending) async throws {
        let bench = try await kind.open()
        bench.news.makesNotices(by: Self.telling)
        // One of a key ends under that key's lock.
        let id = try await Self.accept(bench, [.newer, .death].contains(ending) ? "k" : nil)
        let text: String
        switch ending {
        case .success, .death, .settledCancel:
            let claim = try #require(try await bench.claim().first)
            let settled: Settlement.Ending =
                ending == .success ? .succeeded : ending == .death ? .dead(.exhausted) : .cancelled
            _ = try await bench.settle(claim, settled)
            text = "\(try await bench.job(id).state.name) [1]"
        case .cancel:
            _ = try await bench.apply(.cancel, id)
            text = "cancelled []"
        case .newer:
            _ = try await bench.accept { $0.record.supersedeKey = "k" }
            text = "cancelled []"
        case .expiry:
            try await bench.advance(by: 61_000)
            _ = try await bench.sweep()
            text = "expired []"
        }
        let job = try await bench.job(id)
        #expect(job.state.isTerminal && job.notices == 1 && !job.owesNotice)
        let notice = try await bench.job(id.notice(1))
        #expect(notice.record.isNotice && notice.record.route == "outcomes" && notice.state == .queued)
        #expect(notice.record.idempotencyKey == "\(id)" && !notice.record.notifies)
        #expect(try await Self.text(bench, notice.record.id)?.hasPrefix(text) == true)
        #expect(try await Self.text(bench, notice.record.id)?.hasSuffix(" 3") == true)
        try await bench.hear()
        #expect(bench.news.noticed.values.map(\.job) == [id])
        var counters = try await bench.store.counters(at: bench.now, withDue: false)
        #expect(counters.notices == 1)
        #expect(try await bench.store.facts().owedNotices == 0)
        let claim = try #require(try await bench.claim("outcomes").first)
        _ = try await bench.settle(claim, .dead(.exhausted))
        #expect(try await bench.job(notice.record.id).notices == 0)
        counters = try await bench.store.counters(at: bench.now, withDue: false)
        #expect(counters.notices == 0)
        _ = try await bench.apply(.retry, notice.record.id)
        if kind.capabilities.contains(.survives) { try await bench.reopen() }
        counters = try await bench.store.counters(at: bench.now, withDue: false)
        #expect(counters.notices == 1)
    }

    @Test("A notice that cannot be made is owed, over restarts, and made once", arguments: StoreKind.all)
    func owed(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await Self.accept(bench)
        let claim = try #require(try await bench.claim().first)
        #expect(try await bench.settle(claim, .dead(.rejected)) == .applied(.dead, .rejected))
        #expect(try await bench.job(id).owesNotice)
        _ = try await bench.sweep()
        #expect(try await bench.store.facts().owedNotices == 1)
        #expect(try await bench.store.job(id.notice(1)) == nil)
        if kind.capabilities.contains(.survives) { try await bench.reopen() }
        _ = try await bench.sweep()
        #expect(try await bench.store.facts().owedNotices == 1)
        bench.news.makesNotices(by: Self.telling)
        for _ in 0..<2 { _ = try await bench.sweep() }
        #expect(try await bench.store.facts().owedNotices == 0)
        #expect(try await bench.job(id.notice(1)).record.isNotice)
        #expect(try await bench.job(id).owesNotice == false)
        try await bench.hear()
        #expect(bench.news.noticed.values.map(\.notice.id) == [id.notice(1)])
    }

    @Test(
        "An ending after a retry has a notice of its own; one that is owed is owed no more",
        arguments: StoreKind.all
    )
    func retried(kind: StoreKind) async throws {
        let bench = try await kind.open()
        bench.news.makesNotices(by: Self.telling)
        let id = try await Self.accept(bench)
        _ = try await bench.settle(try #require(try await bench.claim().first), .dead(.exhausted))
        _ = try await bench.apply(.retry, id)
        #expect(try await bench.job(id).notices == 1)
        bench.news.makesNotices(by: NoticeMaker())
        _ = try await bench.settle(try #require(try await bench.claim().first), .dead(.exhausted))
        #expect(try await bench.job(id).owesNotice)
        _ = try await bench.apply(.retry, id)
        let running = try await bench.job(id)
        #expect(running.notices == 1 && !running.owesNotice)
        _ = try await bench.sweep()
        #expect(try await bench.store.facts().owedNotices == 0)
        bench.news.makesNotices(by: Self.telling)
        _ = try await bench.settle(try #require(try await bench.claim().first), .succeeded)
        #expect(try await bench.job(id).notices == 2)
        let second = try await bench.job(id.notice(2))
        #expect(second.record.idempotencyKey == "\(id)-2" && id.notice(2) != id.notice(1))
        try await bench.hear()
        #expect(bench.news.noticed.values.map(\.notice.id) == [id.notice(1), id.notice(2)])
    }

    @Test("An ending of which nobody is to be told has no notice", arguments: StoreKind.all)
    func waived(kind: StoreKind) async throws {
        let bench = try await kind.open()
        var maker = NoticeMaker()
        maker.wish = { _, state in state == .dead ? .owed : .nothing }
        bench.news.makesNotices(by: maker)
        let id = try await Self.accept(bench)
        _ = try await bench.settle(try #require(try await bench.claim().first), .succeeded)
        let job = try await bench.job(id)
        #expect(job.notices == 0 && !job.owesNotice)
        #expect(try await bench.store.facts().owedNotices == 0)
    }

    @Test("A job that is removed while it owes its notice leaves no debt", arguments: StoreKind.all)
    func removed(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await Self.accept(bench)
        _ = try await bench.settle(try #require(try await bench.claim().first), .dead(.exhausted))
        _ = try await bench.apply(.drop, id)
        _ = try await bench.sweep()
        #expect(try await bench.store.facts().owedNotices == 0)
    }

    @Test("A crash that ends a job has it told at the next start", arguments: StoreKind.all(.survives))
    func crashed(kind: StoreKind) async throws {
        let bench = try await kind.open()
        bench.news.makesNotices(by: Self.telling)
        let id = try await bench.accept {
            $0.record.notifies = true
            $0.record.mayRepeat = false
        }
        #expect(try await bench.claim().count == 1)
        try await bench.reopen()
        _ = try await bench.sweep()
        #expect(try await bench.job(id).end == .outcomeUnknown)
        #expect(try await Self.text(bench, id.notice(1))?.hasPrefix("dead [1]") == true)
    }
}
