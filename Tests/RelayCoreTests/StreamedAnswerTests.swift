import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayBase
@testable import RelayCore

@Suite("Answers that stream, for breaker and record")
struct StreamedAnswerTests {
    private let route = makeRoute {
        $0.traffic.breaker.minimumThroughput = 4
        $0.traffic.breaker.failureRatio = 0.5
        $0.traffic.breaker.consecutiveFailures = nil
    }
    private let now = Instant(nanoseconds: 1_000_000_000)
    private let cut = Failure(.httpResponseIncomplete, sent: .unknown, "cut off, of which 9 of 20 bytes came")

    private func answer(_ end: AnswerEnd, _ traffic: RouteTraffic) throws -> BreakerChange? {
        let leave = try #require(traffic.grantPlainly(route, now.nanoseconds))
        #expect(traffic.answeringPlainly(leave, asked: { nil }, of: route, random: 0, now.nanoseconds) == nil)
        return traffic.answerEndedPlainly(leave, end, nil, of: route, random: 0, now.nanoseconds)
    }

    @Test("An upstream that cuts its answers off opens the breaker, which counts each attempt once")
    func opens() throws {
        let traffic = RouteTraffic()
        for _ in 0..<2 { #expect(try answer(.whole, traffic) == nil) }
        #expect(try answer(.broke(cut), traffic) == nil)
        #expect(try answer(.broke(cut), traffic) != nil)
        #expect(traffic.grantPlainly(route, now.nanoseconds) == nil)
    }

    @Test("A caller that goes away, or stalls in its own upload, opens none")
    func callers() throws {
        let traffic = RouteTraffic()
        let stalled = Failure(.httpRequestError, sent: .unknown, "the request body did not come")
        for _ in 0..<20 {
            #expect(try answer(.unwanted, traffic) == nil)
            #expect(try answer(.broke(stalled), traffic) == nil)
        }
        #expect(traffic.grantPlainly(route, now.nanoseconds) != nil)
    }

    @Test("A stream takes no room of the window once its head is there")
    func window() throws {
        let traffic = RouteTraffic()
        let leave = try #require(traffic.grantPlainly(route, now.nanoseconds))
        _ = traffic.answeringPlainly(leave, asked: { nil }, of: route, random: 0, now.nanoseconds)
        #expect(traffic.standing(of: route, now).upstreams[0].underWay == 0)
        _ = traffic.answerEndedPlainly(leave, .whole, nil, of: route, random: 0, now.nanoseconds)
        #expect(traffic.standing(of: route, now).upstreams[0].underWay == 0)
    }

    private func report() -> JobReport {
        let context = JobContext(
            id: JobID(milliseconds: 0, random: (0, 0)),
            route: route,
            method: .get,
            target: "/",
            options: JobOptions(),
            client: nil,
            memory: RouteMemory()
        )
        var attempt = Attempt(number: 1, upstream: "u", beganAt: 0, duration: .milliseconds(5))
        attempt.status = 200
        let response = HTTPResponse(status: 200, fields: HeaderFields())
        return JobReport(context, .succeeded, response, attempts: [attempt])
    }

    @Test("A record says what became of the answer")
    func records() {
        let whole = report().ended(.whole, taken: .seconds(9))
        #expect(whole.state == .succeeded && whole.attempts[0].duration == .milliseconds(5))
        let broken = report().ended(.broke(cut), taken: .seconds(9))
        #expect(broken.state == .dead && broken.failure?.kind == .httpResponseIncomplete)
        #expect(broken.failure?.status == 200 && broken.attempts[0].failure?.kind == .httpResponseIncomplete)
        #expect(broken.attempts[0].duration == .seconds(9) && broken.status == 200)
        let left = report().ended(.unwanted, taken: .seconds(9))
        #expect(left.state == .cancelled && left.attempts[0].failure?.kind == .cancelled)
    }
}
