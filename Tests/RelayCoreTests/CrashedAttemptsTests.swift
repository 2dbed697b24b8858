import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Attempts that a crash cuts off", .runQueue, .timeLimit(.minutes(5)))
struct CrashedAttemptsTests {
    private static let order = Body.bytes(Array(#"{"reference":"a"}"#.utf8))

    /// A route that asks before it repeats, which it does twice with whatever it is given.
    private func asking(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
        makeRoute {
            $0.verification = verification()
            $0.maxAttempts = 2
            $0.recovery = [rule("again", ["any"], retry(9, methods: .any))]
            change(&$0)
        }
    }

    /// Has so many runs cut off by crashes, one after the other, on the record of the store.
    private func crash(
        _ count: Int,
        _ history: inout JobHistory,
        _ method: Method = .post,
        at upstream: String = "one",
        on route: Route
    ) {
        for _ in 0..<count {
            history.attempts += 1
            history.spentAttempts += 1
            let begun = BegunAttempt(upstream: upstream, beganAt: 1)
            history.count(Attempt(interrupted: begun, number: history.attempts), on: route, method)
        }
    }

    @Test("After the first they are questions where the upstream is asked first, and spend nothing")
    func questions() async {
        var history = JobHistory()
        crash(3, &history, on: asking())
        #expect(history.spentAttempts == 1 && history.attempts == 3)
    }

    @Test(
        "Where nobody is asked they are the request itself, which is sent no more often than is allowed",
        arguments: [(.post, "one", false), (.put, "one", false), (.get, "one", true), (.post, "gone", true)]
            as [(Method, String, Bool)]
    )
    func requests(_ method: Method, _ upstream: String, asks: Bool) async {
        let route = asking {
            $0.upstreams.append(Upstream(name: "two", origin: .unix(path: "/run/two")))
            if !asks { $0.verification = nil }
        }
        var history = JobHistory()
        crash(2, &history, method, at: upstream, on: route)
        #expect(history.spentAttempts == 2)
        let bench = Bench([.answer(201)])
        let run = await bench.deliver(method, on: route, history, body: Self.order)
        #expect(run.words == "dead exhausted" && bench.transport.sent.isEmpty)
    }

    @Test("A request that has nothing to ask by counts, as the run that sends it says so before")
    func unaskable() async {
        let (bench, route) = (Bench([.answer(201)]), asking())
        var history = JobHistory()
        crash(1, &history, .put, on: route)
        let run = await bench.deliver(.put, on: route, history, body: .bytes(Array("{}".utf8)))
        #expect(run.words == "succeeded 201 upstream" && run.attempts.map(\.lookUp) == [.unclear, nil])
        history.attempts += 1
        history.count(run.attempts[0], on: route, .put)
        crash(1, &history, .put, on: route)
        #expect(history.spentAttempts == 2)
    }
}
