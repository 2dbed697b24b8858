import RelayBase
import RelayInterface
import RelayJSON
import RelayRoute
import RelayTestSupport
import Testing

@testable import waystationd

@Suite("An imagined series")
struct ImaginedSeriesTests {
    private func series(_ words: String...) throws -> ImaginedSeries {
        try ImaginedSeries(words) { path throws(ImaginedSeries.Fault) in
            switch path {
            case "error.json": Array(#"{"error":{"code":"busy"}}"#.utf8)
            case "./whole": Array("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\nno".utf8)
            default: throw ImaginedSeries.Fault(message: "no \(path)")
            }
        }
    }

    @Test("says of each attempt what becomes of it, and its last word goes on")
    func words() throws {
        let read = try series("503x2", "timeout", "token:401", "connection_timeout", "ok,in=2s")
        #expect(read.attempts.map(\.word) == ["503", "503", "timeout", "connection_timeout", "ok,in=2s"])
        #expect(read.tokens.map(\.word) == ["401"])
        #expect(read.attempts[2].end == .failure(.httpResponseTimeout))
        #expect(read.attempts[4].delay == .exactly(.seconds(2)))
        #expect(read[4].isBeyond == false && read[5].isBeyond && read[99].imagined == read.attempts[4])
        let endless = try series("ok", "503x*,retry-after=1500ms")
        #expect(endless.isEndless && endless[7].isBeyond == false)
        let wait = Imagined.Field(name: "Retry-After", value: "2")
        #expect(endless[7].imagined.end == .answer(503, fields: [wait], body: []))
    }

    @Test("takes the content of an answer from a file, or all of it")
    func files() throws {
        let read = try series("@error.json", "500@error.json", "./whole")
        let type = Imagined.Field(name: "Content-Type", value: "application/json")
        let body = Array(#"{"error":{"code":"busy"}}"#.utf8)
        #expect(read.attempts[0].end == .answer(200, fields: [type], body: body))
        #expect(read.attempts[1].end == .answer(500, fields: [type], body: body))
        let wait = Imagined.Field(name: "Retry-After", value: "7")
        #expect(read.attempts[2].end == .answer(429, fields: [wait], body: Array("no".utf8)))
    }

    @Test(
        "refuses what says nothing",
        arguments: [
            ([], "what becomes of the attempts?"), (["ok", "teapot"], "word 2, \"teapot\": no status"),
            (["timeuot"], "did you mean timeout?"), (["199"], "word 1, \"199\": no status"),
            (["503x0"], "x needs a number from 1 to 1000"),
            (["503x*", "ok"], "word 2, \"ok\": nothing comes after 503x*"),
            (["503,in=soon"], "behind the comma"), (["refused,in=2s"], "\"in=2s\" says nothing to it"),
            (["@none"], "no none"), (["token:401x*"], "have an end"),
            (["503x1000", "ok"], "1000 attempts at most"),
        ]
    )
    func faults(words: [String], told: String) {
        do throws(ImaginedSeries.Fault) {
            _ = try ImaginedSeries(words) { path throws(ImaginedSeries.Fault) in
                throw ImaginedSeries.Fault(message: "no \(path)")
            }
            Issue.record("\(words) is taken")
        } catch {
            #expect(error.message.contains(told), "\(error.message)")
        }
    }

    @Test(
        "ok is what the route takes for a success, and a file with an error inside is what its rules call it"
    )
    func success() throws {
        let route = makeRoute { policy in
            policy.success.statuses = StatusSet(codes: [201])
            policy.success.require = [
                BodyCheck(pointer: pointer("/status/code"), condition: .equals(.bool(true))),
                BodyCheck(pointer: pointer("/list/0/id"), condition: .exists(true)),
            ]
            policy.response.unwrap = pointer("/data")
            policy.apiError = APIErrorRule(require: [pointer("/error/code")], code: pointer("/error/code"))
            policy.recovery = [rule("again", ["api_error"], retry(2))]
        }
        let plan = ForecastPlan(route, try series("@error.json", "ok"), wall: 0)
        let course = try #require(Forecast(plan)).shortest
        #expect(course.attempts.map(\.failure?.kind) == [.apiError, nil])
        #expect(course.attempts[0].failure?.apiCode == "busy" && course.attempts[0].rule == "again")
        #expect(course.caller?.status == 201 && course.caller?.outcome == .success)
    }

    @Test("fetches a token after a 401, and again as the series says")
    func tokens() throws {
        let endpoint = Upstream(name: "tokens", origin: .tcp(host: "t.example", port: 443, isTLS: true))
        let settings = OAuth2Settings(
            grant: .clientCredentials,
            endpoint: endpoint,
            target: "/token",
            clientID: "shop"
        )
        let route = makeRoute { policy in
            policy.authentication = Authentication(form: .bearer, credential: "c")
            policy.recovery = [rule("stale-token", ["401"], .refreshCredentials(maxTimes: 1))]
        }
        let credentials = [CredentialDefinition(name: "c", kind: .oauth2(settings))]
        func course(_ words: String...) throws -> Forecast.Course {
            let series = try ImaginedSeries(words) { _ in [] }
            return try #require(Forecast(ForecastPlan(route, series, credentials: credentials, wall: 0)))
                .shortest
        }
        let renewed = try course("401", "ok")
        #expect(renewed.caller?.status == 200 && renewed.attempts.count == 2 && renewed.tokens == 2)
        let refused = try course("token:503", "ok")
        #expect(refused.caller?.code == .credentialsFailed && refused.caller?.status == 502)
        let slow = try course("token:timeout", "ok")
        #expect(slow.caller?.code == .credentialsFailed)
        #expect(slow.caller?.after == .seconds(10))
    }

    @Test("its worst case has the attempts of all rules one after the other, and the time they may take")
    func worst() throws {
        let route = makeRoute { policy in
            policy.timeouts.attempt = .seconds(2)
            policy.timeouts.total = .seconds(9)
            policy.recovery = [
                rule("a", ["503"], retry(2, wait: .milliseconds(100))),
                rule("b", ["connection"], retry(4, wait: .milliseconds(100))),
            ]
        }
        let plan = ForecastPlan(route, ImaginedSeries([.good]), wall: 1_800_000_000_000)
        let worst = WorstCase(plan)
        // An attempt that was refused at the door spends nothing, so that rule a has its own after those of b.
        #expect(worst.request.attempts == 5 && worst.job.attempts == 5)
        #expect(worst.request.length > .seconds(4) && worst.request.length <= .seconds(9))
        #expect(worst.load.first >= 20 && worst.load.later < 3)
    }
}
