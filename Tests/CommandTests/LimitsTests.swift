import RelayJSON
import Testing

@testable import waystation

@Suite("The limits that hold a route back, for people")
struct LimitsTests {
    private func sheet(_ document: String) throws -> String {
        let json = try JSONValue(parsing: Array(document.utf8))
        return LimitsSheet(json, Moments(now: 1_795_234_664_000, isUTC: true)).text
    }

    @Test("each limit with what it stands at, and until when")
    func all() throws {
        let text = try sheet(
            """
            {"name":"billing","state":"paused","pause":{"reason":"maintenance"},"in_flight":12,"pending":3,
             "max_requests":32,"max_pending_requests":200,"retries_under_way":1,"retries_left":9,"turns_left":0,
             "next_turn_at":"2026-11-21T04:17:45.000Z","upstreams":[
              {"name":"eu","breaker":"open","since":"2026-11-21T04:17:40.000Z","until":"2026-11-21T04:17:46.000Z",
               "counts":{"attempts":40,"failed":30,"failed_in_a_row":12,"span_ms":30000},"under_way":0,"window":20,
               "last_failure":{"kind":"http_status","status":503,"detail":"it answered 503","at":"2026-11-21T04:17:43Z"}},
              {"name":"us","breaker":"closed","counts":{"attempts":9,"failed":1,"failed_in_a_row":1,"span_ms":30000},
               "held_until":"2026-11-21T04:18:00.000Z","rate":3,"under_way":12},
              {"name":"old","breaker":"off","under_way":0},
              {"name":"idle","breaker":"open","under_way":0,
               "counts":{"attempts":0,"failed":0,"failed_in_a_row":10,"span_ms":30000}}]}
            """
        )
        #expect(
            text == """
                Route        billing, paused: maintenance
                Permits      12 of 32 taken, 3 of 200 places to wait for one taken
                Upstream     eu: 0 of a window of 20 under way
                  Breaker    open since 04:17:40, probed at 04:17:46; 30 of 40 failed in the last 30s, 12 in a row
                  Failed     http_status at 04:17:43: it answered 503
                Upstream     us: 12 under way
                  Breaker    closed; 1 of 9 failed in the last 30s
                  Throttled  sent at most 3 attempts a second, as it said too many came
                  Patience   it has asked requests to wait until 04:18:00
                Upstream     old: 0 under way
                Upstream     idle: 0 under way
                  Breaker    open; the last 10 failed, none in the last 30s
                Retries      1 under way, 9 more may begin
                Rate         0 attempts may begin now, the next at 04:17:45

                """
        )
    }

    @Test("a probe that is due comes with the next request")
    func due() throws {
        let text = try sheet(
            """
            {"name":"r","in_flight":0,"pending":0,"max_requests":1,"max_pending_requests":1,"retries_under_way":0,
             "upstreams":[{"name":"u","breaker":"open","until":"2026-11-21T04:17:43.000Z","under_way":0}]}
            """
        )
        #expect(text.contains("  Breaker    open, probed by the next request\n"))
    }

    @Test("what an operator has said of a breaker ends when it says")
    func forced() throws {
        let text = try sheet(
            """
            {"name":"r","in_flight":0,"pending":0,"max_requests":1,"max_pending_requests":1,"retries_under_way":0,
             "upstreams":[{"name":"u","breaker":"forced_open","until":"2026-11-21T04:27:44.000Z","under_way":0}]}
            """
        )
        #expect(
            text.contains("  Breaker    forced open until 04:27:44\n")
                && text.contains("Retries      0 under way\n")
        )
        #expect(!text.contains("Rate"))
    }

    @Test("a route that only has jobs has no limits, and says so")
    func unconfigured() throws {
        let text = try sheet(#"{"name":"gone","state":"unconfigured","jobs":{}}"#)
        #expect(text == "gone: the configuration has no such route, and its jobs wait\n")
    }

    @Test("nothing reaches the terminal that could move its cursor")
    func harmless() throws {
        let text = try sheet(
            #"{"name":"a\u001b[2J","max_requests":1,"upstreams":[{"name":"b\u001b[2J","breaker":"c\u001b[2J"}]}"#
        )
        #expect(!text.contains("\u{1B}"))
    }
}
