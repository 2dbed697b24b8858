import RelayBase
import RelayJobs
import RelayTestSupport
import Testing

@Suite("An attempt on record", .timeLimit(.minutes(5)))
struct AttemptRecordTests {
    @Test("An attempt comes back with all that its document tells", arguments: StoreKind.all(.survives))
    func whole(kind: StoreKind) async throws {
        let bench = try await kind.open()
        let id = try await bench.accept()
        var exchange = Exchange(address: "192.0.2.1:443")
        exchange.nameLookup = .milliseconds(1)
        exchange.connect = .milliseconds(2)
        exchange.firstByte = .milliseconds(3)
        exchange.wasResent = true
        var failed = Attempt(number: 1, upstream: "eu", beganAt: 7, duration: .milliseconds(9))
        failed.status = 503
        failed.exchange = exchange
        failed.failure = Failure(.apiError, sent: .refused, "sold out", status: 503)
        failed.failure?.apiCode = "sold_out"
        failed.failure?.apiTitle = "None left"
        failed.failure?.isPastDeadline = true
        failed.rule = "other"
        let nexts: [Attempt.Next] = [
            .retry(after: .seconds(5)), .refreshCredentials, .failover(to: "us"), .respond(.stale),
            .quickRecovery, .verify(after: .seconds(2)), .follow(after: .seconds(3), at: "/a?b#"),
            .follow(after: .seconds(4), at: nil), .fail, .deadLetter, .pauseRoute, .hold,
        ]
        let attempts = nexts.map { next in
            var attempt = failed
            attempt.next = next
            return attempt
        }
        let token = try await bench.claim()[0].token
        _ = try await bench.store.settle(
            [Settlement(token, .retry(after: .zero, .backoff), attempts: attempts)],
            at: bench.now
        )
        try await bench.reopen()
        let found = try await bench.store.attempts(of: id, after: 0, limit: 20)
        #expect(found.map(\.next) == nexts)
        let first = try #require(found.first)
        #expect(first.upstream == "eu" && first.beganAt == 7 && first.duration == .milliseconds(9))
        #expect(first.status == 503 && first.rule == "other" && first.sent == .refused && first.isSpent)
        #expect(first.failure?.kind == .apiError && first.failure?.detail == "sold out")
        #expect(first.failure?.status == 503 && first.failure?.isPastDeadline == true)
        #expect(first.failure?.apiCode == "sold_out" && first.failure?.apiTitle == "None left")
        let kept = try #require(first.exchange)
        #expect(kept.address == "192.0.2.1:443" && kept.wasResent && kept.firstByte == .milliseconds(3))
        #expect(kept.nameLookup == .milliseconds(1) && kept.connect == .milliseconds(2))
    }
}
