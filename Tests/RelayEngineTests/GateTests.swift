import RelayCore
import RelayEngine
import RelayJSON
import RelayTestSupport
import Testing

@Suite("Who may send what", .timeLimit(.minutes(1)))
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
                fields: make(fields),
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
        #expect(problem?.status == 404)
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
        let client = ClientIdentity(user: user, group: groups[0], process: 1, groups: groups, unit: nil)
        #expect((refusal(engine, client: client) == nil) == isAllowed)
        #expect(refusal(engine)?.code == .notAllowed)
    }

    @Test(
        "What cannot be relayed is refused before its body is asked for",
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

    @Test("The relay's own fields are read and taken away, the others go on untouched")
    func fields() throws {
        let sorted = try RelayFields(
            make([
                ("Host", "relay"), ("X-One", "1"), ("Waystation-Timeout", "2s"), ("Content-Length", "5"),
                ("Waystation-Attempt-Timeout", "500ms"), ("waystation-max-attempts", "2"), ("X-one", "2"),
                ("Waystation-Fallback", "off"), ("Prefer", "wait=5"), ("Expect", "100-continue"),
                ("Via", "1.1 other"),
            ])
        )
        #expect(sorted.options.timeout == .seconds(2) && sorted.options.attemptTimeout == .milliseconds(500))
        #expect(sorted.options.maxAttempts == 2 && !sorted.options.allowsFallback && !sorted.wantsDurable)
        #expect(
            sorted.forwarded.pairs.map { "\($0.name)=\($0.value)" } == [
                "X-One=1", "X-one=2", "Via=1.1 other",
            ]
        )
    }

    @Test(
        "Every problem has a title, a failing status and a body that is its own documentation",
        arguments: Problem.Code.allCases
    )
    func problems(code: Problem.Code) throws {
        var problem = Problem(code, "why \"it\" failed")
        problem.retryAfter = .milliseconds(1500)
        let body = try JSONValue(parsing: problem.body)
        #expect(body["code"] == .string(code.rawValue) && body["detail"] == .string("why \"it\" failed"))
        #expect(body["type"] == .string("urn:waystation:problem:\(code.rawValue)"))
        #expect(body["retry_after_ms"] == .number(JSONNumber(text: "1500")))
        #expect(code.status.rawValue >= 400 && !code.title.isEmpty)
    }

    @Test(
        "Only this relay's own name in Via is a loop",
        arguments: [
            ("1.1 waystationd", true), ("1.0 other, 1.1 waystationd (0.1)", true),
            ("HTTP/1.1\twaystationd", true),
            ("1.1 my-waystationd-proxy", false), ("1.1 other (waystationd)", false), ("waystationd", false),
            ("", false),
        ]
    )
    func loops(via: String, isLoop: Bool) throws {
        #expect(try RelayFields(make([("Via", via)])).isLoop == isLoop)
    }

    @Test("A label is kept with the job, and does not ask for durable keeping")
    func labels() throws {
        let sorted = try RelayFields(make([("Waystation-Label", "order=1"), ("Waystation-Label", "b=2")]))
        #expect(sorted.options.labels == ["order=1", "b=2"] && !sorted.wantsDurable)
        #expect(throws: Problem.self) { try RelayFields(make([("Waystation-Label", "nothing")])) }
    }

    @Test("A reload keeps the places and counters of routes that stay")
    func counters() async {
        let engine = engine()
        let old = engine.snapshot
        #expect(old.routes["billing"]?.state.tryEnter() == true)
        let next = Snapshot(
            routes: [old.routes["billing"]].compactMap { $0?.route },
            vault: old.vault,
            settings: Snapshot.Settings(),
            previous: old
        )
        engine.install(next)
        #expect(engine.snapshot.routes["billing"]?.state.counters.requests == 1)
        #expect(engine.snapshot.routes["billing"]?.state.load.inFlight == 1)
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
            jobs.keep(
                FinishedJob(
                    context: context,
                    outcome: Outcome(ending: .answered(HTTPResponse(status: 200), .upstream), attempts: []),
                    acceptedAt: 0,
                    finishedAt: 1
                )
            )
        }
        #expect(ids.map { jobs.find($0.description) != nil } == [false, true, true, true])
        let text = jobs.find(ids[3].description).map { String(decoding: $0.document().bytes, as: UTF8.self) }
        #expect(text?.contains("\"path\":\"/a\"") == true && text?.contains("secret") == false)
    }
}
