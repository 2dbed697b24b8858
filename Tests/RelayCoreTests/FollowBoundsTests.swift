import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import RelayTesting
import Testing

private typealias Step = ScriptedTransport.Step

/// A route whose upstream has the base `/v1/`.
private func below(_ path: String?, _ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
    following {
        let origin = Origin.tcp(host: "one.example", port: 443, isTLS: true)
        $0.upstreams = [Upstream(name: "one", origin: origin, basePath: "/v1/")]
        $0.following?.below = path
        change(&$0)
    }
}

private func moved(_ status: Status, _ place: String) -> Step { .answer(status, ["Location": place]) }

private func named(_ place: String) -> Step {
    .answer(200, ["Operation-Location": place], #"{"status":"Running"}"#)
}

@Suite("Where looks may go", .runQueue, .timeLimit(.minutes(5)))
struct FollowBoundsTests {
    @Test(
        "Only addresses below the base that answered are asked, or below the path that is named",
        arguments: [
            (nil, "https://one.example/v1/ops/7?t=s3cret", "/v1/ops/7?t=s3cret"), (nil, "ops/7", "/v1/ops/7"),
            (nil, "/v1/a/../ops/./7", "/v1/ops/7"), (nil, "/v1", "/v1"), (nil, "/v1?op=7", "/v1?op=7"),
            (nil, "/v1/ops/a%2Fb%20c", "/v1/ops/a%2Fb%20c"), ("/ops", "/ops/7", "/ops/7"),
            ("/ops/", "/ops", "/ops"), ("/ops", "/v1/ops/7", "/v1/ops/7"), ("/", "/v2", "/v2"),
            (nil, "/ops/7?t=s3cret", "follow.below"), (nil, "/v10/ops/7", "follow.below"),
            (nil, "/v1/../admin", "follow.below"), (nil, "/", "follow.below"),
            (nil, "../ops/7", "follow.below"), (nil, "/V1/ops/7", "follow.below"),
            (nil, "/v1%2Fops/7", "follow.below"), (nil, "/%761/ops/7", "follow.below"),
            ("/ops", "/ops2/7", "follow.below"), ("/ops", "/ops/../v2/7", "follow.below"),
            (nil, "/v1/%2e%2e/admin", "escapes"), (nil, "/v1/.%2E/admin", "escapes"),
            (nil, "/v1/%252e%252e/admin", "escapes"), (nil, "/v1/..%2fadmin", "escapes"),
            (nil, "/v1/..%5Cadmin", "escapes"), (nil, "/v1/x%2f..%2f..%2fadmin", "escapes"),
            (nil, "/v1/..;a=1/admin", "escapes"), (nil, "/v1/%00", "escapes"), (nil, "/v1/%zz", "escapes"),
            ("/", "/v1/%c0%ae%c0%ae/admin", "escapes"), ("/", "/%2e%2e", "escapes"),
            (nil, "/v1/..%20/admin", "escapes"), (nil, "/v1/%20.%20./admin", "escapes"),
            (nil, "?op=s3cret", "no path"), ("/", "#s3cret", "no path"),
            ("/", "https://two.example/v1/ops/7?t=s3cret", "another origin"),
        ] as [(String?, String, String)]
    )
    func address(_ path: String?, _ text: String, _ expected: String) async {
        let bench = Bench([.answer(202, ["Operation-Location": text]), succeeded])
        let outcome = await bench.perform(.post, on: below(path), body: .bytes([1]))
        guard !expected.hasPrefix("/") else {
            #expect(outcome.source == .followed && bench.transport.sent[1].target == expected)
            return
        }
        #expect(bench.transport.sent.count == 1 && outcome.failure?.kind == .followRefused)
        let detail = outcome.failure?.detail ?? ""
        #expect(detail.contains(expected) && !detail.contains("s3cret") && !detail.contains("two.example"))
    }

    @Test(
        "An address that is refused leaves a kept job in doubt, and no rule that does not name it sends it again"
    )
    func kept() async {
        let outside = Bench([begun])
        let runs = await outside.deliverToTheEnd(.post, on: below(nil), body: .bytes([1]))
        #expect(runs.map(\.words) == ["dead not_repeatable"] && runs[0].isUncertain)
        #expect(runs[0].attempts.last?.heldBack.map(\.reason) == [.operationBegan])
        let bench = Bench([begun, .answer(201)])
        let route = below(nil) {
            $0.recovery = [rule("named", ["follow_refused"], retry(3, methods: .any))]
        }
        #expect(
            await bench.deliverToTheEnd(.post, on: route, body: .bytes([1])).last?.words
                == "succeeded 201 upstream"
        )
    }

    @Test(
        "An operation on record is asked by the rules in force, and says what to set where they do not let it"
    )
    func record() async {
        let first = Bench([begun])
        let history = JobHistory().carried(await first.deliver(.post, on: below("/ops"), body: .bytes([1])))
        let bench = Bench([succeeded])
        let refused = await bench.deliver(.post, on: below(nil), history, body: .bytes([1]))
        #expect(refused.words == "dead outcome_unknown" && bench.transport.sent.isEmpty)
        let look = refused.attempts.last
        #expect(
            look?.failure?.kind == .followRefused && look?.failure?.detail.contains("follow.below") == true
        )
        let again = await bench.deliver(.post, on: below("/"), history, body: .bytes([1]))
        #expect(again.words == "succeeded 200 followed")
    }

    @Test(
        "A look is sent on where the upstream says, within the same bounds, and counts as one at the operation",
        arguments: [
            ([moved(302, "/v1/there"), succeeded], "/v1/ops/7, /v1/there", "followed"),
            ([moved(307, "there"), running, succeeded], "/v1/ops/7, /v1/ops/there, /v1/ops/7", "followed"),
            ([moved(301, "/v1/there"), .answer(404)], "/v1/ops/7, /v1/there", "operation_lost"),
            ([moved(308, "/ops/7?t=s3cret")], "/v1/ops/7", "follow_refused"),
            ([moved(302, "https://two.example/v1/x?t=s3cret")], "/v1/ops/7", "follow_refused"),
            ([moved(303, "/ops/7?t=s3cret")], "/v1/ops/7", "follow_refused"),
            // Without an address it says nothing, and one that goes round is looked at another time.
            ([.answer(302), succeeded], "/v1/ops/7, /v1/ops/7", "followed"),
            (
                Array(repeating: moved(302, "/v1/ops/7"), count: 6) + [succeeded],
                Array(repeating: "/v1/ops/7", count: 7).joined(separator: ", "), "followed"
            ),
        ] as [([ScriptedTransport.Step], String, String)]
    )
    func redirected(_ steps: [ScriptedTransport.Step], _ asked: String, _ end: String) async {
        let start = Step.answer(202, ["Operation-Location": "/v1/ops/7"])
        let bench = Bench([start] + steps)
        let outcome = await bench.perform(.post, on: below(nil), body: .bytes([1]))
        #expect(bench.transport.sent.dropFirst().map(\.target).joined(separator: ", ") == asked)
        #expect((outcome.failure?.kind.rawValue ?? outcome.source?.rawValue) == end)
        #expect(outcome.failure?.detail.contains("s3cret") != true)
    }

    @Test(
        "An operation that has moved may be named by the address that it has now, and by no third",
        arguments: [("/v1/there?t=2", nil), ("/v1/ops/7", nil), ("/v1/third", .operationLost)]
            as [(String, FailureKind?)]
    )
    func atItsNewAddress(_ place: String, _ kind: FailureKind?) async {
        let start = Step.answer(202, ["Operation-Location": "/v1/ops/7?t=1"])
        let looks = [moved(307, "/v1/there"), named(place)]
        let bench = Bench([start] + looks + (kind == nil ? [moved(307, "/v1/there"), succeeded] : []))
        let outcome = await bench.perform(.post, on: below(nil), body: .bytes([1]))
        #expect(outcome.failure?.kind == kind && (outcome.source == .followed) == (kind == nil))
    }

    @Test(
        "A look that goes on and names another operation is the end of this one",
        arguments: [
            ([named("/v1/ops/7?t=2"), succeeded], nil), ([named("7"), succeeded], nil),
            ([named("/v1/ops/8")], .operationLost),
            ([named("https://two.example/v1/ops/7"), succeeded], nil),
            // A Location beside an operation with a status of its own is that of something else.
            ([.answer(202, ["Location": "/v1/things/7"], #"{"status":"Running"}"#), succeeded], nil),
        ] as [([ScriptedTransport.Step], FailureKind?)]
    )
    func another(_ steps: [ScriptedTransport.Step], _ kind: FailureKind?) async {
        let start = Step.answer(202, ["Operation-Location": "/v1/ops/7?t=1"])
        let bench = Bench([start] + steps)
        let outcome = await bench.perform(.post, on: below(nil), body: .bytes([1]))
        #expect(outcome.failure?.kind == kind && bench.transport.sent.count == 1 + steps.count)
        #expect(bench.transport.sent.dropFirst().allSatisfy { $0.target == "/v1/ops/7?t=1" })
    }
}

@Suite("Telling an upstream to stop", .runQueue, .timeLimit(.minutes(5)))
struct FollowStopTests {
    /// A request whose caller goes away while its operation goes on.
    private func abandoned(_ bench: Bench, _ route: Route) async -> Outcome {
        let task = Task { await bench.perform(.post, on: route, body: .bytes([1])) }
        await untilIdle()
        task.cancel()
        return await task.joined()
    }

    @Test(
        "A caller that goes away has its operation stopped once, where the route says so",
        arguments: [
            (true, .answer(204), .told), (true, .answer(202), .told), (true, .answer(409), .untold),
            (true, .fail(.connectionRefused, .neverSent), .untold), (false, .answer(204), nil),
        ] as [(Bool, ScriptedTransport.Step, LookUp?)]
    )
    func once(_ isNamed: Bool, _ answer: ScriptedTransport.Step, _ word: LookUp?) async {
        let bench = Bench(
            [begun, .hold, answer],
            credentials: [CredentialDefinition(name: "key", kind: .fixed(.environment("KEY")))],
            secrets: [.environment("KEY"): Secret("s3cret")]
        )
        let route = following {
            $0.authentication = Authentication(form: .bearer, credential: "key")
            $0.following?.cancel = isNamed ? .delete : nil
        }
        let outcome = await abandoned(bench, route)
        #expect(outcome.failure?.kind == .cancelled)
        #expect(outcome.attempts.map(\.lookUp) == (isNamed ? [nil, word] : [nil]))
        let sent = bench.transport.sent
        #expect(sent.map(\.method) == (isNamed ? [.post, .get, .delete] : [.post, .get]))
        guard isNamed, let last = sent.last else { return }
        #expect(last.target == "/ops/7?v=1" && last[.authorization] == "Bearer s3cret")
        #expect(last.body.length == 0 && outcome.attempts.last?.isSpent == false)
    }

    @Test("Nothing is stopped that has not begun, is over, or goes on without its caller")
    func others() async {
        let route = following {
            $0.following?.cancel = .delete
            $0.timeouts.total = .seconds(7)
        }
        let sending = Bench([.hold])
        #expect(await abandoned(sending, route).failure?.kind == .cancelled)
        #expect(sending.transport.sent.map(\.method) == [.post])
        for steps in [[begun, succeeded], [begun, failed], [begun] + Array(repeating: running, count: 9)] {
            let bench = Bench(steps)
            _ = await bench.perform(.post, on: route, body: .bytes([1]))
            #expect(bench.transport.sent.allSatisfy { $0.method != .delete })
        }
        // The upstream would remove the result.
        let result = following {
            $0.following?.cancel = .delete
            $0.following?.result = .pointer(pointer("/at"))
        }
        let fetching = Bench([begun, succeeded, .hold])
        #expect(await abandoned(fetching, result).failure?.kind == .cancelled)
        #expect(fetching.transport.sent.map(\.method) == [.post, .get, .get])
        // A stop of the relay is no word of the caller, nor a cancellation of the job.
        let stopping = Bench([begun, .hold], isStopping: true)
        #expect(await abandoned(stopping, route).failure?.kind == .cancelled)
        #expect(stopping.transport.sent.map(\.method) == [.post, .get])
        let kept = Bench([begun, .hold])
        var history = JobHistory().carried(await kept.deliver(.post, on: route, body: .bytes([1])))
        history.deadline = nil
        let task = Task { [history] in await kept.deliver(.post, on: route, history, body: .bytes([1])) }
        await untilIdle()
        task.cancel()
        #expect(
            await task.joined().words == "back now" && kept.transport.sent.map(\.method) == [.post, .get]
        )
    }
}
