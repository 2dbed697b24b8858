import RelayKit
import RelayTestSupport
import Testing

@Suite("A loader", .closedRunQueue, .timeLimit(.minutes(5)))
struct LoaderTests {
    /// The content of the answer as text.
    static let request = PlainRequest<String>(HTTPRequest(method: .get, target: "text")) { success in
        String(decoding: success.response.bytes, as: UTF8.self)
    }

    static let failed = Failure(.httpStatus, sent: .answered, "")

    @Test("A second start is refused while the first is under way, and sends nothing", .clauses("T-108"))
    func refused() async throws {
        let bench = try ServiceBench([.hold, .answer(200, [], "a"), .answer(200, [], "b")])
        let loader = Loader(Self.request, from: bench.service)
        var states = loader.states().makeAsyncIterator()
        #expect(await states.next() == .initial && bench.transport.sent.isEmpty)
        #expect(loader.startLoading() && !loader.startLoading())
        #expect(await states.next() == .loading(cached: nil))
        await untilIdle()
        #expect(!loader.startLoading())
        bench.transport.release()
        #expect(await states.next() == .success("a"))
        #expect(bench.transport.sent.count == 1)
        #expect(loader.startLoading())
        #expect(await states.next()?.value == "a", "the last good value stays while the next is loaded")
        await untilIdle()
        #expect(loader.state == .success("b"))
    }

    @Test("The last good value survives failures and reloads", .clauses("T-108"))
    func kept() async throws {
        let bench = try ServiceBench([
            .answer(500), .answer(200, [], "a"), .answer(500), .answer(404), .answer(200, [], "b"),
        ])
        let loader = Loader(Self.request, from: bench.service)
        let ends: [PlainLoadingState<String>] = [
            .failure(Self.failed, cached: nil), .success("a"), .failure(Self.failed, cached: "a"),
            .failure(Self.failed, cached: "a"), .success("b"),
        ]
        for end in ends {
            loader.startLoading()
            await untilIdle()
            #expect(loader.state == end)
        }
    }

    @Test("Observers hear of changes only, each from the state it found", .clauses("T-108"))
    func changes() async throws {
        let bench = try ServiceBench([.hold, .answer(200, [], "a")])
        let loader = Loader(Self.request, from: bench.service)
        var early = loader.states().makeAsyncIterator()
        #expect(await early.next() == .initial)
        loader.startLoading()
        var late = loader.states().makeAsyncIterator()
        #expect(await early.next() == .loading(cached: nil))
        loader.startLoading()
        #expect(await late.next() == .loading(cached: nil))
        await untilIdle()
        bench.transport.release()
        #expect(await early.next() == .success("a"), "the refused start was no change")
        #expect(await late.next() == .success("a"))
    }

    @Test("An observer that missed the stages between two equal states is not told the second")
    func missed() async throws {
        let bench = try ServiceBench([.answer(500), .answer(404)])
        var loader: Loader? = Loader(Self.request, from: bench.service)
        let observed = try #require(loader?.states())
        var states = observed.makeAsyncIterator()
        loader?.startLoading()
        await untilIdle()
        #expect(await states.next() == .failure(Self.failed, cached: nil))
        loader?.startLoading()
        await untilIdle()
        #expect(bench.transport.sent.count == 2)
        loader = nil
        #expect(await states.next() == nil, "the second failure is like the first")
    }

    @Test("An observer that goes, or whose task is cancelled, is heard of no more", .clauses("T-108"))
    func leaving() async throws {
        let bench = try ServiceBench([])
        let loader = Loader(Self.request, from: bench.service)
        do {
            var states = loader.states().makeAsyncIterator()
            _ = await states.next()
            #expect(loader.observerCount == 1)
        }
        #expect(loader.observerCount == 0)
        let states = loader.states()
        let task = Task {
            var seen = 0
            for await _ in states { seen += 1 }
            return seen
        }
        task.cancel()
        #expect(await task.joined() <= 1)
        #expect(loader.observerCount == 0)
    }

    @Test("Releasing a loader cancels its request and ends its observations", .clauses("T-108"))
    func released() async throws {
        let bench = try ServiceBench([.hold])
        var loader: Loader? = Loader(Self.request, from: bench.service)
        let states = try #require(loader?.states())
        loader?.startLoading()
        await untilIdle()
        loader = nil
        await untilIdle()
        var last: PlainLoadingState<String>?
        for await state in states { last = state }
        #expect(last == .loading(cached: nil))
    }
}
