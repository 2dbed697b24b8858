import RelayKit
import RelayTestSupport
import Synchronization
import Testing

/// Smokes that a program's own fetch of a credential is the core's credential like any other.
@Suite("A credential that many jobs of a program share", .closedRunQueue, .timeLimit(.minutes(5)))
struct SharedCredentialTests {
    private struct Refused: Error { let door = "secret" }

    /// A service whose upstream takes the tokens that `takes` says.
    private func bench(
        _ fetch: @escaping @Sendable () async throws -> AccessToken,
        maxAttempts: Int = 10,
        takes: @escaping @Sendable (String?) -> Bool = { _ in true }
    ) throws -> ServiceBench {
        try ServiceBench(
            [],
            policy: {
                $0.authentication = Authentication(form: .bearer, credential: "c")
                $0.maxAttempts = maxAttempts
                $0.recovery = [.reauthorize()]
            },
            mode: .manual,
            credentials: [CredentialDefinition("c", fetch: fetch)],
            answer: { takes($0[.authorization]) ? .answer(200) : .answer(401) }
        )
    }

    @Test(
        "A hundred jobs at once meet 401, one token is fetched, and all succeed, unless no attempt is left to use it",
        .clauses("G2-16", "N-01", "N-04", "X-07", "X-12"),
        arguments: [10, 1]
    )
    func oneFetch(maxAttempts: Int) async throws {
        let fetches = Mutex(0)
        let fetch = { @Sendable in
            let number = fetches.withLock { fetches in
                fetches += 1
                return fetches
            }
            return AccessToken("t\(number)")
        }
        let bench = try bench(fetch, maxAttempts: maxAttempts) { $0 == "Bearer t2" }
        let outcomes = await withTaskGroup(of: PlainOutcome<HTTPResponse>.self) { group in
            for _ in 0..<100 { group.addTask { await bench.run() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let isMended = maxAttempts > 1
        #expect(outcomes.count == 100)
        #expect(outcomes.allSatisfy { $0.failure?.status == (isMended ? nil : 401) })
        #expect(fetches.withLock { $0 } == (isMended ? 2 : 1))
        #expect(outcomes.contains { $0.recoveredBy == ["reauthorize"] } == isMended)
    }

    @Test(
        "A program whose own request for a token failed is told how, of another error its type only, and is not asked at once again",
        .clauses("N-02"),
        arguments: [
            (Failure(.dnsError, sent: .neverSent, "cannot look up it"), "dns_error: cannot look up it"),
            (Refused(), "Refused"),
        ] as [(any Error & Sendable, String)]
    )
    func fetchFailed(error: any Error & Sendable, reason: String) async throws {
        let fetches = Mutex(0)
        let bench = try bench({
            fetches.withLock { $0 += 1 }
            throw error
        })
        for _ in 0..<3 {
            let failure = await bench.run().failure
            #expect(failure?.kind == .credentialsFailed && bench.transport.sent.isEmpty)
            #expect(failure?.detail == "the program could not fetch the credential: \(reason)")
            #expect(failure?.underlying.map { type(of: $0) == type(of: error) } == true)
        }
        #expect(fetches.withLock { $0 } == 1)
        for (passed, count) in [(Duration.nanoseconds(1_999_999_999), 1), (.nanoseconds(1), 2)] {
            bench.time.advance(by: passed)
            _ = await bench.run()
            #expect(fetches.withLock { $0 } == count)
        }
    }

    @Test("A credential whose fetch needs the credential says so at once")
    func recursion() async throws {
        let box = Mutex<RelayService?>(nil)
        let found = Mutex<Failure?>(nil)
        let bench = try bench({
            let service = box.withLock { $0 }
            let failure = await service?.outcome(of: .plain()).failure
            found.withLock { $0 = failure }
            return AccessToken("t")
        })
        box.withLock { $0 = bench.service }
        #expect(await bench.run().failure == nil)
        let inner = found.withLock { $0 }
        #expect(inner?.kind == .credentialsFailed && inner?.detail.contains("fetches it") == true)
        box.withLock { $0 = nil }
    }

    @Test(
        "Cancelling a job that waits for a token leaves the fetch to the others",
        .clauses("N-05"),
        arguments: [0, 1]
    )
    func cancelled(which: Int) async throws {
        let gate = Gate()
        let fetches = Mutex(0)
        let bench = try bench({
            fetches.withLock { $0 += 1 }
            await gate.pass()
            return AccessToken("t")
        })
        let jobs = [0, 1].map { _ in Task { await bench.run() } }
        // Each waiting job and the fetch have a deadline to sleep towards.
        await untilIdle()
        jobs[which].cancel()
        #expect(await jobs[which].value.failure?.kind == .cancelled)
        gate.open()
        #expect(await jobs[1 - which].value.source == .upstream)
        #expect(fetches.withLock { $0 } == 1 && bench.transport.sent.count == 1)
    }
}
