import RelayJSON
import Testing

@testable import waystation

@Suite("A forecast for people")
struct ForecastTextTests {
    private func text(_ json: String) throws -> String {
        ForecastText(try JSONValue(parsing: Array(json.utf8))).text(for: .standard)
    }

    private static func attempt(_ number: Int, after: Int, _ more: String) -> String {
        """
        {"number":\(number),"upstream":"eu","started_at":"2026-11-21T04:17:00.000Z","started_after_ms":\(after),
         "result":"failure","spent":true,\(more)}
        """
    }

    @Test("shows the range of each wait, and what the caller gets and when")
    func ranges() throws {
        func course(_ wait: Int) -> String {
            """
            {"length_ms":\(wait),"caller":{"after_ms":\(wait),"status":502,"source":"relay","outcome":"failure",
             "code":"upstream_failed","detail":"it is down"},"request":{"id":"1","attempts":[
             \(Self.attempt(1, after: 0, #""status":503,"kind":"http_status","rule":"r","next":"retry","wait_ms":\#(wait)"#)),
             \(Self.attempt(2, after: wait, #""kind":"connection_refused""#))]}}
            """
        }
        let told = try text(
            """
            {"route":"billing","method":"GET","keyed":false,"durable":false,"series":["503","refused"],
             "one_course":true,"shortest":\(course(100)),"longest":\(course(200)),"assumes":["The route is idle."]}
            """
        )
        #expect(
            told == """
                What if · billing · GET · 503 refused
                            0.000s  attempt 1  → eu                           503
                                    rule "r": retry in 100ms to 200ms
                  0.100s to 0.200s  attempt 2  → eu                           connection_refused
                                    no rule of the route acts on this failure
                  0.100s to 0.200s  the caller gets 502 upstream_failed: it is down
                The route is idle.

                """
        )
    }

    @Test("shows both courses where chance decides how it goes, and a kept job to its end")
    func courses() throws {
        func job(_ days: Int, _ more: String) -> String {
            """
            {"length_ms":\(days * 86_400_000),"job":{"id":"1","durable":true,\(more),"attempts":[
             \(Self.attempt(1, after: 0, #""kind":"connection_refused","rule":"r","next":"retry","wait_ms":1000"#))]}}
            """
        }
        let told = try text(
            """
            {"route":"hooks","method":"POST","keyed":true,"durable":true,"series":["refused"],"one_course":false,
             "shortest":\(job(2, #""state":"dead","end":"exhausted""#)),"longest":\(job(3, #""state":"expired","end":"expired""#)),
             "assumes":[]}
            """
        )
        #expect(
            told == """
                What if · hooks · POST · with an idempotency key · kept · refused
                With the shortest waits that chance can give:
                  0.000s  the caller gets 202 as soon as the job is on disk
                  0.000s  attempt 1  → eu                           connection_refused
                          rule "r": retry in 1.00s
                   2d 0h  the job is dead (exhausted)
                With the longest:
                  0.000s  the caller gets 202 as soon as the job is on disk
                  0.000s  attempt 1  → eu                           connection_refused
                          rule "r": retry in 1.00s
                   3d 0h  the job has expired

                """
        )
    }

    @Test("shows the worst case of each route, and the load on an upstream that is down")
    func worst() throws {
        let way =
            #"{"attempts":3,"attempts_series":["503x*"],"longest_ms":9000,"longest_series":["timeoutx*"]}"#
        let more = way.dropLast() + #","goes_on":true}"#
        let json = """
            {"routes":[{"route":"up","request":\(way),"job":\(more),"load":{"requests_per_second":100,
             "first_second":23,"per_second":1.25,"at_once":256,"rate_limit":{"max_requests":5,"per_ms":1000,"burst":1},
             "retry_budget":{"percent":10,"floor":3}}}],"left":2}
            """
        let told = WorstCaseText(try JSONValue(parsing: Array(json.utf8))).text(for: .standard)
        let lines = told.split(separator: "\n").dropFirst().map(String.init)
        #expect(
            lines == [
                "ROUTE  WAY       ATTEMPTS  WITH      LONGEST  WITH",
                "up     request          3  503x*       9.00s  timeoutx*",
                "       kept job    over 3  503x*  over 9.00s  timeoutx*",
                "Attempts at an upstream that refuses every connection, of 100 requests a second:",
                "ROUTE  FIRST SECOND  THEN A SECOND  AT ONCE  RETRIES  RATE LIMIT",
                "up               23            1.3      256      10%  5 in 1.00s",
                "(2 more routes not looked at: each can be asked with what-if)",
            ]
        )
    }
}
