import RelayBase
import RelayCore
import RelayJSON
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("One request from preparation to its outcome", .runQueue, .timeLimit(.minutes(5)))
struct RelayTests {
    @Test("A success is one send and one answer")
    func success() async {
        let bench = Bench([.answer(200, [], "hello")])
        let outcome = await bench.perform("GET", "orders/7?full=1", on: makeRoute())
        #expect(outcome.text == "hello" && outcome.source == .upstream && outcome.attempts.count == 1)
        #expect(bench.transport.sent.map(\.target) == ["/api/orders/7?full=1"])
        #expect(bench.sink.events.map(name) == ["succeeded after 1"])
    }

    @Test("503 with Retry-After, then 200: the wait is the upstream's")
    func overload() async {
        let bench = Bench([.answer(503, [("retry-after", "2")]), .answer(200)])
        let outcome = await bench.perform(
            on: makeRoute { $0.recovery = [rule("overload", ["503"], retry())] }
        )
        #expect(outcome.status == 200 && outcome.attempts.count == 2)
        #expect(bench.time.waits == [.seconds(2)])
        #expect(outcome.attempts[0].next == .retry(after: .seconds(2)))
    }

    @Test("A Retry-After that is a date is counted from the answer's arrival")
    func overloadDate() async {
        let bench = Bench([])
        let date = String(decoding: IMFDate.format(bench.time.wallSeconds() + 7), as: UTF8.self)
        let dated = Bench([.answer(429, [("Retry-After", date)]), .answer(200)])
        _ = await dated.perform(on: makeRoute { $0.recovery = [rule("overload", ["429"], retry())] })
        #expect(dated.time.waits == [.seconds(7)])
    }

    @Test("Connection refused, then failover: the caller sees one success from the other upstream")
    func failover() async {
        let bench = Bench([.fail(.connectionRefused, .neverSent), .answer(200)])
        let outcome = await bench.perform(
            on: makeRoute { $0.recovery = [rule("other", ["connection"], .failover(upstream: 1))] }
        )
        #expect(outcome.status == 200)
        #expect(bench.transport.sent.map(\.upstream.name) == ["one", "two"])
        #expect(bench.transport.sent.map(\.target) == ["/api/x", "/x"])
    }

    @Test("When recovery runs out the upstream's last answer is passed on as it is")
    func passThrough() async throws {
        let bench = Bench([.answer(503, [("X-Why", "a")]), .answer(503, [("X-Why", "b")])])
        let outcome = await bench.perform(on: makeRoute { $0.recovery = [rule("r", ["503"], retry(2))] })
        let (failure, answer) = (try #require(outcome.failure), try #require(outcome.answer))
        #expect(failure.status == 503 && answer.fields.pairs.first?.value == "b")
    }

    @Test("A placeholder after exhaustion is marked as one")
    func placeholderAfterExhaustion() async {
        let bench = Bench([.answer(500), .answer(500)])
        let outcome = await bench.perform(
            on: makeRoute {
                $0.recovery = [
                    rule("r", ["5xx"], retry(2)), rule("p", ["exhausted"], placeholder(#"{"p":1}"#)),
                ]
            }
        )
        #expect(outcome.source == .placeholder && outcome.text == #"{"p":1}"#)
        #expect(outcome.attempts.map(\.rule) == ["r", "p"])
    }

    @Test("A POST is not repeated after an unknown outcome, and is after a refused connection")
    func postVerdicts() async {
        let route = makeRoute { $0.recovery = [rule("r", ["connection", "timeout"], retry())] }
        let unknown = Bench([.fail(.httpResponseTimeout, .unknown), .answer(200)])
        #expect(await unknown.perform(.post, on: route).failure?.sent == .unknown)
        #expect(unknown.transport.sent.count == 1)
        let refused = Bench([.fail(.connectionRefused, .neverSent), .answer(200)])
        #expect(await refused.perform(.post, on: route).status == 200)
        var fields = HeaderFields()
        fields.append("Idempotency-Key", "k")
        let keyed = Bench([.fail(.httpResponseTimeout, .unknown), .answer(200)])
        #expect(await keyed.perform(.post, on: route, fields: fields).status == 200)
    }

    @Test("quick_recovery spends no attempt and no rule is asked, whatever failed")
    func quickRecovery() async {
        let route = makeRoute {
            $0.quickRecovery = [QuickRecoveryRule(on: FailureMatcher([.any]), status: 204)]
            $0.recovery = [rule("r", ["any"], retry())]
        }
        for step in [ScriptedTransport.Step.answer(500), .fail(.connectionRefused, .neverSent)] {
            let bench = Bench([step])
            let outcome = await bench.perform(on: route)
            #expect(outcome.status == 204 && outcome.source == .upstream)
            #expect(outcome.attempts.map(\.next) == [.quickRecovery])
        }
    }

    @Test("A decoding failure is retried only when a rule names it")
    func decoding() async {
        let steps: [ScriptedTransport.Step] = [.answer(200, [], "<html>"), .answer(200, [], #"{"data":1}"#)]
        let plain = Bench(steps)
        let unnamed = makeRoute {
            $0.response.unwrap = pointer("/data")
            $0.recovery = [rule("r", ["5xx", "timeout"], retry())]
        }
        #expect(await plain.perform(on: unnamed).failure?.kind == .decoding)
        let named = Bench(steps)
        let outcome = await named.perform(
            on: makeRoute {
                $0.response.unwrap = pointer("/data")
                $0.recovery = [rule("r", ["decoding"], retry())]
            }
        )
        #expect(outcome.text == "1")
    }

    @Test("Preparation begins from the unprepared request each time: per job once, per attempt afresh")
    func preparation() async {
        let route = makeRoute {
            $0.prepare = [
                PreparationStep(phase: .job, fields: [("X-Job", FieldTemplate(parts: [.jobID]))]),
                PreparationStep(
                    phase: .attempt,
                    fields: [("X-Try", FieldTemplate(parts: [.text("n"), .attempt]))]
                ),
            ]
            $0.request.setFields = [("X-Client", "shop")]
            $0.request.removeFields = [FieldName("Cookie")].compactMap(\.self)
            $0.recovery = [rule("r", ["503"], retry())]
        }
        var fields = HeaderFields()
        fields.append("x-try", "mine")
        fields.append("Cookie", "c")
        fields.append("X-Client", "other")
        let bench = Bench([.answer(503), .answer(503), .answer(200)])
        _ = await bench.perform(on: route, fields: fields)
        let sent = bench.transport.sent.map { $0.fields.pairs + $0.addedFields.pairs }
        #expect(
            sent.map { $0.filter { $0.name.lowercased() == "x-try" }.map(\.value) } == [
                ["n1"], ["n2"], ["n3"],
            ]
        )
        #expect(Set(sent.map { $0.first { $0.name == "X-Job" }?.value }).count == 1)
        #expect(sent.allSatisfy { pairs in !pairs.contains { $0.name == "Cookie" } })
        #expect(sent.allSatisfy { pairs in pairs.filter { $0.name == "X-Client" }.map(\.value) == ["shop"] })
    }

    @Test("request.wrap puts the body under its pointer, and refuses one that is not JSON with zero sends")
    func wrap() async {
        let route = makeRoute { $0.request.wrap = pointer("/data/attributes") }
        let bench = Bench([.answer(200)])
        _ = await bench.perform(.post, on: route, body: .bytes(Array(#"{"a":1}"#.utf8)))
        guard case .bytes(let sent)? = bench.transport.sent.first?.body else {
            Issue.record("nothing was sent")
            return
        }
        #expect(String(decoding: sent, as: UTF8.self) == #"{"data":{"attributes":{"a":1}}}"#)
        let refused = Bench([.answer(200)])
        let outcome = await refused.perform(.post, on: route, body: .bytes(Array("a=1".utf8)))
        #expect(outcome.failure?.kind == .preparation && refused.transport.sent.isEmpty)
    }

    @Test(
        "A credential that cannot stand in a field fails the attempt: nothing goes out without it",
        arguments: [[0x61, 0x0A, 0x62], [0xFF, 0xFE]] as [[UInt8]]
    )
    func unusableCredential(secret: [UInt8]) async {
        let bench = Bench(
            [.answer(200)],
            credentials: [CredentialDefinition(name: "c", kind: .fixed(.credential("s")))],
            secrets: [.credential("s"): Secret(secret)]
        )
        let outcome = await bench.perform(
            on: makeRoute { $0.authentication = Authentication(form: .bearer, credential: "c") }
        )
        #expect(outcome.failure?.kind == .credentialsFailed && bench.transport.sent.isEmpty)
    }

    @Test("An empty idempotency key makes nothing safe to repeat", arguments: ["", " ", "\"\""])
    func emptyKey(key: String) async {
        var fields = HeaderFields()
        fields.append("Idempotency-Key", key)
        let bench = Bench([.fail(.httpResponseTimeout, .unknown), .answer(200)])
        let route = makeRoute { $0.recovery = [rule("r", ["timeout"], retry())] }
        #expect(await bench.perform(.post, on: route, fields: fields).failure?.sent == .unknown)
        #expect(bench.transport.sent.count == 1)
    }

    @Test(
        "error_types renames neither what the caller did nor what could not be prepared",
        arguments: [FailureKind.clientGone, .cancelled, .preparation]
    )
    func keptNames(kind: FailureKind) async {
        let bench = Bench([.fail(kind, .unknown)])
        let outcome = await bench.perform(
            on: makeRoute {
                $0.errorTypes = [ErrorTypeRule(on: nil, apiCodes: [], kind: "oops", treatAsStatus: nil)]
                $0.recovery = [rule("p", ["oops", "any"], placeholder())]
            }
        )
        #expect(outcome.failure?.kind == kind)
    }

    @Test("A success that fails validation is not passed on as one")
    func invalidIsNotPassedOn() async {
        let bench = Bench([.answer(200, [], #"{"ok":false}"#)])
        let outcome = await bench.perform(
            on: makeRoute {
                $0.success.require = [BodyCheck(pointer: pointer("/ok"), condition: .equals(.bool(true)))]
            }
        )
        #expect(outcome.failure?.kind == .invalidResponse && outcome.status == nil)
    }

    @Test("The inspect limit holds for a body that came with its head")
    func inspectLimit() async {
        let bench = Bench([.answer(200, [], String(repeating: " ", count: 200))])
        let outcome = await bench.perform(
            on: makeRoute {
                $0.response.expectsJSON = true
                $0.success.inspectLimit = 100
            }
        )
        #expect(outcome.failure?.kind == .httpResponseBodySize)
    }

    @Test("The job's time counts from when it was accepted, not from when it got its place")
    func countsFromAcceptance() async {
        let bench = Bench([.answer(503), .answer(200)])
        bench.time.advance(by: .seconds(29))
        let route = makeRoute { $0.recovery = [rule("r", ["503"], retry(wait: .seconds(2)))] }
        let outcome = await bench.perform(on: route, since: Instant(nanoseconds: 0))
        #expect(outcome.status == 503 && bench.transport.sent.count == 1)
    }

    @Test("Nothing is sent after the deadline, and the last failure is what the caller gets")
    func deadline() async {
        let bench = Bench([.take(.seconds(6)), .answer(503), .take(.seconds(6)), .answer(503), .answer(200)])
        var options = JobOptions()
        options.timeout = .seconds(10)
        let outcome = await bench.perform(
            on: makeRoute { $0.recovery = [rule("r", ["503"], retry(9))] },
            options: options
        )
        #expect(outcome.status == 503 && outcome.failure != nil)
        #expect(bench.transport.sent.count == 2)
    }

    @Test("Cancelling a job during its backoff runs no rule and sends nothing more")
    func cancelInBackoff() async {
        let bench = Bench([.answer(503), .answer(200)], mode: .manual)
        let route = makeRoute {
            $0.recovery = [
                rule("r", ["503"], retry(wait: .seconds(5))), rule("p", ["any", "exhausted"], placeholder()),
            ]
        }
        let task = Task { await bench.perform(on: route) }
        await untilIdle()
        task.cancel()
        #expect(await task.joined().failure?.kind == .cancelled)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("Cancelling a job while the upstream has it closes the attempt and runs no rule")
    func cancelInFlight() async {
        let bench = Bench([.hold, .answer(200)])
        let task = Task {
            await bench.perform(
                on: makeRoute { $0.recovery = [rule("p", ["any", "exhausted"], placeholder())] }
            )
        }
        await untilIdle()
        task.cancel()
        #expect(await task.joined().failure?.kind == .cancelled)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("Every failed attempt, the recovery and the end are told once, in order")
    func events() async {
        let bench = Bench([.answer(503), .answer(200)])
        _ = await bench.perform(on: makeRoute { $0.recovery = [rule("r", ["503"], retry())] })
        let failing = Bench([.answer(404)])
        _ = await failing.perform(on: makeRoute())
        #expect(bench.sink.events.map(name) == ["attemptFailed r", "succeeded after 2"])
        #expect(failing.sink.events.map(name) == ["attemptFailed -", "dead http_status"])
    }

    private func name(_ event: JobEvent) -> String {
        switch event {
        case .attemptFailed(_, let attempt): "attemptFailed \(attempt.rule ?? "-")"
        case .ended(let report):
            "\(report.state.name) \(report.failure?.kind.rawValue ?? "after \(report.attemptCount)")"
        default: "\(event)"
        }
    }
}

@Suite("Bodies that are held before they are judged", .timeLimit(.minutes(5)))
struct CollectedBodyTests {
    private func perform(_ sources: [PieceBody], _ change: (inout RoutePolicy) -> Void) async -> Outcome {
        await Bench(sources.map { .stream($0) }).perform(on: makeRoute(change))
    }

    @Test("A body that is looked into is bound by the caller's own time, one that streams is not")
    func bound() async {
        let looked = PieceBody([Array("{}".utf8)], length: nil)
        var options = JobOptions()
        options.timeout = .seconds(7)
        let route = makeRoute { $0.response.expectsJSON = true }
        let outcome = await Bench([.stream(looked)]).perform(on: route, options: options)
        #expect(outcome.text == "{}")
        #expect(looked.bound == Instant(nanoseconds: 7_000_000_000))
        let streamed = PieceBody([[1]], length: nil)
        guard case .stream? = await perform([streamed], { _ in }).accepted?.body
        else {
            Issue.record("it was not streamed")
            return
        }
        #expect(streamed.bound == nil)
    }

    @Test(
        "An answer that is too large to be kept passes through, whether its length is known or not",
        arguments: [true, false]
    )
    func tooLargeToKeep(isLengthKnown: Bool) async throws {
        let piece = [UInt8](repeating: 7, count: 700_000)
        let source = PieceBody([piece, piece, [8]], length: isLengthKnown ? 1_400_001 : nil)
        let outcome = await perform([source]) { policy in
            policy.response.keepsLastGood = LastGoodRule(maxAge: .seconds(60))
            policy.limits.body = 1_200_000
        }
        guard let response = outcome.accepted, case .stream = response.body else {
            Issue.record("it was collected")
            return
        }
        #expect(try await response.body.collect(limit: 2_000_000) == piece + piece + [8])
        #expect(isLengthKnown || source.bound == .distantFuture)
    }

    @Test("An answer of a known, small length that is cut short is retried; a long one has been passed on")
    func cutShort() async {
        let cut = PieceBody([[1]], length: 2, breaks: true)
        let whole = PieceBody([[1], [2]], length: 2)
        let outcome = await perform([cut, whole]) { $0.recovery = [rule("r", ["protocol"], retry())] }
        #expect(outcome.attempts.count == 2 && outcome.text == "\u{1}\u{2}")
    }

    @Test("A job whose answer is wanted whole fails when the answer is cut short, and its rules see it")
    func wholeAnswer() async {
        let sources = [PieceBody([[1]], length: nil, breaks: true), PieceBody([[1], [2]], length: nil)]
        let route = makeRoute { $0.recovery = [rule("r", ["protocol"], retry())] }
        var options = JobOptions()
        options.collectsAnswer = true
        let outcome = await Bench(sources.map { .stream($0) }).perform(on: route, options: options)
        #expect(outcome.attempts.count == 2 && outcome.text == "\u{1}\u{2}")
        #expect(sources[0].bound != nil)
    }

    @Test("A body above the inspect limit fails by name and is given up")
    func tooLarge() async {
        let large = PieceBody([Array(repeating: 0x20, count: 200)], length: nil)
        let outcome = await perform([large]) {
            $0.response.expectsJSON = true
            $0.success.inspectLimit = 100
        }
        #expect(outcome.failure?.kind == .httpResponseBodySize)
        #expect(large.isCancelled)
    }
}
