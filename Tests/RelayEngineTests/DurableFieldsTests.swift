import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute
import RelayServer
import RelayTestSupport
import Testing

@Suite("The terms that a caller may set for a job that is kept", .timeLimit(.minutes(1)))
struct DurableFieldsTests {
    private let time = VirtualTime(.manual)

    private func admit(
        _ pairs: [(String, String)],
        _ change: (inout RoutePolicy) -> Void = { _ in },
        engine given: Engine? = nil,
        user: UInt32 = 1000
    ) throws(Problem) -> Admission {
        let engine =
            given ?? Engine(snapshot: EngineBench.snapshot(change), time: time, entropy: SeededEntropy())
        var fields = HeaderFields()
        for (name, value) in pairs { fields.append(name, value) }
        return try engine.admit(
            route: "up",
            target: "x",
            method: .post,
            terms: RequestTerms(fields),
            length: 0,
            client: ClientIdentity(user: user, process: 1, groups: [], unit: nil)
        )
    }

    private func refusal(_ pairs: [(String, String)]) -> Problem.Code? {
        do throws(Problem) {
            _ = try admit(pairs)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(
        "A request is kept when it says so, or when what it says means nothing otherwise",
        arguments: [
            ([("Prefer", "respond-async")], true), ([("Prefer", "wait=5, Respond-Async")], true),
            ([("Prefer", "wait=5"), ("Prefer", "respond-async; x=1")], true),
            ([("Prefer", "respond-async=1")], false), ([("Prefer", "wait=5")], false), ([], false),
            ([("Waystation-Delay", "5s")], true),
            ([("Waystation-Not-Before", "2020-01-31T08:00:00Z")], true),
            ([("Waystation-Expires-After", "1h")], true), ([("Waystation-Ordering-Key", "k")], true),
            ([("Waystation-Supersede-Key", "k")], true), ([("Priority", "u=1")], false),
            ([("Idempotency-Key", "\"k\"")], false), ([("Waystation-Label", "a=b")], false),
        ] as [([(String, String)], Bool)]
    )
    func asks(fields: [(String, String)], isDurable: Bool) throws {
        #expect(try admit(fields).isDurable == isDurable)
        #expect(try admit(fields, { $0.delivery.mode = .durable }).isDurable)
    }

    @Test(
        "A job that would expire before it may be sent is refused",
        arguments: [
            ([("Waystation-Delay", "1h"), ("Waystation-Expires-After", "1h")], true),
            ([("Waystation-Delay", "59m"), ("Waystation-Expires-After", "1h")], false),
            ([("Waystation-Delay", "1h"), ("Waystation-Timeout", "10m")], true),
            ([("Waystation-Delay", "8d")], true), ([("Waystation-Delay", "6d")], false),
            ([("Waystation-Not-Before", "2028-01-01T00:00:00Z")], true),
            ([("Waystation-Not-Before", "2020-01-01T00:00:00Z"), ("Waystation-Expires-After", "1s")], false),
        ] as [([(String, String)], Bool)]
    )
    func tooLate(fields: [(String, String)], isRefused: Bool) throws {
        let change: (inout RoutePolicy) -> Void = { $0.delivery.expiresAfter = .seconds(7 * 86_400) }
        do throws(Problem) {
            _ = try admit(fields, change)
            #expect(!isRefused)
        } catch {
            #expect(isRefused && error.code == .badHeader, "\(error)")
            #expect(error.detail.contains("expire") || error.detail.contains("365 days"))
        }
    }

    @Test("Every field finds its place, and those of other standards go on to the upstream")
    func options() throws {
        let admission = try admit([
            ("Prefer", "respond-async, wait=7"), ("Waystation-Delay", "10m"),
            ("Waystation-Expires-After", "1h"), ("Waystation-Ordering-Key", "customer 42"),
            ("Waystation-Supersede-Key", "s"), ("Priority", "u=1, i"), ("Idempotency-Key", "\"8841 \\\"x\""),
            ("X-One", "1"),
        ])
        try #require(admission.isDurable)
        let options = admission.keeping
        #expect(options.due == .after(.seconds(600)) && options.expiresAfter == .seconds(3600))
        #expect(options.orderingKey == "customer 42" && options.supersedeKey == "s")
        #expect(options.priority == 1 && options.idempotencyKey == "8841 \"x")
        #expect(options.wait == .seconds(7))
        #expect(admission.fields.pairs.map(\.name) == ["Priority", "Idempotency-Key", "X-One"])
    }

    @Test(
        "A date is read with its fraction and its zone",
        arguments: [
            ("2027-01-15T08:00:00Z", 1_800_000_000_000), ("2027-01-15T08:00:00.25z", 1_800_000_000_250),
            ("2027-01-15t09:30:00.1234+01:30", 1_800_000_000_123),
            ("2027-01-15T00:00:00-08:00", 1_800_000_000_000), ("2020-01-01T00:00:00Z", 1_577_836_800_000),
        ]
    )
    func dates(text: String, date: Int64) throws {
        let admission = try admit([("Waystation-Not-Before", text)])
        #expect(admission.isDurable && admission.keeping.due == .date(date))
    }

    @Test(
        "A field that is malformed or out of bounds is refused",
        arguments: [
            ("Waystation-Delay", "366d"), ("Waystation-Delay", "5"), ("Waystation-Expires-After", "999ms"),
            ("Waystation-Expires-After", "366d"), ("Waystation-Ordering-Key", ""),
            ("Waystation-Ordering-Key", String(repeating: "k", count: 257)),
            ("Waystation-Supersede-Key", String(repeating: "k", count: 257)),
            ("Waystation-Not-Before", "2027-01-15 08:00:00Z"),
            ("Waystation-Not-Before", "2027-02-29T08:00:00Z"),
            ("Waystation-Not-Before", "2027-01-15T08:00:00"),
            ("Waystation-Not-Before", "2027-01-15T08:00:00.Z"),
            ("Waystation-Not-Before", "2027-01-15T08:00:00+24:00"),
            ("Waystation-Not-Before", "2029-01-15T08:00:00Z"),
            ("Waystation-Not-Before", "1969-12-31T23:59:59Z"), ("Waystation-Label", "=x"),
            ("Idempotency-Key", ""),
            ("Idempotency-Key", "\"\""), ("Idempotency-Key", "\"a"), ("Idempotency-Key", "a b"),
            ("Idempotency-Key", "\"a\\b\""), ("Idempotency-Key", "\"a\"b\""), ("Idempotency-Key", "a,b"),
            ("Idempotency-Key", String(repeating: "k", count: 257)), ("Priority", "u=8"), ("Priority", "u=9"),
            ("Priority", "u=-1"), ("Priority", "i, u=10"), ("Priority", "u=1.5"), ("Priority", "u="),
        ]
    )
    func malformed(name: String, value: String) {
        #expect(refusal([(name, value)]) == .badHeader)
    }

    @Test("A delay and a date exclude each other, and a key stands once")
    func twice() {
        #expect(
            refusal([("Waystation-Delay", "1s"), ("Waystation-Not-Before", "2027-01-15T08:00:00Z")])
                == .badHeader
        )
        #expect(refusal([("Idempotency-Key", "a"), ("Idempotency-Key", "a")]) == .badHeader)
    }

    @Test(
        "A wait has a ceiling, and a preference or priority that is malformed is ignored",
        arguments: [
            ("wait=301", "u=7", 300, 7), ("wait=99999999999999999999", "v=8", 300, 3),
            ("wait=-1", "", nil, 3), ("wait=", "u", nil, 3), ("wait=x", "i", nil, 3),
            ("wait=0", "u=2;a=1, u=5", 0, 5), ("wait = 3", "x=1, u=0", 3, 0),
        ] as [(String, String, Int?, UInt8)]
    )
    func ignored(wait: String, priority: String, seconds: Int?, urgency: UInt8) throws {
        let admission = try admit([("Prefer", "respond-async, \(wait)"), ("Priority", priority)])
        try #require(admission.isDurable)
        let options = admission.keeping
        #expect(options.wait == seconds.map { .seconds($0) } && options.priority == urgency)
    }

    @Test("While a request with a key is under way, no other caller's and no other key's request is refused")
    func inProgress() throws {
        let engine = Engine(snapshot: EngineBench.snapshot(), time: time, entropy: SeededEntropy())
        func code(_ key: String, user: UInt32 = 1000, _ more: [(String, String)] = []) -> Problem.Code? {
            do throws(Problem) {
                _ = try admit([("Idempotency-Key", key)] + more, engine: engine, user: user)
                return nil
            } catch {
                return error.code
            }
        }
        var first: Admission? = try admit([("Idempotency-Key", "\"k\"")], engine: engine)
        do throws(Problem) {
            _ = try admit([("Idempotency-Key", "k")], engine: engine)
            Issue.record("the second request with the key was let in")
        } catch {
            #expect(error.code == .idempotencyInProgress && error.job == first?.id && error.retryAfter != nil)
        }
        #expect(code("k2") == nil && code("k", user: 1001) == nil)
        #expect(code("k", [("Prefer", "respond-async")]) == nil)
        // An admission that never runs holds its key no longer than itself.
        first = nil
        #expect(code("k") == nil && first == nil)
    }

    @Test(
        "A caller that has all of an answer may use its key at once, on any connection",
        arguments: [false, true]
    )
    func released(streams: Bool) async throws {
        let engine = Engine(snapshot: EngineBench.snapshot(), time: time, entropy: SeededEntropy())
        let bench = Bench([streams ? .stream(PieceBody([[1]], length: nil)) : .answer(200)])
        let key = [("Idempotency-Key", "\"k\"")]
        let admission = try admit(key, engine: engine)
        let run = RequestRun(engine, admission, .empty, bench.relay)
        #expect(throws: Problem.self) { try admit(key, engine: engine) }
        let outcome = await run.finish()
        #expect(outcome.status == 200)
        if streams {
            #expect(throws: Problem.self) { try admit(key, engine: engine) }
            run.answerEnded(.whole)
        }
        #expect(throws: Never.self) { try admit(key, engine: engine) }
        run.letGo()
    }
}
