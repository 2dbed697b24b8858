import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("An operator acts on jobs, one or thousands", .timeLimit(.minutes(5)))
struct ActionTests {
    @Test("Each action does what is legal in a state and nothing else", arguments: StoreKind.all)
    func table(kind: StoreKind) async throws {
        let legal: [JobState: Set<JobAction>] = [
            .scheduled: [.retry, .cancel, .hold, .drop], .queued: [.cancel, .hold, .drop],
            .running: [.cancel],
            .retrying: [.retry, .cancel, .hold, .drop], .held: [.retry, .cancel, .release, .drop],
            .succeeded: [.drop, .expunge], .dead: [.retry, .drop, .expunge],
            .cancelled: [.retry, .drop, .expunge],
            .expired: [.retry, .drop, .expunge],
        ]
        let bench = try await kind.open()
        for state in JobState.allCases {
            for action in JobAction.allCases {
                let id = try await make(bench, state)
                let before = try await bench.job(id)
                #expect(before.state == state)
                var dry = ActionOrder(action, JobFilter(ids: [id]), limit: 9, by: .user(9, isBulk: false))
                dry.isDryRun = true
                let counted = try await bench.store.apply(dry, at: bench.now)
                let report = try await bench.apply(action, id, by: 9)
                #expect(
                    counted.wouldChange == report.changed && counted.changes.isEmpty && counted.matched == 1,
                    "\(action) in \(state)"
                )
                let isLegal = legal[state]?.contains(action) == true
                let after = try await bench.store.job(id) ?? before
                let told = isLegal ? [text(after, .action(action, by: 9))] : []
                #expect(
                    report.matched == 1 && report.changes.map(\.text) == told,
                    "\(action) in \(state)"
                )
                #expect(
                    report.changes.allSatisfy { $0.isRevived == (state.isTerminal && action == .retry) },
                    "\(action) in \(state)"
                )
                if !isLegal { #expect(try await bench.job(id).version == before.version) }
                if action == .drop, isLegal { #expect(try await bench.store.job(id) == nil) }
                for claim in try await bench.claim("r") { try await bench.settle(claim, .succeeded) }
            }
        }
    }

    private func text(_ job: StoredJob, _ cause: JobChange.Cause) -> String {
        JobChange(
            id: job.record.id,
            route: job.record.route,
            user: job.record.submitter?.user,
            state: job.state,
            reason: job.reason,
            end: job.end,
            attemptCount: job.attempts,
            cause: cause
        ).text
    }

    @Test("A job that the end of a pause lets go is told as such", arguments: StoreKind.all)
    func pause(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await make(bench, .held)
        let report = try await bench.apply(.release, JobFilter(ids: [id]), by: .pause)
        #expect(report.changes.map(\.text) == [text(try await bench.job(id), .pause)])
    }

    private func make(_ bench: any StoreUnderTest, _ state: JobState) async throws -> JobID {
        for claim in try await bench.claim("r") { try await bench.settle(claim, .succeeded) }
        let id = try await bench.accept("r") {
            if state == .scheduled { $0.due = .after(.seconds(99_999)) }
            if state == .expired { $0.expiresAfter = .seconds(1) }
        }
        switch state {
        case .scheduled, .queued: break
        case .running: _ = try await bench.claim("r")
        case .retrying:
            try await bench.settle(try await bench.claim("r")[0], .retry(after: .seconds(99_999), .backoff))
        case .held: try await bench.apply(.hold, id)
        case .succeeded: try await bench.settle(try await bench.claim("r")[0], .succeeded)
        case .dead: try await bench.settle(try await bench.claim("r")[0], .dead(.exhausted))
        case .cancelled: try await bench.apply(.cancel, id)
        case .expired:
            try await bench.advance(by: 1_000)
            _ = try await bench.store.sweep(Retention(), limit: 100, at: bench.now)
        }
        return id
    }

    @Test(
        "A running job that is cancelled ends when its holder gives it back, or at the next start",
        arguments: StoreKind.all(.survives),
        [false, true]
    )
    func cancelRunning(kind: StoreKind, crashes: Bool) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        let claim = try await bench.claim()[0]
        #expect(try await bench.apply(.cancel, id).asked == [id])
        #expect(try await bench.apply(.cancel, id).changed == 0)
        #expect(try await bench.job(id).isCancelAsked)
        if crashes {
            try await bench.reopen()
        } else {
            #expect(
                try await bench.settle(claim, .retry(after: .seconds(1), .backoff))
                    == .applied(.cancelled, .cancelled)
            )
        }
        #expect(try await bench.state(id) == .cancelled)
        #expect(try await bench.claim().isEmpty)
    }

    @Test("A bulk action goes as far as its limit and on from there", arguments: StoreKind.all)
    func bulk(kind: StoreKind) async throws {
        let bench = try await kind.open()
        for index in 0..<25 {
            try await bench.accept(index % 5 == 0 ? "other" : "hooks")
        }
        for route in ["hooks", "other"] {
            for claim in try await bench.claim(route) { try await bench.settle(claim, .dead(.exhausted)) }
        }
        var filter = JobFilter()
        filter.route = "hooks"
        filter.states = [.dead]
        let dry = try await bench.store.apply(
            .retry,
            to: filter,
            limit: 100,
            dryRun: true,
            at: bench.now
        )
        #expect(dry.matched == 20 && dry.changed == 0)
        #expect(try await bench.counts() == [.dead: 25])
        var changed: [Int] = []
        var cursor: JobCursor?
        repeat {
            let report = try await bench.store.apply(
                .retry,
                to: filter,
                limit: 8,
                after: cursor,
                at: bench.now
            )
            changed.append(report.changed)
            cursor = report.next
        } while cursor != nil
        #expect(changed.reduce(0, +) == 20 && changed.max() == 8)
        #expect(try await bench.counts() == [.dead: 5, .queued: 20])
        #expect(try await bench.claim().allSatisfy { $0.job.spentAttempts == 0 && $0.job.attempts == 1 })
    }

    @Test("Jobs that a paused route put aside are released by that reason", arguments: StoreKind.all)
    func releaseByReason(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let paused = try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .held(.routePaused), attempts: 0)
        let byHand = try await bench.accept()
        try await bench.apply(.hold, byHand)
        var filter = JobFilter()
        filter.reason = .routePaused
        #expect(try await bench.apply(.release, filter).changed == 1)
        #expect(try await bench.claim().map(\.token.id) == [paused])
        #expect(try await bench.job(paused).attempts == 0)
    }

    @Test("An expunged job keeps its record and loses its bodies", arguments: StoreKind.all(.survives))
    func expunge(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept(body: "secret")
        let answer = StoredAnswer(status: 422, fields: HeaderFields(), body: .bytes([9]))
        try await bench.settle(try await bench.claim()[0], .dead(.rejected), answer: answer)
        try await bench.apply(.expunge, id)
        for _ in 0..<2 {
            let job = try await bench.job(id)
            #expect(!job.hasBody && job.bodyLength == 6 && job.record.target == "orders/7")
            #expect(try await bench.store.body(of: id) == .expunged)
            #expect(try await bench.store.answer(of: id)?.body == .expunged)
            #expect(try await bench.store.attempts(of: id, after: 0, limit: 5).count == 1)
            try await bench.reopen()
        }
        let report = try await bench.apply(.retry, id)
        #expect(report.matched == 1 && report.expunged == 1 && report.changes.isEmpty)
    }
}
