import RelayJSON
import Testing

@testable import waystation

@Suite("The story of a request that was answered when it was done")
struct TimelineTests {
    private func timeline(_ json: String) throws -> String {
        JobStory(
            try JSONValue(parsing: Array(json.utf8)),
            Moments(now: 1_795_234_664_000, isUTC: true)
        ).text(for: .standard)
    }

    @Test("a recovered job shows each attempt, what was decided, and the answer")
    func recovered() throws {
        let text = try timeline(
            """
            {"id":"01K9","route":"busy","outcome":"success","status":200,"request":{"method":"GET","path":"/x"},
             "created_at":"2026-11-21T04:17:00.000Z","finished_at":"2026-11-21T04:17:05.813Z",
             "client":{"uid":1001,"unit":"shop.service"},"attempts":[
              {"number":1,"upstream":"eu","address":"203.0.113.7:443","started_at":"2026-11-21T04:17:00.000Z",
               "started_after_ms":0,"duration_ms":210.4,
               "timing_ms":{"dns":3,"connect":41.2,"first_byte":160},"status":503,"kind":"http_status",
               "sent":"answered","rule":"overload","next":"retry","wait_ms":5600},
              {"number":2,"upstream":"eu","started_at":"2026-11-21T04:17:05.810Z","started_after_ms":5810,"duration_ms":3,"status":200,"result":"success"}]}
            """
        )
        #expect(
            text == """
                Job 01K9 · busy · GET /x · from shop.service (uid 1001)
                  04:17:00.000  received
                  04:17:00.000  attempt 1  → eu 203.0.113.7:443           503 in 210ms (dns 3.0ms, connect 41ms, first byte 160ms)
                                rule "overload": retry in 5.60s
                  04:17:05.810  attempt 2  → eu                           200 in 3.0ms
                  04:17:05.813  answered 200

                """
        )
    }

    @Test("a job of a fleet says whose machine's user handed it over, and each attempt which daemon made it")
    func fleet() throws {
        let text = try timeline(
            """
            {"id":"01K9","route":"busy","outcome":"success","status":200,"request":{"method":"GET","path":"/x"},
             "created_at":"2026-11-21T04:17:00.000Z","finished_at":"2026-11-21T04:17:05.813Z",
             "client":{"uid":0,"unit":"shop.service","node":"west"},"attempts":[
              {"number":1,"upstream":"eu","node":"east","started_at":"2026-11-21T04:17:00.000Z",
               "started_after_ms":0,"duration_ms":3,"status":200,"result":"success"}]}
            """
        )
        #expect(
            text == """
                Job 01K9 · busy · GET /x · from shop.service (uid 0) on west
                  04:17:00.000  received
                  04:17:00.000  attempt 1  → eu                           200 in 3.0ms
                                by east
                  04:17:05.813  answered 200

                """
        )
    }

    @Test("a request that waited for a permit of its route says how long, before all else")
    func permit() throws {
        func text(_ wait: String) throws -> String {
            try timeline(
                """
                {"id":"01K9","route":"a","outcome":"success","status":200,\(wait)"request":{"method":"GET","path":"/x"},
                 "created_at":"2026-11-21T04:17:00.000Z","finished_at":"2026-11-21T04:17:00.000Z"}
                """
            )
        }
        #expect(
            try text(#""permit_wait_ms":2100,"#) == """
                Job 01K9 · a · GET /x
                  04:17:00.000  received      waited 2s100ms for a permit of the route (concurrency.max_requests)
                  04:17:00.000  answered 200

                """
        )
        #expect(try text("").contains("permit") == false && text(#""permit_wait_ms":0,"#) == text(""))
    }

    @Test("a request that was not passed through says why")
    func ordinary() throws {
        #expect(
            try timeline(
                """
                {"id":"01K9","route":"a","outcome":"success","status":200,"request":{"method":"GET","path":"/x"},
                 "created_at":"2026-11-21T04:17:00.000Z","finished_at":"2026-11-21T04:17:00.000Z",
                 "ordinary_path":{"reason":"connection","detail":"no kept connection to the upstream was free"}}
                """
            ) == """
                Job 01K9 · a · GET /x
                  04:17:00.000  received
                  04:17:00.000  answered 200
                                took the ordinary path, which costs the relay more: no kept connection to the upstream was free

                """
        )
    }

    @Test("of two sendings the one that was decided about tells whether a rule was for it")
    func hedged() throws {
        let held =
            #"[{"rule":"hedge","reason":"not sent a second time: the route has no permit left (concurrency)"}]"#
        let failed = #""upstream":"u","started_after_ms":0,"duration_ms":1,"kind":"http_status","status":503"#
        let loser = #""upstream":"u","started_after_ms":0,"duration_ms":1,"kind":"cancelled","next":"hedge""#
        for attempts in [
            #"{"number":1,\#(failed)},{"number":2,\#(loser)}"#,
            #"{"number":1,\#(failed),"held_back":\#(held)}"#,
        ] {
            let text = try timeline(
                #"{"id":"1","outcome":"failure","status":503,"request":{"method":"GET"},"attempts":[\#(attempts)]}"#
            )
            #expect(text.contains("no rule of the route acts on this failure\n"))
            #expect(!text.contains("rule \"hedge\""))
            #expect(text.contains("  hedge: not sent a second time: ") == attempts.contains("held_back"))
        }
    }

    @Test("an unknown outcome that was not repeated says so")
    func unknown() throws {
        let text = try timeline(
            """
            {"id":"01K9","route":"orders","outcome":"failure","request":{"method":"POST","path":"/new"},
             "last_failure":{"kind":"http_response_incomplete","detail":"the upstream hung up","sent":"unknown"},
             "attempts":[{"number":1,"upstream":"demo","started_after_ms":0,"duration_ms":1,
              "kind":"http_response_incomplete","sent":"unknown","held_back":[{"rule":"again","reason":"the method is not idempotent"}]}]}
            """
        )
        #expect(text.contains("http_response_incomplete in 1.0ms\n"))
        #expect(text.contains("  rule \"again\" did not act: the method is not idempotent\n"))
        #expect(
            text.contains("failed: the upstream hung up (outcome unknown: it may have been carried out)\n")
        )
    }

    @Test(
        "a failure that was answered leaves a doubt only where doing it twice would matter",
        arguments: [("POST", "answered", true), ("GET", "answered", false), ("POST", "refused", false)]
    )
    func doubt(method: String, sent: String, isTold: Bool) throws {
        let text = try timeline(
            #"{"id":"1","request":{"method":"\#(method)"},"last_failure":{"kind":"api_error","detail":"no","sent":"\#(sent)"}}"#
        )
        #expect(text.contains("may have been carried out") == isTold)
    }

    @Test(
        "whatever the document lacks, there is a timeline",
        arguments: ["{}", "[]", "null", #"{"attempts":[{}]}"#]
    )
    func incomplete(json: String) throws {
        #expect(try timeline(json).hasPrefix("Job ?"))
    }

    @Test("a failure that no rule is for says so, with the upstream's own words")
    func noRule() throws {
        let text = try timeline(
            """
            {"id":"1","outcome":"failure","attempts":[{"number":1,"status":409,"kind":"api_error",
             "api_code":"sold_out","api_title":"None left\\u001b"}]}
            """
        )
        #expect(text.contains(#"    the upstream says sold_out: "None left\u{1b}""# + "\n"))
        #expect(text.contains("    no rule of the route acts on this failure\n"))
        let cancelled = try timeline(#"{"id":"1","attempts":[{"number":1,"kind":"cancelled"}]}"#)
        #expect(!cancelled.contains("no rule"))
    }
}
