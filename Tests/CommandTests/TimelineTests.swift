import RelayJSON
import Testing

@testable import waystation

@Suite("Timeline")
struct TimelineTests {
    private func timeline(_ json: String) throws -> String {
        JobTimeline(try JSONValue(parsing: Array(json.utf8))).text(for: .standard)
    }

    @Test("a recovered job shows each attempt, what was decided, and the answer")
    func recovered() throws {
        let text = try timeline(
            """
            {"id":"01K9","route":"busy","outcome":"success","status":200,"request":{"method":"GET","path":"/x"},
             "client":{"unit":"shop.service"},"attempts":[
              {"number":1,"upstream":"eu","address":"203.0.113.7:443","started_after_ms":0,"duration_ms":210.4,
               "timing_ms":{"dns":3,"connect":41.2,"first_byte":160},"status":503,"kind":"http_status",
               "sent":"answered","rule":"overload","next":"retry","wait_ms":5600},
              {"number":2,"upstream":"eu","started_after_ms":5810.4,"duration_ms":3,"status":200,"result":"success"}]}
            """
        )
        #expect(
            text == """
                Job 01K9 · busy · GET /x · from shop.service
                    0.000s  attempt 1  → eu 203.0.113.7:443           503 in 210ms (dns 3.0ms, connect 41ms, first byte 160ms)
                            rule "overload": retry in 5.60s
                    5.810s  attempt 2  → eu                           200 in 3.0ms
                    5.813s  answered 200

                """
        )
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
        "whatever the document lacks, there is a timeline",
        arguments: ["{}", "[]", "null", #"{"attempts":[{}]}"#]
    )
    func incomplete(json: String) throws {
        #expect(try timeline(json).hasPrefix("Job ?"))
    }

    @Test("the status table shows routes, shares and credentials")
    func status() throws {
        let json = """
            {"version":"0.1.0","state":"serving","uptime_seconds":90,"pid":7,"in_flight":1,"connections":2,
             "config":{"file":"/etc/w.json","digest":"9f2c000000000000","loaded_at":"2026-11-20T11:02:00Z"},
             "routes":[{"name":"billing","state":"ok","in_flight":1,"pending":0,"requests":11,"succeeded":9,
              "failed":1,"cancelled":1,"recovered":2,"fallbacks":0,"last_failure":null},
              {"name":"shop","state":"degraded","in_flight":0,"pending":0,"requests":3,"succeeded":1,
              "failed":0,"cancelled":0,"recovered":0,"fallbacks":2,"never_fails_breaches":4,"last_failure":null}],
             "credentials":[{"name":"books","state":"valid","expires_in_seconds":2460}]}
            """
        let text = StatusText(try JSONValue(parsing: Array(json.utf8))).text(for: .standard)
        let lines = text.split(separator: "\n")
        #expect(
            lines[0].hasPrefix(
                "waystationd 0.1.0 · serving · up 1m 30s · pid 7 · in flight 1 · connections 2"
            )
        )
        #expect(
            lines[2].split(separator: " ").map(String.init) == [
                "billing", "ok", "1", "0", "11", "90.0%", "2", "0", "1", "1", "–",
            ]
        )
        #expect(
            lines[3].split(separator: " ").map(String.init) == [
                "shop", "degraded", "0", "0", "3", "33.3%", "0", "2", "0", "0", "–", "never_fails",
                "breached",
                "4x",
            ]
        )
        #expect(lines[5].split(separator: " ").map(String.init) == ["books", "valid", "41m", "0s"])
    }
}
