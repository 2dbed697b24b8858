import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("Jobs that may have been carried out are left alone by a bulk retry", .timeLimit(.minutes(5)))
struct DoubtTests {
    /// How a job comes to rest after an attempt that nobody may repeat.
    enum Rest: CaseIterable, Sendable {
        case unknown, notRepeatable, held, cancelled, superseded, expired, crashed, crashedWhileCancelled
        case retriedAndRefused, retriedAndCancelled
    }

    private func rest(_ rest: Rest, _ bench: any StoreUnderTest) async throws -> JobID {
        let id = try await bench.accept {
            $0.record.mayRepeat = false
            if rest == .expired { $0.expiresAfter = .seconds(10) }
            if rest == .superseded { $0.record.supersedeKey = "s" }
        }
        let claim = try await bench.claim()[0]
        switch rest {
        case .unknown: try await settle(bench, claim, .dead(.outcomeUnknown))
        case .notRepeatable: try await settle(bench, claim, .dead(.notRepeatable))
        case .held: try await settle(bench, claim, .held(.operatorHold))
        case .cancelled: try await settle(bench, claim, .cancelled)
        case .superseded:
            let newer = try await bench.accept { $0.record.supersedeKey = "s" }
            try await settle(bench, claim, .retry(after: .zero, .backoff))
            try await bench.apply(.drop, newer)
        case .expired:
            try await settle(bench, claim, .held(.operatorHold))
            try await bench.advance(by: 10_000)
            _ = try await bench.store.sweep(Retention(), limit: 100, at: bench.now)
        case .crashed: try await bench.reopen()
        case .crashedWhileCancelled:
            try await bench.apply(.cancel, id)
            try await bench.reopen()
        case .retriedAndRefused, .retriedAndCancelled:
            try await settle(bench, claim, .dead(.outcomeUnknown))
            try await bench.apply(.retry, id)
            if rest == .retriedAndCancelled {
                try await bench.apply(.cancel, id)
            } else {
                try await settle(bench, try await bench.claim()[0], .dead(.exhausted), leavesDoubt: false)
            }
        }
        return id
    }

    private func settle(
        _ bench: any StoreUnderTest,
        _ claim: Claim,
        _ ending: Settlement.Ending,
        leavesDoubt: Bool = true
    ) async throws {
        let sent: Sent = leavesDoubt ? .unknown : .refused
        var attempt = Attempt(number: 1, upstream: "eu", beganAt: 1)
        attempt.failure = Failure(.httpStatus, sent: sent, "no")
        var settlement = Settlement(claim.token, ending, attempts: [attempt])
        settlement.isUncertain = leavesDoubt
        _ = try await bench.store.settle([settlement], at: bench.now)
    }

    @Test("However they ended, unless it is told to", arguments: StoreKind.all(.survives), Rest.allCases)
    func spared(kind: StoreKind, how: Rest) async throws {
        let bench = try await kind.open()
        let id = try await rest(how, bench)
        try await bench.reopen()
        let before = try await bench.job(id)
        #expect(before.isInDoubt && (before.state.isTerminal || before.state == .held))
        var filter = JobFilter()
        filter.sparesUncertain = true
        let counted = try await bench.store.apply(
            .retry,
            to: filter,
            limit: 100,
            dryRun: true,
            at: bench.now
        )
        let report = try await bench.apply(.retry, filter)
        for report in [counted, report] { #expect(report.matched == 1 && report.spared == 1) }
        #expect(report.changed == 0)
        #expect(try await bench.job(id).version == before.version)
        filter.sparesUncertain = false
        #expect(try await bench.apply(.retry, filter).changed == 1)
    }

    @Test("Success ends it, and so nothing is left of it", arguments: StoreKind.all)
    func success(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await rest(.unknown, bench)
        try await bench.apply(.retry, id)
        #expect(try await bench.job(id).isInDoubt)
        try await bench.settle(try await bench.claim()[0], .succeeded)
        #expect(try await !bench.job(id).isInDoubt)
    }

    @Test("A job that was never sent, or may be repeated, is retried", arguments: StoreKind.all(.survives))
    func others(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let held = try await bench.accept { $0.record.mayRepeat = false }
        try await bench.apply(.hold, held)
        let crashed = try await bench.accept()
        _ = try await bench.claim()
        try await bench.apply(.cancel, crashed)
        try await bench.reopen()
        #expect(try await bench.job(crashed).state == .cancelled)
        var filter = JobFilter()
        filter.sparesUncertain = true
        let report = try await bench.apply(.retry, filter)
        #expect(report.changed == 2 && report.spared == 0)
    }
}
