import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("The facts that failures and observers tell", .timeLimit(.minutes(5)))
struct ToldTests {
    /// Writes down which request it is told about.
    private final class Told: AttemptObserver {
        let lines = Mutex<[String]>([])

        private func note(_ what: String, _ job: String, _ route: String, _ request: HTTPRequest) {
            let line = "\(what) \(request.method.rawValue) \(request.target) \(route) \(job.count)"
            lines.withLock { $0.append(line) }
        }

        func attemptBegan(_ attempt: Attempt, of job: RunningJob) {
            note("began", job.id, job.route, job.request)
        }
        func responded(_ response: HTTPResponse, to attempt: Attempt, of job: RunningJob) {
            note("responded", job.id, job.route, job.request)
        }
        func decided(_ attempt: Attempt, of job: RunningJob) {
            note("decided", job.id, job.route, job.request)
        }
        func finished(_ job: FinishedJob) { note("finished", job.id, job.route, job.request) }
    }

    @Test("Observers are told about which request they hear, also when a strategy has changed it")
    func observers() async throws {
        let log = Told()
        let bench = try ServiceBench(
            [.answer(503), .answer(204)],
            policy: {
                $0.recovery = [.advice { _, request, _ in .retry(request) { $0.target = "other" } }]
            },
            observers: [log]
        )
        try await bench.service.execute(PlainRequest<Void>(.put, "x?full=1"))
        #expect(
            log.lines.withLock { $0 } == [
                "began PUT x?full=1 test 26", "responded PUT x?full=1 test 26",
                "decided PUT x?full=1 test 26",
                "began PUT other test 26", "responded PUT other test 26", "finished PUT other test 26",
            ]
        )
    }

    @Test(
        "A failure says where its attempt went, and no more than scheme, host and path",
        .clauses("AX-06"),
        arguments: [
            ("x/7", "https://one.example/v1/x/7"), ("x?token=secret", "https://one.example/v1/x"),
            ("x#secret", "https://one.example/v1/x"), ("x\n\u{7F}y", "https://one.example/v1/x??y"),
        ]
    )
    func url(target: String, url: String) async throws {
        let bench = try ServiceBench([.answer(404)])
        let request = Request(HTTPRequest(method: .get, target: target)) { $0.response.status }
        let failure = try #require(await bench.failure(of: request))
        #expect(failure.url == url && failure.status == 404)
        #expect("\(failure)" == "http_status: the upstream answered 404 (at \(url))")
    }

    @Test("The upstream that failed last is the one a failure names, and none where nothing began")
    func lastURL() async throws {
        let bench = try ServiceBench([.answer(503), .fail(.connectionRefused, .neverSent)]) {
            $0.recovery = [.failover(to: 1, on: [503])]
        }
        let failure = await bench.failure(of: .plain())
        #expect(failure?.url == "https://two.example/x")
        let none = await bench.failure(of: PlainRequest<HTTPResponse>(.get, "../x"))
        #expect(none?.kind == .preparation && none?.url == nil)
    }

    @Test("A failure names no place that nothing was sent to")
    func noURL() async throws {
        let elsewhere = Prepare.changing { request, _ in request.target = "http://other/users/1" }
        let away = try ServiceBench([.answer(200)], preparation: [elsewhere])
        let failure = await away.failure(of: .plain())
        #expect(failure?.kind == .preparation && failure?.url == nil && away.transport.sent.isEmpty)
        let lost = CredentialDefinition("login") { throw InputBroken() }
        let locked = try ServiceBench(
            [.answer(200)],
            policy: { $0.authentication = Authentication(form: .bearer, credential: "login") },
            credentials: [lost]
        )
        let refused = await locked.failure(of: .plain())
        #expect(refused?.kind == .credentialsFailed && refused?.url == nil && locked.transport.sent.isEmpty)
        // The second attempt went nowhere, whatever the first did.
        let second = Prepare.changing { request, context in
            if context.attempt == 2 { request.target = "../x" }
        }
        let bench = try ServiceBench(
            [.answer(503)],
            policy: { $0.recovery = [.again()] },
            preparation: [second]
        )
        let last = await bench.failure(of: .plain())
        #expect(last?.kind == .preparation && last?.url == nil && bench.transport.sent.count == 1)
    }

    private static let login = CredentialDefinition("login") { AccessToken("good") }

    private func guarded(
        _ steps: [ScriptedTransport.Step],
        _ rules: [RecoveryRule] = [],
        preparation: [any PreparationStrategy] = []
    ) throws -> ServiceBench {
        try ServiceBench(
            steps,
            policy: {
                $0.authentication = Authentication(form: .bearer, credential: "login")
                $0.recovery = rules
            },
            preparation: preparation,
            credentials: [Self.login]
        )
    }

    @Test("A field that the policy's credential writes is nobody else's: the request says so and is not sent")
    func ownCredential() async throws {
        let own = PlainRequest<HTTPResponse>(.get, "x", headers: ["authorization": "Bearer mine"])
        let step = Prepare.changing { request, _ in request.fields.set("Authorization", "Bearer mine") }
        for (bench, request) in [
            (try guarded([.answer(200)]), own),
            (try guarded([.answer(200)], preparation: [step]), Request.plain()),
        ] {
            let failure = try #require(await bench.failure(of: request))
            #expect(failure.kind == .preparation && bench.transport.sent.isEmpty)
            #expect(failure.detail.contains("Authorization") && failure.detail.contains("\"login\""))
            #expect(!failure.detail.contains("mine"))
        }
        #expect(try guarded([.answer(200)]).service.policy.authentication != nil)
    }

    @Test("A strategy's credential beside the policy's ends the job instead of being dropped")
    func strategysCredential() async throws {
        let strategy = RecoveryRule.advice { _, request, _ in
            .retry(request) { $0.fields.set("Authorization", "Bearer mine") }
        }
        let bench = try guarded([.answer(401), .answer(200)], [strategy])
        let failure = await bench.failure(of: .plain())
        #expect(failure?.kind == .preparation && bench.transport.sent.count == 1)
        #expect(failure?.sent == .refused, "the first attempt was")
    }

    @Test(
        "A credential is not sent over the public network unencrypted",
        arguments: [
            ("http://one.example", [], false), ("http://192.0.2.1", [], false),
            ("http://127.0.0.1", ["127.0.0.0/8"], true), ("http://inside.example", ["10.0.0.0/8"], true),
            ("https://one.example", [], true),
        ] as [(String, [String], Bool)]
    )
    func plainHTTP(url: String, allowed: [String], isTaken: Bool) throws {
        let upstream = try Upstream(url, allowedAddresses: allowed)
        let make = {
            try ServiceBench(
                [],
                policy: {
                    $0.upstreams = [upstream]
                    $0.authentication = Authentication(form: .bearer, credential: "login")
                },
                credentials: [Self.login]
            )
        }
        if isTaken {
            // The name may come to lead to the public network all the same.
            let isPlain = url.hasPrefix("http:")
            #expect(try make().service.policy.upstreams.allSatisfy { $0.isConfined == isPlain })
        } else {
            let refusal = #expect(throws: Refusal.self) { try make() }
            #expect(refusal?.message.contains("unencrypted") == true)
        }
    }

    @Test(
        "Nothing goes over the public network unencrypted unless the policy allows it",
        arguments: [
            ("http://one.example", [], false), ("http://192.0.2.1", [], false),
            ("http://127.0.0.1", ["127.0.0.0/8"], true), ("http://inside.example", ["10.0.0.0/8"], true),
            ("https://one.example", [], true),
        ] as [(String, [String], Bool)]
    )
    func unencrypted(url: String, allowed: [String], isTaken: Bool) throws {
        let upstream = try Upstream(url, allowedAddresses: allowed)
        let found = refusal { $0.upstreams = [upstream] }
        #expect((found == nil) == isTaken)
        if let found {
            #expect(found.message.contains("unencrypted") && found.hint?.contains("allowsPlainHTTP") == true)
        }
        for isAllowed in isTaken ? [true, false] : [true] {
            let bench = try ServiceBench([]) {
                $0.upstreams = [upstream]
                $0.allowsPlainHTTP = isAllowed
            }
            let isConfined = url.hasPrefix("http:") && !isAllowed
            #expect(bench.service.policy.upstreams.allSatisfy { $0.isConfined == isConfined })
        }
    }
}
