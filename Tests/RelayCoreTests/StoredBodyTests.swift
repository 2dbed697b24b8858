import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Synchronization
import Testing

/// A transport that reads every body to its end, as a real one does.
private final class ReadingTransport: Transport {
    private let state: Mutex<(statuses: [Status], bodies: [String])>

    init(_ statuses: [Status]) { state = Mutex((statuses, [])) }

    var bodies: [String] { state.withLock { $0.bodies } }

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        let bytes = try await request.body.collect(limit: 1_000)
        let status = state.withLock { state in
            state.bodies.append(String(decoding: bytes, as: UTF8.self))
            return state.statuses.removeFirst()
        }
        return InboundResponse(response: HTTPResponse(status: status), exchange: Exchange())
    }
}

@Suite("The parts of a durable job that last between its runs", .timeLimit(.minutes(5)))
struct StoredBodyTests {
    private static let file = StoredBodyFile(name: "f", length: 5, checksums: [1, 2])

    private func body(failing error: StoreError? = nil) -> Body {
        let source = StoredBodySource(Self.file) { (index, _) async throws(StoreError) in
            if let error { throw error }
            return Array(["abc", "de"][index].utf8)
        }
        return .stream(source)
    }

    @Test("A body in a file is read piece by piece, and begins again for every attempt of a run")
    func attempts() async {
        let transport = ReadingTransport([503, 200])
        let bench = Bench([]).over(transport)
        let run = await bench.deliver(
            .post,
            on: makeRoute { $0.recovery = [rule("r", ["5xx"], .failover(upstream: 1, methods: .any))] },
            body: body()
        )
        #expect(run.words == "succeeded 200 upstream" && transport.bodies == ["abcde", "abcde"])
    }

    @Test("A stored body says its length, can begin again after it was read, and is nil once expunged")
    func values() async throws {
        let store = MemoryJobStore(at: JobMoment(wall: 0, steady: 0))
        let body = body()
        #expect(body.length == 5 && body.isReplayable)
        #expect(try await body.collect(limit: 5) == Array("abcde".utf8))
        #expect(body.isReplayable)
        #expect(StoredBody.expunged.body(from: store) == nil)
        guard case .empty? = StoredBody.bytes([]).body(from: store) else {
            Issue.record("no content became content")
            return
        }
    }

    @Test("A body that was read once is gone, and no rule within the run repeats the request")
    func once() async {
        let bench = Bench([.answer(503), .answer(200)])
        let route = makeRoute {
            $0.recovery = [
                rule("other", ["5xx"], .failover(upstream: 1)), rule("later", ["5xx"], retry()),
            ]
        }
        let run = await bench.deliver(.put, on: route, body: .stream(PieceBody(wasRead: true)))
        // The store has it for the next run.
        #expect(run.words.hasPrefix("retry"))
        #expect(run.attempts[0].heldBack == [HeldBack(rule: "other", reason: .bodyGone)])
    }

    @Test(
        "A body the store cannot give ends the run: for good when it is damaged, unburned when it is not",
        arguments: [
            (StoreError.Code.corrupt, "dead corrupt"), (.slow, "back now"), (.closed, "back now"),
        ]
    )
    func unread(code: StoreError.Code, words: String) async {
        let body = body(failing: StoreError(code, "no"))
        let bench = Bench([]).over(ReadingTransport([200]))
        let run = await bench.deliver(
            .post,
            on: makeRoute { $0.recovery = [rule("r", ["any"], .hold)] },
            body: body
        )
        #expect(run.words == words && run.attempts.isEmpty)
        let signed = await bench.deliver(
            .post,
            on: makeRoute { $0.signing = SigningSettings(secrets: []) },
            body: body
        )
        #expect(signed.words == words)
    }

    @Test("An attempt has its time on the wall clock, its verdict, and what was decided")
    func record() async {
        let bench = Bench([.take(.seconds(2)), .answer(503)])
        bench.time.advance(by: .seconds(10))
        var history = JobHistory()
        history.attempts = 4
        let run = await bench.deliver(
            on: makeRoute { $0.recovery = [rule("p", ["5xx"], placeholder()), rule("r", ["5xx"], retry())] },
            history
        )
        let attempt = run.attempts[0]
        #expect(attempt.number == 5 && attempt.upstream == "one")
        #expect(attempt.exchange?.address == "192.0.2.1:80")
        #expect(attempt.beganAt == 1_800_000_010_000 && attempt.duration == .seconds(2))
        #expect(attempt.sent == .answered && attempt.status == 503 && attempt.failure?.kind == .httpStatus)
        #expect(attempt.rule == "r" && attempt.next == .retry(after: .milliseconds(100)))
        #expect(attempt.heldBack == [HeldBack(rule: "p", reason: .deliversNothing)] && attempt.isSpent)
    }

    @Test("An attempt that was never sent costs nothing; one whose outcome is unknown does")
    func spent() async {
        let steps: [(ScriptedTransport.Step, Bool)] = [
            (.fail(.connectionRefused, .neverSent), false), (.fail(.httpResponseTimeout, .unknown), true),
            (.answer(200), true),
        ]
        for (step, isSpent) in steps {
            let run = await Bench([step]).deliver(on: makeRoute())
            #expect(run.attempts[0].isSpent == isSpent)
        }
    }

    @Test("Whether a job may be repeated is known when it is accepted")
    func mayRepeat() {
        var keyed = HeaderFields()
        keyed.append("Idempotency-Key", "k")
        let none = HeaderFields()
        let plain = makeRoute()
        #expect(plain.mayRepeatAfterCrash(.put, none) && !plain.mayRepeatAfterCrash(.post, none))
        #expect(plain.mayRepeatAfterCrash(.post, keyed))
        #expect(!makeRoute { $0.idempotency.forwards = false }.mayRepeatAfterCrash(.post, keyed))
        #expect(makeRoute { $0.idempotency.generates = true }.mayRepeatAfterCrash(.post, none))
        let actions: [RecoveryRule.Action] = [retry(methods: .any), .failover(upstream: 1, methods: .any)]
        for action in actions {
            for (word, mayRepeat) in [("connection", true), ("timeout", true), ("any", true), ("5xx", false)]
            {
                let route = makeRoute { $0.recovery = [rule("r", [word], action)] }
                #expect(route.mayRepeatAfterCrash(.post, none) == mayRepeat, "\(word)")
            }
        }
        let wrapping = makeRoute { $0.request.wrap = pointer("/data") }
        #expect(wrapping.mayRepeatAfterCrash(.post, keyed))
    }
}
