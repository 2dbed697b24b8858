import RelayKit
import RelayTestSupport
import Testing

@Suite("How a stream of jobs is left", .closedRunQueue, .timeLimit(.minutes(5)))
struct JobStreamLeavingTests {
    @Test("Leaving the loop cancels what is under way and reads no more", arguments: JobOrder.allCases)
    func leaving(order: JobOrder) async throws {
        let endings = Endings()
        let bench = try StreamBench(observers: [endings])
        let targets = (0..<50).map { "\($0)" }
        let reading = Task { [service = bench.service] in
            for try await outcome in service.outcomes(of: Inputs(targets), maxConcurrent: 3, order: order) {
                return outcome.index
            }
            return -1
        }
        await untilIdle()
        #expect(bench.gate.view.inFlight.count == 3)
        bench.gate.answer("0")
        #expect(try await reading.joined() == 0)
        await untilIdle()
        let view = bench.gate.view
        #expect(view.inFlight.isEmpty && view.cancelled.count == view.sent.count - 1)
        // The place that the outcome left may have been filled before the loop was.
        #expect(view.sent.count <= 4)
        #expect(Set(bench.gate.view.cancelled).isSuperset(of: ["1", "2"]))
        #expect(endings.jobs.count { $0.failure == nil } == 1)
        #expect(endings.jobs.allSatisfy { $0.failure == nil || $0.failure?.kind == .cancelled })
    }

    @Test(
        "Cancelling the reader's task ends the stream and cancels what is under way",
        arguments: JobOrder.allCases
    )
    func cancelledTask(order: JobOrder) async throws {
        let endings = Endings()
        let bench = try StreamBench(observers: [endings])
        let inputs = Inputs(["a", "b", "c", "d"])
        let reading = Task { [service = bench.service] in
            let outcomes = service.outcomes(of: inputs, maxConcurrent: 2, order: order).makeAsyncIterator()
            let first = try await outcomes.next()
            let second = try await outcomes.next()
            return first == nil && second == nil
        }
        await untilIdle()
        #expect(bench.gate.view.inFlight.count == 2)
        reading.cancel()
        #expect(try await reading.joined())
        await untilIdle()
        #expect(bench.gate.view.cancelled.count == 2)
        #expect(endings.jobs.map(\.failure?.kind) == [.cancelled, .cancelled])
        #expect(bench.gate.view.sent.sorted() == ["a", "b"] && inputs.reads == 2)
    }

    @Test("A task that is cancelled already reads and sends nothing")
    func cancelledBefore() async throws {
        let bench = try StreamBench { _ in 200 }
        let inputs = Inputs(["a"])
        let reading = Task { [service = bench.service] in
            await untilCancelled()
            return try await service.outcomes(of: inputs).makeAsyncIterator().next() == nil
        }
        reading.cancel()
        #expect(try await reading.joined())
        await untilIdle()
        #expect(inputs.reads == 0 && bench.gate.view.sent == [])
    }

    @Test(
        "An input that breaks off ends the stream once, after the outcomes of what was read",
        arguments: JobOrder.allCases
    )
    func brokenInput(order: JobOrder) async throws {
        let bench = try StreamBench()
        let outcomes = bench.service
            .outcomes(of: Inputs(["a", "b"], breaks: true), order: order).makeAsyncIterator()
        async let answered: Void = {
            await untilIdle()
            bench.gate.answer("a")
            bench.gate.answer("b", 500)
        }()
        let ended = [try await outcomes.next(), try await outcomes.next()]
        await answered
        let indices = ended.map { $0?.index ?? -1 }
        #expect((order == .input ? indices : indices.sorted()) == [0, 1])
        await #expect(throws: InputBroken.self) { try await outcomes.next() }
        #expect(try await outcomes.next() == nil)
    }

    @Test("An input that breaks off at once leaves no outcome")
    func brokenAtOnce() async throws {
        let bench = try StreamBench()
        let outcomes = bench.service.outcomes(of: Inputs([], breaks: true)).makeAsyncIterator()
        await #expect(throws: InputBroken.self) { try await outcomes.next() }
        #expect(bench.gate.view.sent == [])
    }

    @Test("A newer request of a key cancels the one before it, and touches no other key", .clauses("UC-20"))
    func superseding() async throws {
        let endings = Endings()
        let bench = try StreamBench(observers: [endings])
        let reading = Task { [service = bench.service] in
            var ended: [Int: String] = [:]
            let inputs = Inputs(["a/1", "b/1", "free", "a/2", "free", "a/3"])
            let stream = service.outcomes(of: inputs) { request in
                request.http.target.contains("/") ? String(request.http.target.prefix(1)) : nil
            }
            for try await outcome in stream {
                #expect(ended[outcome.index] == nil)
                ended[outcome.index] = outcome.failure?.kind.rawValue ?? outcome.value?.text
            }
            return ended
        }
        await untilIdle()
        #expect(bench.gate.view.inFlight.sorted() == ["a/3", "b/1", "free", "free"])
        for target in ["free", "a/3", "b/1", "free"] { bench.gate.answer(target) }
        #expect(
            try await reading.joined()
                == [0: "cancelled", 1: "b/1", 2: "free", 3: "cancelled", 4: "free", 5: "a/3"]
        )
        #expect(bench.gate.view.cancelled.allSatisfy { ["a/1", "a/2"].contains($0) })
        #expect(endings.jobs.count == 6 && Set(endings.jobs.map(\.id)).count == 6)
    }

    @Test("A job that has ended is superseded by nothing")
    func endedKey() async throws {
        let bench = try StreamBench { _ in 200 }
        var ended: [Status?] = []
        for try await outcome in bench.service.outcomes(
            of: Inputs(["a", "b", "c"]),
            maxConcurrent: 1,
            superseding: { _ in "same" }
        ) {
            ended.append(outcome.value?.status)
        }
        #expect(ended == [200, 200, 200])
    }

    /// Gives its one request when the test says so, heedless of cancellation.
    private struct LateInput: AsyncSequence, AsyncIteratorProtocol, Sendable {
        typealias Failure = Never

        let asked: AsyncStream<Void>.Continuation
        let latch: AsyncStream<Void>

        func makeAsyncIterator() -> LateInput { self }

        func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> PlainRequest<HTTPResponse>? { await next() }

        func next() async -> PlainRequest<HTTPResponse>? {
            asked.yield()
            await Task { [latch] in for await _ in latch { return } }.value
            return Request(.get, "late")
        }
    }

    @Test("A request that comes after the stream was left does not begin")
    func lateRequest() async throws {
        let endings = Endings()
        let bench = try StreamBench(observers: [endings]) { _ in 200 }
        let (asked, asking) = AsyncStream<Void>.makeStream()
        let (latch, open) = AsyncStream<Void>.makeStream()
        let reading = Task { [service = bench.service] in
            await service.outcomes(of: LateInput(asked: asking, latch: latch)).makeAsyncIterator().next()
                == nil
        }
        for await _ in asked { break }
        reading.cancel()
        #expect(await reading.joined())
        open.yield()
        await untilIdle()
        #expect(bench.gate.view.sent == [] && endings.jobs.isEmpty)
    }

    @Test("A stream keeps its service until it is over", .clauses("X-13"))
    func serviceReleased() async throws {
        var bench: StreamBench? = try StreamBench()
        let gate = try #require(bench?.gate)
        weak let service = bench?.service
        let outcomes = try #require(bench).service.outcomes(of: Inputs(["a"])).makeAsyncIterator()
        bench = nil
        async let answered: Void = {
            await untilIdle()
            gate.answer("a")
        }()
        #expect(try await outcomes.next()?.value?.text == "a")
        await answered
        #expect(service != nil)
        #expect(try await outcomes.next() == nil)
    }
}
