import RelayJSON
import Testing

@testable import waystation

@Suite("The status for people")
struct StatusTextTests {
    private static let document = """
        {"version":"0.1.0","state":"serving","uptime_seconds":90,"pid":7,"in_flight":1,"connections":2,
         "config":{"file":"/etc/w.json","digest":"9f2c000000000000","loaded_at":"2026-11-20T11:02:00Z"},
         "storage":{"state":"full","used_bytes":5,"max_bytes":9},
         "routes":[{"name":"billing","state":"ok","in_flight":1,"pending":0,"requests":11,"succeeded":9,
          "failed":1,"cancelled":1,"recovered":2,"fallbacks":0,"last_failure":null,"queued":1,"dead":39},
          {"name":"a-route-with-a-name-that-is-very-long-indeed","state":"degraded","in_flight":0,"pending":0,
          "requests":3,"succeeded":1,"failed":0,"cancelled":0,"recovered":0,"fallbacks":2,"never_fails_breaches":4,
          "consecutive_failures":2,"lately":{"requests":20,"failed":1,"stand_ins":2},"queued":0,"dead":0,
          "last_failure":{"kind":"http_status","status":503,"detail":"the upstream answered 503","at":"2026-11-20T11:02:00Z"}},
          {"name":"hooks","state":"failing","requests":2000000,"succeeded":2000000,"failed":0,"fallbacks":0,
          "consecutive_failures":0,"lately":{"requests":1,"failed":1,"stand_ins":0},"queued":184000,"dead":1}],
         "credentials":[{"name":"books","state":"valid","expires_in_seconds":2460}]}
        """

    private static let troubles = """
        {"trouble_count":23,"troubles":[
         {"state":"failing","since":"2026-11-20T11:02:00Z","cause":"https://a.example: The upstream answers 503.",
          "relay":"It tries again.","remedy":"Mend the upstream.","failures_per_minute":94,"waiting":1,
          "oldest_at":"2026-11-21T04:12:00Z","next_at":"2026-11-21T04:17:50Z",
          "routes":["a","b","c","d","e","f"],"route_count":60,
          "last_failure":{"kind":"http_status","status":503,"detail":"the upstream answered 503",
           "at":"2026-11-20T11:02:00Z"},
          "action":{"word":"Try again now","command":"waystation jobs retry --where state=retrying"}},
         {"state":"paused","cause":"Paused by root: \\u001b[31mdown","relay":"Kept jobs wait.",
          "remedy":"When the cause is gone: waystation resume hooks","failures_per_minute":0,"waiting":0,
          "routes":["hooks"],"route_count":1,"action":{"word":"Resume","command":"waystation resume hooks"}},
         {"state":"degraded","cause":"The network counts as constrained.","relay":"","remedy":"Wait.","routes":[],
          "route_count":0}]}
        """

    private func lines(_ columns: Int) throws -> [String] {
        let status = try JSONValue(parsing: Array(Self.document.utf8))
        let moments = Moments(now: 1_795_234_664_000, isUTC: true)
        let troubles = try JSONValue(parsing: Array(Self.troubles.utf8))
        let text = StatusText(status, troubles: troubles, columns: columns, moments: moments)
            .text(for: .standard)
        return text.split(separator: "\n").map(String.init)
    }

    private func cells(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    @Test("It fits the terminal it is printed on", arguments: [80, 100, 149, 150, 200])
    func width(columns: Int) throws {
        let lines = try lines(columns)
        #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
    }

    @Test("On 80 columns it has the main figures, on a wide terminal all of them")
    func figures() throws {
        let narrow = try lines(80)
        let title = try #require(narrow.first { $0.hasPrefix("ROUTE") })
        #expect(cells(title) == ["ROUTE", "STATE", "REQUESTS", "OK", "STAND-IN", "FAILED", "QUEUED", "DEAD"])
        #expect(narrow.contains { cells($0) == ["billing", "ok", "11", "90.0%", "0", "1", "1", "39"] })
        #expect(narrow.contains { $0.hasPrefix("a-route-with") && $0.contains("…  degraded") })
        let wide = try lines(200)
        #expect(
            wide[0].hasPrefix(
                "waystationd 0.1.0 · serving · up 1m 30s · pid 7 · in flight 1 · connections 2 · config"
            )
        )
        #expect(
            wide.contains {
                cells($0) == ["billing", "ok", "1", "0", "11", "90.0%", "2", "0", "1", "1", "1", "39", "–"]
            }
        )
        #expect(wide.contains { $0.hasSuffix("  http_status 503, 17h ago") })
        #expect(narrow.last.map(cells) == ["books", "valid", "41m", "0s"])
    }

    @Test(
        "Each trouble has its cause, its routes, the latest failure, the relay's part and a command, the first first"
    )
    func troubles() throws {
        let lines = try lines(400)
        let first = try #require(lines.firstIndex { $0.hasPrefix("failing since ") })
        #expect(lines[first].hasSuffix(": https://a.example: The upstream answers 503."))
        #expect(
            lines[(first + 1)...].prefix(6) == [
                "  60 routes: a, b, c, d, e and 55 more; 94 requests fail a minute; 1 job waits, the oldest for 5m;"
                    + " next in 6s",
                "  The latest failure, 17h ago: the upstream answered 503 (http_status)",
                "  Relay: It tries again.",
                "  Do: Mend the upstream. Try again now: waystation jobs retry --where state=retrying",
                "paused: Paused by root: \\u{1b}[31mdown", "  Route hooks",
            ]
        )
        // A command that the remedy has stands there once.
        #expect(lines.contains("  Do: When the cause is gone: waystation resume hooks"))
        #expect(lines.contains("and 20 more, which waystation ui shows"))
        #expect(lines.firstIndex { $0.hasPrefix("ROUTE") }! > first)
    }

    @Test("Where nothing is wrong nothing is said of it")
    func well() throws {
        let troubles = try JSONValue(parsing: Array(#"{"trouble_count":0,"troubles":[]}"#.utf8))
        let status = try JSONValue(parsing: Array(#"{"version":"1","state":"serving","routes":[]}"#.utf8))
        let text = StatusText(status, troubles: troubles).text(for: .standard)
        #expect(text.split(separator: "\n").count == 2 && text.contains("· serving ·"), "\(text)")
    }
}
