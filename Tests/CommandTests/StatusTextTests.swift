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
          "consecutive_failures":0,"lately":{"requests":1,"failed":1,"stand_ins":0},"queued":184000,"dead":1,"pause_reason":"down"}],
         "credentials":[{"name":"books","state":"valid","expires_in_seconds":2460}]}
        """

    private func lines(_ columns: Int) throws -> [String] {
        let status = try JSONValue(parsing: Array(Self.document.utf8))
        let moments = Moments(now: 1_795_234_664_000, isUTC: true)
        let text = StatusText(status, columns: columns, moments: moments).text(for: .standard)
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
        "A journal that takes no records, or lost some, is told",
        arguments: [
            (blocked: 0, lost: 0, text: nil), (2, 0, nil),
            (12, 34, "The journal has not taken a record for 12s"),
            (0, 34, "Records the journal did not take since the start: 34."),
        ] as [(blocked: Int, lost: Int, text: String?)]
    )
    func journal(blocked: Int, lost: Int, expected: String?) throws {
        let journal = #"{"blocked_seconds":\#(blocked),"lost_records":\#(lost)}"#
        let document = #"{"version":"1","journal":\#(journal)}"#
        let status = try JSONValue(parsing: Array(document.utf8))
        let text = StatusText(status, columns: 200).text(for: .standard)
        #expect(text.lowercased().contains("journal") == (expected != nil))
        if let expected { #expect(text.contains(expected)) }
    }

    @Test(
        "A store whose room comes to its end is told, by its limit and by its disk",
        arguments: [
            ("ok", 800, 1_000, 100, nil), ("full", 900, 1_000, 0, nil),
            ("ok", 801, 1_000, 0, "The job store is nearly full, at 801 of 1000 bytes: without"),
            ("ok", 0, 1_000, 99, "The disk of the job store is nearly full, with 99 of 1000 bytes left:"),
            ("ok", 0, 50, 60, nil),
        ] as [(String, Int, Int, Int, String?)]
    )
    func room(state: String, used: Int, limit: Int, left: Int, expected: String?) throws {
        let storage = #""state":"\#(state)","used_bytes":\#(used),"max_bytes":\#(limit)"#
        let disk = #""disk_bytes":1000,"disk_available_bytes":\#(left)"#
        let status = try JSONValue(parsing: Array(#"{"version":"1","storage":{\#(storage),\#(disk)}}"#.utf8))
        let text = StatusText(status, columns: 200).text(for: .standard)
        #expect(text.contains("nearly full") == (expected != nil))
        if let expected { #expect(text.contains(expected)) }
    }

    @Test("That memory is short is told, with the reason", arguments: 0...3)
    func shedding(level: Int) throws {
        let shedding = #"{"level":\#(level),"reason":"the kernel reports memory pressure","refused":0}"#
        let status = try JSONValue(parsing: Array(#"{"version":"1","shedding":\#(shedding)}"#.utf8))
        let text = StatusText(status, columns: 200).text(for: .standard)
        #expect(text.contains("Memory is short (the kernel reports memory pressure)") == (level > 0))
    }

    @Test("Below the figures stands what they do not tell: the dead, and what the state goes by")
    func notes() throws {
        let text = try lines(400).joined(separator: "\n")
        #expect(
            text.contains(
                "billing: 39 dead jobs, given up until somebody retries or drops them: waystation dead --route billing\n"
            )
        )
        #expect(
            text.contains(
                "indeed: of the latest 20 requests 1 failed and 2 were answered by a stand-in; the latest failure, 17h "
            )
        )
        #expect(text.contains("indeed: never_fails breached 4x\n"))
        #expect(
            text.contains(
                "hooks: paused: down\nhooks: the latest request failed\n"
            )
        )
        #expect(text.contains("  The job store has no room, at 5 of 9 bytes: no job is accepted; "))
    }
}
