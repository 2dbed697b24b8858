import RelayBase
import RelayConfig
import RelayInterface
import RelayJSON
import RelayRoute
import Testing

@testable import waystation

@Suite("Jobs on record")
struct JobRecordsTests {
    private static func job(_ id: Int, _ more: String = "") -> String {
        """
        {"id":"\(id)","route":"orders","state":"dead","end":"exhausted","request":{"method":"POST","path":"/secret"},\
        "created_at":"2026-11-21T04:17:00.000Z","labels":["a=b"],"durable":true,"attempt_count":1,\
        "last_failure":{"kind":"http_status","status":503,"upstream":"eu","detail":"secret","api_code":"secret"},"attempts":[\
        {"number":1,"upstream":"eu","address":"192.0.2.7:443","started_at":"2026-11-21T04:17:00.010Z",\
        "started_after_ms":10,"duration_ms":4,"result":"failure","status":503,"kind":"http_status",\
        "cause":"upstream","sent":"answered","detail":"secret","api_title":"secret","api_code":"secret","spent":true}]\(more)}
        """
    }

    private static func records(_ text: String) throws -> JobRecords {
        try JobRecords(parsing: Array(text.utf8), from: "it")
    }

    @Test("are read from a list, an object with one, a document and lines, each job once")
    func forms() throws {
        let (one, two) = (Self.job(1), Self.job(2))
        let forms = [
            "[\(one),\(two),\(one)]", #"{"jobs":[\#(one),\#(two)],"next":null}"#, "\(one)\n\n\(two)\n\(one)",
        ]
        for form in forms { #expect(try Self.records(form).jobs.map(\.id) == ["1", "2"], "\(form)") }
        #expect(try Self.records(one).jobs.map(\.id) == ["1"])
    }

    @Test(
        "are refused as what they are not",
        arguments: ["", "nothing", "[]", "[1]", "{}", #"{"id":"1"}"#, "1\n{"]
    )
    func faults(text: String) { #expect(throws: CommandFailure.self) { try Self.records(text) } }

    @Test("are saved without what an upstream or a caller said, and read again")
    func saved() throws {
        let records = try Self.records(Self.job(1))
        let text = String(decoding: records.lines, as: UTF8.self)
        #expect(!text.contains("secret") && !text.contains("192.0.2.7"), "\(text)")
        let again = try Self.records(text)
        #expect(again.lines == records.lines)
        #expect(again.jobs[0].attempts[0].status == 503)
    }

    @Test(
        "match a filter as the daemon's do",
        arguments: [
            ("state=dead", true), ("state=expired|dead", true), ("state=expired", false),
            ("route=orders", true),
            ("route=others", false), ("end=exhausted", true), ("kind=http_status,status=503", true),
            ("status=500", false), ("upstream=eu,label=a=b", true), ("upstream=us", false),
            ("label=a=c", false),
            ("since=2026-11-21T04:17:00Z", true), ("since=2026-11-21T04:17:01Z", false),
            ("before=2026-11-21T04:17:01Z", true), ("before=2026-11-21T04:17:00Z", false),
            ("reason=backoff", false),
            ("all", true),
        ]
    )
    func filters(clause: String, expected: Bool) throws {
        let job = try Self.records(Self.job(1)).jobs[0]
        #expect(try WhereClause([clause], now: 0).matches(job) == expected)
    }
}

@Suite("A rehearsal for people")
struct RehearsalTextTests {
    private static let file = """
        {"listeners":[{"name":"jobs","unix":"/run/a/jobs.sock","role":"submit"}],
         "routes":{"orders":{"upstreams":[{"name":"eu","url":"https://eu.example/"}],
          "recovery":[{"name":"again","on":["503"],"retry":{"max_attempts":4,"honor_retry_after":true}},
           {"name":"other","on":["404"],"fail":{}}]\(unbounded)}}}
        """

    private static func job(
        _ id: String,
        _ attempt: String,
        route: String = "orders",
        upstream: String = "eu"
    ) -> String {
        """
        {"id":"\(id)","route":"\(route)","state":"dead","created_at":"2026-11-21T04:17:00Z","durable":true,
         "attempt_count":1,"attempts":[{"number":1,"upstream":"\(upstream)","started_at":"2026-11-21T04:17:00Z",
         "result":"failure",\(attempt),"spent":true}]}
        """
    }

    private static let failed = #""kind":"http_status","status":503,"cause":"upstream","sent":"answered""#
    private static let disliked = #""kind":"http_status","status":422,"cause":"request","sent":"refused""#
    private static let cancelled = #""kind":"interrupted","cause":"relay","sent":"unknown""#

    private static func rehearsal(_ answers: [String], _ seen: (String) -> Void) throws -> Rehearsal {
        let jobs = [
            job("1", failed), job("2", failed), job("3", disliked), job("4", cancelled, upstream: "us"),
            job("5", failed, route: "gone"), job("6", failed),
        ]
        return try CommandTests.rehearsal(of: jobs, with: file) { lines in
            seen(String(decoding: lines, as: UTF8.self))
            return answers.joined(separator: "\n")
        }
    }

    private static let delivered =
        #"{"courses":[{"attempts":2,"length_ms":1000,"state":"succeeded","rules":["again"],"held_back":[]},"#
        + #"{"attempts":3,"length_ms":61000,"state":"succeeded","rules":["again"],"held_back":["other"]}]}"#
    private static let dead =
        #"{"courses":[{"attempts":4,"length_ms":9,"state":"dead","end":"exhausted","rules":["again"],"held_back":[]}]}"#
    private static let after =
        #"{"courses":[{"attempts":1,"length_ms":9,"state":"retrying","rules":[],"held_back":[],"#
        + #""unknown":{"why":"after_record","upstream":"eu","at":1}}]}"#

    @Test("counts what was delivered, what was not and what no record knows")
    func text() throws {
        var order = ""
        let rehearsal = try Self.rehearsal([Self.delivered, Self.dead, Self.dead, Self.after]) { order = $0 }
        let lines = order.split(separator: "\n").map(String.init)
        #expect(lines.count == 5)
        // A word on a request alone is none on others.
        #expect(!lines[0].contains("422") && lines[0].contains(#"[1795234620000,"503",0]"#), "\(lines[0])")
        #expect(lines[3].contains(#""own":{"eu":[[1795234620000,"422",0]]}"#), "\(lines[3])")
        let moments = Moments(now: 1_795_234_620_000, isUTC: true)
        let text = RehearsalText(rehearsal: rehearsal, file: "new.json", moments: moments).text(
            for: .standard
        )
        #expect(
            text == """
                ROUTE   JOBS  WOULD HAVE BEEN  WOULD NOT  CANNOT BE KNOWN  ATTEMPTS  ON RECORD  HALF WITHIN  ALL WITHIN
                gone       1                0          0                1         0          0            –           –
                orders     5                1          2                2  10 to 11          3        1m 1s       1m 1s
                With the rules of new.json, of 6 jobs on record 1 would have been delivered:
                  the first by 04:18:01.000, half by 04:18:01.000, the last by 04:18:01.000.
                2 would not have been: 2 dead, exhausted.
                Of 3 it cannot be known: 1 whose next attempt comes more than 10 s after the
                  last one on record of its upstream; 1 of a route that the file does not
                  have; 1 without an attempt on record that says something of an upstream.
                Those whose end is known would have taken 10 to 11 attempts; on record are 3.
                Each job is alone, since the file has no protections on its route. Tokens are
                  there. An upstream of the same name is taken for the same one.
                A moment is known within 10 s of an attempt on record of the same route,
                  upstream and class of request, with none between that ended otherwise; of
                  two unlike ones around it each is tried.
                Retry-After is not on record: rules that heed it wait as without it.

                """,
            "\(text)"
        )
        let document = try JSONValue(parsing: rehearsal.document(file: "new.json"))
        #expect(document["would_have_been"] == .number(JSONNumber(1)))
        #expect(document["each"]?.elements.count == 6)
    }

    @Test(
        "takes an attempt for what a record can say of an upstream, and for nothing else",
        arguments: [
            (failed, #"[1795234620000,"503",0]"#), (disliked, nil), (cancelled, nil),
            (#""status":202"#, nil), (#""kind":"ok","sent":"unknown""#, nil),
            (#""kind":"503","sent":"unknown""#, nil),
            (#""kind":"http_status","status":99,"cause":"upstream""#, nil),
            (
                #""kind":"connection_terminated","sent":"perhaps""#,
                #"[1795234620000,"connection_terminated",0,"unknown"]"#
            ),
            (
                #""kind":"api_error","status":502,"sent":"answered""#,
                #"[1795234620000,"api_error",0,"answered",502]"#
            ),
            (#""kind":"http_status","status":503,"look_up":"unclear""#, nil),
            // The request's fault, whatever the status; and another server by its name.
            (#""kind":"http_status","status":500,"cause":"request""#, nil),
            (#""kind":"http_status","status":503,"address":"192.0.2.1:8443""#, nil),
            (#""kind":"http_status","status":503,"address":"192.0.2.1:443""#, #"[1795234620000,"503",0]"#),
        ]
    )
    func points(attempt: String, point: String?) throws {
        let records = try JobRecords(parsing: Array(Self.job("1", attempt).utf8), from: "it")
        let eu = Upstream(name: "eu", origin: .tcp(host: "eu.example", port: 443, isTLS: true))
        let route = Route(name: "orders", policy: RoutePolicy(upstreams: [eu]))
        let shared = RecordedAttempts(records.jobs, route).shared.json.encoded()
        #expect(String(decoding: shared, as: UTF8.self) == (point.map { #"{"eu":[\#($0)]}"# } ?? "{}"))
    }

    @Test("says so where ends depend on chance, and where a trial was not answered")
    func chance() throws {
        let both = Self.delivered.dropLast(2) + "," + Self.dead.dropFirst(#"{"courses":["#.utf8.count)
        let rehearsal = try Self.rehearsal([String(both), Self.dead, Self.dead, Self.dead]) { _ in }
        let figures = RehearsalFigures(rehearsal.jobs)
        // An end that depends on chance is no figure either.
        #expect(
            figures.unknown[.chance] == 1 && (figures.least, figures.most, figures.onRecord) == (12, 12, 3)
        )
        #expect(throws: CommandFailure.self) { try Self.rehearsal([Self.dead]) { _ in } }
        #expect(throws: CommandFailure.self) { try Self.rehearsal(["1", "2", "{", "4"]) { _ in } }
    }
}
