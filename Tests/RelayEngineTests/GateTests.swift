import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute
import RelayServer
import RelayTestSupport
import Testing

@Suite("The requests that a caller may send", .timeLimit(.minutes(5)))
struct GateTests {
    private func engine(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Engine {
        var policy = RoutePolicy(upstreams: [Upstream(name: "u", origin: .unix(path: "/u"))])
        change(&policy)
        var settings = Snapshot.Settings()
        settings.maxRequestBody = 1000
        let snapshot = Snapshot(
            routes: [Route(name: "billing", policy: policy)],
            vault: CredentialVault([], secrets: [:]),
            settings: settings
        )
        return Engine(snapshot: snapshot, time: VirtualTime(), entropy: SeededEntropy())
    }

    private func refusal(
        _ engine: Engine,
        route: String = "billing",
        method: Method = .get,
        fields: [(String, String)] = [],
        length: UInt64? = 0,
        client: ClientIdentity? = nil
    ) -> Problem? {
        do throws(Problem) {
            _ = try engine.admit(
                route: route,
                target: "x",
                method: method,
                terms: RequestTerms(make(fields)),
                length: length,
                client: client
            )
            return nil
        } catch {
            return error
        }
    }

    private func make(_ pairs: [(String, String)]) -> HeaderFields {
        var fields = HeaderFields()
        for (name, value) in pairs { fields.append(name, value) }
        return fields
    }

    @Test("An unknown route is 404 with the nearest name")
    func unknownRoute() {
        let problem = refusal(engine(), route: "billng")
        #expect(problem?.code == .routeNotFound && problem?.didYouMean == "billing")
    }

    @Test(
        "allow_users and allow_groups name who may use a route",
        arguments: [(1000, [5], true), (1001, [77], true), (1001, [5], false), (0, [0], false)]
            as [(
                UInt32, [UInt32], Bool
            )]
    )
    func callers(user: UInt32, groups: [UInt32], isAllowed: Bool) {
        let engine = engine {
            $0.callers.users = [1000]
            $0.callers.groups = [77]
        }
        let client = ClientIdentity(user: user, process: 1, groups: groups, unit: nil)
        #expect((refusal(engine, client: client) == nil) == isAllowed)
        #expect(refusal(engine)?.code == .notAllowed)
    }

    @Test(
        "A request that cannot be relayed is refused before its body is asked for",
        arguments: [
            ("CONNECT", [], 0, Problem.Code.notImplemented), ("TRACE", [], 0, .notImplemented),
            ("POST", [], 1001, .contentTooLarge), ("GET", [("Via", "1.1 waystationd")], 0, .loop),
            ("GET", [("Waystation-Timeout", "5")], 0, .badHeader),
            ("GET", [("Waystation-Timeout", "0s")], 0, .badHeader),
            ("GET", [("Waystation-Timeout", "366d")], 0, .badHeader),
            ("GET", [("Waystation-Attempt-Timeout", "366d")], 0, .badHeader),
            ("GET", [("Waystation-Max-Attempts", "0")], 0, .badHeader),
            ("GET", [("Waystation-Max-Attempts", "x")], 0, .badHeader),
            ("GET", [("Waystation-Fallback", "no")], 0, .badHeader),
            ("GET", [("Waystation-Timeuot", "5s")], 0, .badHeader),
            ("GET", [("Waystation-Timeout", "5s"), ("waystation-timeout", "6s")], 0, .badHeader),
        ] as [(String, [(String, String)], UInt64, Problem.Code)]
    )
    func refused(method: String, fields: [(String, String)], length: UInt64, code: Problem.Code) {
        let problem = refusal(engine(), method: Method(rawValue: method), fields: fields, length: length)
        #expect(problem?.code == code && problem?.route == "billing")
    }

    @Test("A draining relay says so, and when to come back")
    func unavailable() {
        let draining = engine()
        draining.drain()
        #expect(refusal(draining)?.code == .draining && refusal(draining)?.retryAfter != nil)
    }

    @Test("A reload keeps the permits and figures of routes that stay")
    func counters() async {
        let engine = engine()
        let old = engine.snapshot
        let state = old.routes["billing"]?.state
        guard case .permitted(let permit)? = state?.enter() else { return }
        state?.meter.count(
            JobReport(JobChange(id: JobID(high: 0, low: 1), route: "billing", user: nil, state: .dead)),
            shard: 0,
            wall: 1_000
        )
        let next = Snapshot(
            routes: [old.routes["billing"]].compactMap { $0?.route },
            vault: old.vault,
            settings: Snapshot.Settings(),
            previous: old
        )
        engine.install(next)
        #expect(engine.snapshot.routes["billing"]?.state.figures.requests == 1)
        #expect(engine.snapshot.routes["billing"]?.state.load.inFlight == 1)
        _ = consume permit
        #expect(engine.snapshot.routes["billing"]?.state.load.inFlight == 0)
    }

    @Test("The last jobs are found by id, older ones are forgotten")
    func recent() {
        let jobs = RecentJobs(capacity: 3)
        let route = engine().snapshot.routes["billing"]
        let ids = (1...4).map { JobID(milliseconds: Int64($0), random: (0, 0)) }
        for id in ids {
            guard let route else { continue }
            let context = JobContext(
                id: id,
                route: route.route,
                method: .get,
                target: "a?secret=1",
                options: JobOptions(),
                client: nil
            )
            let outcome = Outcome(context, HTTPResponse(status: 200), by: .upstream)
            jobs.heard(.ended(outcome.report), at: 1)
        }
        #expect(ids.map { jobs.find($0) != nil } == [false, true, true, true])
        let path = jobs.find(ids[3])?.report.context?.path
        #expect(path == "/a")
    }
}
