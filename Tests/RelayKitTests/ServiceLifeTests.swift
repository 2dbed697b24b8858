import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("A service while its jobs run", .runQueue, .timeLimit(.minutes(5)))
struct ServiceLifeTests {
    private static let request: Request<HTTPResponse> = Request(.get, "x")

    @Test(
        "Jobs under way are counted exactly, and no longer when they fail or are cancelled",
        .clauses("T-30", "X-09")
    )
    func inFlight() async throws {
        let bench = try ServiceBench([], mode: .manual) { request in
            request.target.hasSuffix("held") ? .hold : .fail(.connectionRefused, .neverSent)
        }
        for _ in 0..<3 { #expect(await bench.service.outcome(of: Self.request).source == nil) }
        #expect(bench.service.inFlight == 0)
        let jobs = (0..<50).map { _ in
            Task { await bench.service.outcome(of: Request(.get, "held") as Request<HTTPResponse>) }
        }
        await untilIdle()
        #expect(bench.service.inFlight == 50)
        _ = await bench.service.outcome(of: Self.request)
        #expect(bench.service.inFlight == 50)
        for job in jobs { job.cancel() }
        for job in jobs { _ = await job.joined() }
        #expect(bench.service.inFlight == 0)
    }

    @Test(
        "A job that could not be prepared, or whose strategy stops it, is over too",
        .clauses("T-30", "X-09")
    )
    func overWithoutSend() async throws {
        struct Odd: Error {}
        let bench = try ServiceBench(
            [.answer(500)],
            policy: { $0.recovery = [.strategy(Advice { failure, _, _ in .stop(failure) })] },
            preparation: [
                Prepare(.job) { request, _ in
                    if request.target == "odd" { throw Odd() }
                    return request
                }
            ]
        )
        _ = await bench.service.outcome(of: Request(.get, "odd") as Request<HTTPResponse>)
        _ = await bench.service.outcome(of: Self.request)
        #expect(bench.service.inFlight == 0 && bench.transport.sent.count == 1)
    }

    @Test(
        "A cancelled job asks no rule, no strategy and no placeholder, and sends nothing more",
        .clauses("N-11", "X-08", "G3-21"),
        arguments: [ScriptedTransport.Step.hold, .answer(503)]
    )
    func cancelled(step: ScriptedTransport.Step) async throws {
        let asked = Mutex(0)
        let bench = try ServiceBench(
            [step, .answer(200), .answer(200)],
            policy: {
                $0.recovery = [
                    .backoff(Backoff(schedule: .constant(.seconds(5)), jitter: .none)),
                    .strategy(
                        Advice { _, request, _ in
                            asked.withLock { $0 += 1 }
                            return .retry(request, after: .zero)
                        },
                        on: [.any, .exhausted]
                    ), .placeholder(CannedAnswer(status: 203)),
                ]
            },
            mode: .manual
        )
        var request = Self.request
        request.placeholder = { _ in HTTPResponse(status: 204) }
        let sent = request
        let job = Task { await bench.service.outcome(of: sent) }
        await untilIdle()
        job.cancel()
        let outcome = await job.joined()
        let failure = #expect(throws: Failure.self) { try outcome.result.get() }
        #expect(failure?.kind == .cancelled && asked.withLock { $0 } == 0)
        #expect(bench.transport.sent.count == 1 && outcome.attempts.count == 1)
    }

    @Test("A service that nobody holds any more still ends the jobs it has", .clauses("X-13"))
    func released() async throws {
        let time = VirtualTime()
        let transport = ScriptedTransport([.hold, .answer(200, [], "late")], time: time)
        var service: RelayService? = try RelayService(
            RoutePolicy(upstreams: [try Upstream("https://one.example/")]),
            transport: transport,
            time: time,
            entropy: SeededEntropy()
        )
        let job = try { [service] in
            let service = try #require(service)
            return Task { try await service.execute(Self.request) }
        }()
        service = nil
        await untilIdle()
        transport.release()
        #expect(try await job.joined().bytes == Array("late".utf8))
    }

    @Test("Two services know nothing of each other", .clauses("X-15"))
    func independent() async throws {
        let patient = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                $0.recovery = [.backoff(maxAttempts: 5)]
                // The jobs share a clock that every wait moves.
                $0.timeouts.total = .seconds(3600)
                $0.timeouts.attempt = .seconds(3600)
            },
            answer: { _ in .answer(503) }
        )
        let quick = try ServiceBench([], policy: { $0.traffic = .off }, answer: { _ in .answer(503) })
        await withTaskGroup(of: Void.self) { group in
            for bench in [patient, quick] {
                for _ in 0..<20 { group.addTask { _ = await bench.service.outcome(of: Self.request) } }
            }
        }
        #expect(patient.transport.sent.count == 100 && quick.transport.sent.count == 20)
    }

    private final class Notes: AttemptObserver {
        let seen = Mutex<[String]>([])

        func note(_ what: String) { seen.withLock { $0.append(what) } }
        func attemptBegan(_ attempt: Attempt, of job: RunningJob) { note("began \(attempt.number)") }
        func responded(_ response: HTTPResponse, to attempt: Attempt, of job: RunningJob) {
            note("responded \(response.status.rawValue)")
        }
        func decided(_ attempt: Attempt, of job: RunningJob) {
            note("decided \(attempt.next?.name ?? "none")")
        }
        func finished(_ job: FinishedJob) { note("finished \(job.failure?.kind.rawValue ?? "well")") }
    }

    @Test(
        "Observers hear of every attempt in order and of the end once, before the caller",
        .clauses("X-16"),
        arguments: [
            ([.answer(200)], ["began 1", "responded 200", "finished well"]),
            (
                [.answer(503), .fail(.connectionRefused, .neverSent), .answer(404)],
                [
                    "began 1", "responded 503", "decided retry", "began 2", "decided retry", "began 3",
                    "responded 404", "decided none", "finished http_status",
                ]
            ),
            ([.answer(201)], ["began 1", "responded 201", "decided none", "finished decoding"]),
        ] as [([ScriptedTransport.Step], [String])]
    )
    func observed(steps: [ScriptedTransport.Step], expected: [String]) async throws {
        struct Odd: Error {}
        let notes = Notes()
        let bench = try ServiceBench(steps, policy: { $0.recovery = [.backoff()] }, observers: [notes])
        let request = Self.request.map { response in
            if response.status == 201 { throw Odd() }
        }
        _ = await bench.service.outcome(of: request)
        #expect(notes.seen.withLock { $0 } == expected)
    }

    @Test(
        "A base that is no URL is refused in words; nothing traps",
        .clauses("X-16"),
        arguments: [
            "", "one.example", "https://", "https:///x", "ftp://one.example", "https://a b/",
            "https://one.example:99999/", "https://u@one.example/", "https://one.example/?q",
            "https://one.example/#f", "https://[::1/", "http://\u{0}/",
        ]
    )
    func urls(text: String) {
        #expect(throws: Refusal.self) { try Upstream(text) }
    }

    @Test(
        "A job of a hundred attempts, each with two jobs of the same kind inside, makes every one of them",
        .clauses("X-11")
    )
    func nested() async throws {
        let inner = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                $0.maxAttempts = 20
                $0.recovery = [.backoff(maxAttempts: 20, Backoff(schedule: .constant(.zero), jitter: .none))]
            },
            answer: { _ in .answer(503) }
        )
        let outer = try ServiceBench(
            [],
            policy: {
                $0.traffic = .off
                $0.maxAttempts = 100
                $0.recovery = [
                    .strategy(
                        Advice { _, request, _ in
                            for _ in 0..<2 { _ = await inner.service.outcome(of: Self.request) }
                            return .retry(request, after: .zero)
                        }
                    )
                ]
            },
            answer: { _ in .answer(503) }
        )
        let outcome = await outer.service.outcome(of: Self.request)
        #expect(outcome.attempts.count == 100 && outer.transport.sent.count == 100)
        #expect(inner.transport.sent.count == 4_000)
    }
}
