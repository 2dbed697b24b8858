import RelayKit
import RelayTestSupport
import Synchronization
import Testing

@Suite("A stream of jobs", .closedRunQueue, .timeLimit(.minutes(5)))
struct JobStreamTests {
    private static let payloads = [#"{"title":"a"}"#, #"{"title":"b"}"#, "<garbage>", #"{"title":"d"}"#]

    @Test(
        "Good, good, garbage, good are four outcomes, the third a failure or a placeholder that is marked as one",
        .clauses("T-123", "T-124", "UC-02", "UC-17", "UC-18", "UC-19"),
        arguments: JobOrder.allCases,
        [true, false]
    )
    func garbage(order: JobOrder, isReplaced: Bool) async throws {
        let bench = try ServiceBench(
            [],
            answer: { request in .answer(200, [], Self.payloads[Int(request.target.suffix(1)) ?? 0]) }
        )
        let requests = (0..<4).map { index in
            var request = Request.book(RequestPath("\(index)"))
            if isReplaced { request.placeholder = { _ in Book(title: "none") } }
            return request
        }
        var outcomes: [PlainOutcome<Book>] = []
        for await outcome in bench.service.outcomes(of: input(requests), order: order) {
            outcomes.append(outcome)
        }
        outcomes.sort { $0.index < $1.index }
        #expect(outcomes.map(\.value?.title) == ["a", "b", isReplaced ? "none" : nil, "d"])
        #expect(outcomes.map(\.index) == [0, 1, 2, 3])
        #expect(outcomes.map(\.source) == [.upstream, .upstream, isReplaced ? .placeholder : nil, .upstream])
        if isReplaced { return }
        #expect(outcomes[2].failure?.kind == .decoding)
        #expect(outcomes[2].failure?.response?.text == "<garbage>")
    }

    @Test("No failure of any stage ends the stream", .clauses("UC-17", "UC-18"), arguments: JobOrder.allCases)
    func everyFailure(order: JobOrder) async throws {
        let steps: [ScriptedTransport.Step] = [
            .fail(.connectionRefused, .neverSent), .answer(200), .fail(.httpResponseTimeout, .unknown),
            .answer(200), .answer(503), .answer(200), .answer(600), .answer(200), .fail("foreign", .unknown),
            .answer(200), .fail(.cancelled, .unknown), .answer(200),
        ]
        let bench = try ServiceBench(steps)
        var unprepared = Request.plain()
        unprepared.preparation = [Prepare(.job) { _, _ in throw InputBroken() }]
        let requests =
            steps.map { _ in Request.plain() } + [unprepared] + [
                PlainRequest<HTTPResponse>(.get, "../escape")
            ]
        var kinds: [String] = []
        for await outcome in bench.service.outcomes(of: input(requests), maxConcurrent: 1, order: order) {
            kinds.append(outcome.failure?.kind.rawValue ?? "ok")
        }
        #expect(
            kinds == [
                "connection_refused", "ok", "http_response_timeout", "ok", "http_status", "ok",
                "http_protocol_error", "ok", "foreign", "ok", "cancelled", "ok", "preparation", "preparation",
            ]
        )
    }

    @Test("Jobs run beside each other, and their outcomes come as they end", .clauses("UC-20"))
    func interleaving() async throws {
        let bench = try StreamBench()
        let outcomes = bench.service.outcomes(of: Inputs(["a", "b", "c"])).makeAsyncIterator()
        var indices: [Int] = []
        for (target, index) in [("c", 2), ("a", 0), ("b", 1)] {
            async let answered: Void = {
                await untilIdle()
                bench.gate.answer(target)
            }()
            let outcome = try #require(try await outcomes.next())
            await answered
            #expect(outcome.value?.text == target && outcome.index == index)
            indices.append(outcome.index)
        }
        #expect(indices == [2, 0, 1])
        #expect(try await outcomes.next() == nil)
    }

    @Test("In the order of the input an outcome waits for those before it", .clauses("UC-20"))
    func inputOrder() async throws {
        let endings = Endings()
        let bench = try StreamBench(observers: [endings])
        let log = Log()
        let reading = Task { [service = bench.service] in
            for try await outcome in service.outcomes(of: Inputs(["a", "b", "c"]), order: .input) {
                log.note(outcome.value?.text ?? "failed")
            }
        }
        await untilIdle()
        #expect(bench.gate.view.inFlight.count == 3)
        bench.gate.answer("c")
        bench.gate.answer("b")
        await untilIdle()
        #expect(log.lines == [])
        bench.gate.answer("a")
        try await reading.joined()
        #expect(log.lines == ["a", "b", "c"])
    }

    @Test(
        "Never more than so many jobs are under way, and never fewer while there are more",
        .clauses("UC-20"),
        arguments: [(3, 3), (1, 1), (0, 1), (-5, 1), (100, 10)],
        JobOrder.allCases
    )
    func bound(limit: (asked: Int, expected: Int), order: JobOrder) async throws {
        let bench = try StreamBench()
        let targets = (0..<10).map { "\($0)" }
        let reading = Task { [service = bench.service] in
            var indices: [Int] = []
            for try await outcome in service.outcomes(
                of: Inputs(targets),
                maxConcurrent: limit.asked,
                order: order
            ) {
                indices.append(outcome.index)
            }
            return indices
        }
        for answered in 0..<10 {
            let expected = min(limit.expected, 10 - answered)
            await untilIdle()
            #expect(bench.gate.view.inFlight.count == expected)
            #expect(bench.gate.view.sent.count == min(10, answered + limit.expected))
            bench.gate.answer(targets[answered])
        }
        let indices = try await reading.joined()
        #expect((order == .input ? indices : indices.sorted()) == Array(0..<10))
        #expect(bench.gate.view.peak == limit.expected)
    }

    @Test("A reader that takes its time holds the input back", arguments: JobOrder.allCases)
    func backpressure(order: JobOrder) async throws {
        let bench = try StreamBench { _ in 200 }
        let taken = Mutex(0)
        let ahead = Mutex(0)
        let inputs = Inputs((0..<60).map { "\($0)" }) { given in
            let taken = taken.withLock { $0 }
            ahead.withLock { $0 = max($0, given - taken) }
        }
        let stream = bench.service.outcomes(of: inputs, maxConcurrent: 4, order: order)
        #expect(inputs.reads == 0)
        for try await _ in stream {
            await untilIdle()
            taken.withLock { $0 += 1 }
        }
        #expect(taken.withLock { $0 } == 60)
        // One outcome is with the reader and not counted yet.
        #expect(ahead.withLock { $0 } <= 5)
    }

    @Test("Nothing is read before the first outcome is asked for, nor for a stream that is dropped")
    func lazy() async throws {
        let bench = try StreamBench { _ in 200 }
        let inputs = Inputs(["a"])
        _ = bench.service.outcomes(of: inputs).makeAsyncIterator()
        await untilIdle()
        #expect(inputs.reads == 0 && bench.gate.view.sent == [])
    }

    @Test("No request is no outcome, however often one asks", arguments: JobOrder.allCases)
    func none(order: JobOrder) async throws {
        let bench = try StreamBench()
        let outcomes = bench.service.outcomes(of: Inputs([]), order: order).makeAsyncIterator()
        #expect(try await outcomes.next() == nil)
        #expect(try await outcomes.next() == nil)
    }

    @Test("Each iterator reads the requests anew")
    func twice() async throws {
        let bench = try StreamBench { _ in 200 }
        let stream = bench.service.outcomes(of: Inputs(["a", "b"]))
        var indices: [Int] = []
        for _ in 0..<2 { for try await outcome in stream { indices.append(outcome.index) } }
        #expect(indices.sorted() == [0, 0, 1, 1] && bench.gate.view.sent.count == 4)
    }

    @Test("However jobs, reader and input keep each other waiting, every request has its one outcome")
    func many() async throws {
        for limit in [1, 2, 7, 64] {
            for order in JobOrder.allCases {
                let bench = try StreamBench { target in
                    target.utf8.reduce(0) { $0 &+ $1 } % 3 == 0 ? 500 : 200
                }
                let inputs = Inputs((0..<300).map { "\($0)" }, breaks: true)
                var indices: [Int] = []
                do {
                    for try await outcome in bench.service.outcomes(
                        of: inputs,
                        maxConcurrent: limit,
                        order: order
                    ) {
                        indices.append(outcome.index)
                        if outcome.index.isMultiple(of: 5) { await untilIdle() }
                    }
                    Issue.record("the input's error was lost")
                } catch {}
                #expect((order == .input ? indices : indices.sorted()) == Array(0..<300))
            }
        }
    }
}
