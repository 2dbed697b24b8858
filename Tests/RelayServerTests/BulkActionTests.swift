import RelayBase
import RelayJSON
import RelayJobs
import Testing

@testable import RelayServer

@Suite("The document of an action on many jobs")
struct BulkActionTests {
    private func parse(_ document: String) throws -> BulkAction { try BulkAction(Array(document.utf8)) }

    @Test("Others match where another number does, and where not all was looked at only where more do")
    func seen() throws {
        func means(_ seen: String, _ count: Int, _ isWhole: Bool) throws -> Bool {
            try parse(#"{"action":"drop","filter":{}\#(seen)}"#).means(others: count, isWhole)
        }
        for isWhole in [true, false] {
            #expect(try !means("", 7, isWhole) && !means(#","seen":7"#, 7, isWhole))
            #expect(try means(#","seen":7"#, 8, isWhole))
            #expect(try means(#","seen":7"#, 6, isWhole) == isWhole)
        }
    }

    @Test(
        "It counts and does nothing, and spares what may have been carried out, unless it says otherwise",
        arguments: [
            (#"{"action":"retry","filter":{}}"#, "retry counts spares 10000"),
            (
                #"{"filter":{},"action":"retry","unknown":true,"dry_run":false,"limit":1}"#,
                "retry acts takes 1"
            ),
            (#"{"action":"retry","filter":{},"unknown":false,"limit":10000}"#, "retry counts spares 10000"),
            (#"{"action":"drop","filter":{},"dry_run":true}"#, "drop counts takes 10000"),
            (#"{"action":"expunge","filter":{},"cursor":null}"#, "expunge counts takes 10000"),
            (#"{"action":"drop","filter":{},"unknown":true}"#, "invalid_job /unknown"),
            (#"{"action":"retry","filter":{},"unknown":null}"#, "invalid_job /unknown"),
            (#"{"action":"retry","filter":{},"dry_run":0,"limit":0}"#, "invalid_job /dry_run /limit"),
            (#"{"action":"retry","filter":{},"limit":1.5}"#, "invalid_job /limit"),
            (#"{"action":"retry","filter":{},"limit":1e99}"#, "invalid_job /limit"),
            (#"{"action":"retry","filter":null}"#, "invalid_job /filter"),
            (#"{"action":null,"filter":{}}"#, "invalid_job /action"),
            (#"{"action":"retry","filter":{},"dry_run":true,"dry_run":false}"#, "invalid_job"),
            (#"{"action":"retry","filter":{}} x"#, "invalid_job"), ("", "invalid_job"),
            ("\u{0}", "invalid_job"),
            ("[]", "invalid_job "), (String(repeating: "[", count: 100_000), "invalid_job"),
        ]
    )
    func defaults(document: String, outcome expected: String) throws {
        let read = try outcome {
            let action = try parse(document)
            return "\(action.action.rawValue) \(action.isDryRun ? "counts" : "acts") "
                + "\(action.filter.sparesUncertain ? "spares" : "takes") \(action.limit)"
        }
        #expect(read == expected)
    }

    @Test("Every word of a filter is heard")
    func filter() throws {
        let id = JobID(milliseconds: 1, random: (2, 3))
        var filter = JobFilter(ids: [id])
        filter.route = "hooks"
        filter.states = [.dead, .held]
        filter.reason = .backoff
        filter.end = .exhausted
        filter.failureKind = "http_status"
        filter.failureStatus = 503
        filter.upstream = "eu"
        filter.label = "order=1"
        filter.createdFrom = 0
        filter.createdBefore = 1_000
        let document = """
            {"action":"cancel","filter":{"ids":["\(id)"],"route":"hooks","state":["dead","held"],"reason":"backoff",
            "end":"exhausted","failure_kind":"http_status","status":503,"upstream":"eu","label":"order=1",
            "created_after":"1970-01-01T00:00:00Z","created_before":"1970-01-01T00:00:01Z"}}
            """
        #expect(try parse(document).filter == filter)
        // A run's document says each of them again.
        var json = JSONObjectWriter()
        json.member("action", "cancel")
        filter.write("filter", into: &json)
        #expect(try BulkAction(json.bytes).filter == filter)
        let written = try JSONValue(parsing: json.bytes)["filter"]
        for name in BulkAction.filterMembers {
            #expect(written?[name] != nil, "\(name) is not tried")
        }
    }

    @Test(
        "A filter that cannot be meant is refused where it stands",
        arguments: [
            (#"{"status":99}"#, "/filter/status"), (#"{"status":1000}"#, "/filter/status"),
            (#"{"status":-9223372036854775809}"#, "/filter/status"), (#"{"status":"503"}"#, "/filter/status"),
            (#"{"failure_kind":""}"#, "/filter/failure_kind"), (#"{"end":"done"}"#, "/filter/end"),
            (#"{"route":null}"#, "/filter/route"), (#"{"created_before":-1}"#, "/filter/created_before"),
            (#"{"ids":["01K9ZQ3V7N4T0C8R5B2M6XW1HU"]}"#, "/filter/ids/0"),
            (#"{"ids":[null]}"#, "/filter/ids/0"),
            ("{\"label\":\"\(String(repeating: "x", count: 257))\"}", "/filter/label"),
            ("{\"ids\":[\(Array(repeating: "\"x\"", count: 1_001).joined(separator: ","))]}", "/filter/ids"),
        ]
    )
    func refused(filter: String, pointer: String) throws {
        let document = "{\"action\":\"retry\",\"filter\":\(filter)}"
        #expect(try outcome { "\(try parse(document))" } == "invalid_job \(pointer)")
    }

    @Test(
        "A rate is jobs in a time",
        arguments: [
            ("50/s", 50), ("90/m", 1.5), ("7200/h", 2), ("9999999/s", 9_999_999), ("99999999/s", nil),
            ("0/s", nil),
            ("-1/s", nil), ("1.5/s", nil), ("1/d", nil), ("1/s/s", nil), ("/s", nil), ("1/", nil), ("1", nil),
            ("", nil),
        ] as [(String, Double?)]
    )
    func rate(text: String, perSecond: Double?) {
        #expect(ActionRate(text)?.perSecond == perSecond)
    }

    @Test("The jobs of the next call are due behind those of this one")
    func next() throws {
        let first = try parse(#"{"action":"retry","filter":{},"dry_run":false,"rate":"30/m"}"#)
        let cursor = first.next(JobCursor(position: 7), after: 10, from: 1_000_000)
        let second = try parse(
            "{\"action\":\"retry\",\"filter\":{},\"dry_run\":false,\"rate\":\"30/m\",\"cursor\":\"\(cursor)\"}"
        )
        #expect(second.cursor == JobCursor(position: 7))
        #expect(second.offset(1_000_000) == .seconds(20) && second.offset(5_000_000) == .zero)
        // Nothing changed in the meantime, and later still the first of the others comes.
        let third = second.next(JobCursor(position: 8), after: 5, from: 1_005_000)
        let again = try parse("{\"action\":\"retry\",\"filter\":{},\"rate\":\"1/s\",\"cursor\":\"\(third)\"}")
        #expect(again.offset(1_000_000) == .seconds(30))
        // A call that only counts spreads nothing.
        #expect(again.next(JobCursor(position: 9), after: 5, from: 0) == "c9")
    }

    @Test(
        "A cursor is taken unchanged",
        arguments: ["", "c", "c.", "c-1", "C7", "c7.-", "c7.0123456789", "7.c7", "c7.1.1"]
    )
    func cursor(text: String) throws {
        let document = "{\"action\":\"retry\",\"filter\":{},\"cursor\":\"\(text)\"}"
        #expect(try outcome { "\(try parse(document))" } == "invalid_job /cursor")
    }
}
