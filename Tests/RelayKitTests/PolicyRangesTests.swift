import RelayKit
import RelayTestSupport
import Testing

@Suite("Settings of a policy outside their ranges")
struct PolicyRangesTests {
    private func waits(_ schedule: Backoff.Schedule, _ jitter: Backoff.Jitter = .none) -> Refusal? {
        refusal { $0.recovery = [.backoff(Backoff(schedule: schedule, jitter: jitter))] }
    }

    @Test(
        "Waits below zero, none at all, and growth that is none are refused; the limits themselves are taken"
    )
    func backoff() {
        let second = Duration.seconds(1)
        for schedule in [
            .constant(.seconds(-1)), .list([]), .list([second, .nanoseconds(-1)]),
            .exponential(base: .seconds(-1), multiplier: 2, maximum: second),
            .exponential(base: .seconds(-2), multiplier: 2, maximum: .seconds(-1)),
            .exponential(base: second, multiplier: 0.99, maximum: second),
            .exponential(base: second, multiplier: .nan, maximum: second),
            .exponential(base: second, multiplier: .infinity, maximum: second),
            .exponential(base: .seconds(2), multiplier: 2, maximum: second),
        ] as [Backoff.Schedule] {
            #expect(waits(schedule)?.message.contains("\"backoff\"") == true, "\(schedule)")
        }
        for schedule in [
            .constant(.zero), .list([.zero]), .exponential(base: second, multiplier: 1, maximum: second),
            .exponential(base: .zero, multiplier: 100, maximum: .seconds(86_400)),
        ] as [Backoff.Schedule] {
            #expect(waits(schedule) == nil, "\(schedule)")
        }
        for percent in [Int.min, -1, 101, .max] {
            #expect(
                waits(.constant(second), .percent(percent))?.message.contains("\(percent) percent") == true
            )
        }
        #expect(
            waits(.constant(second), .percent(0)) == nil && waits(.constant(second), .percent(100)) == nil
        )
    }

    @Test("Times of other settings have ranges too")
    func times() {
        for (attempt, total, isTaken) in [(1, 1, true), (10, 30, true), (31, 30, false)] {
            let found = refusal {
                ($0.timeouts.attempt, $0.timeouts.total) = (.seconds(attempt), .seconds(total))
            }
            let message = "timeouts.attempt (31s) is longer than timeouts.total (30s)"
            #expect(found?.message == (isTaken ? nil : message))
        }
        // The attempt's default is no demand: the job's time alone may be set.
        #expect(refusal { $0.timeouts.total = .seconds(3) } == nil)
        for (age, isTaken) in [
            (Duration.milliseconds(999), false), (.seconds(1), true), (.seconds(30 * 86_400), true),
            (.seconds(30 * 86_400 + 1), false), (.seconds(-1), false),
        ] {
            let found = refusal { $0.response.keepsLastGood = LastGoodRule(maxAge: age) }
            #expect((found == nil) == isTaken, "\(age)")
        }
        let late = refusal { $0.recovery = [.backoff(maxRetryAfter: .seconds(-1))] }
        #expect(late?.message.contains("maxRetryAfter") == true)
        #expect(refusal { $0.recovery = [.backoff(maxRetryAfter: .zero)] } == nil)
        let cooling = refusal {
            $0.upstreams.append(
                Upstream(
                    name: "cold",
                    origin: .unix(path: "/s"),
                    use: .failoverOnly,
                    cooldown: .nanoseconds(-1)
                )
            )
        }
        #expect(cooling?.message.contains("\"cold\"") == true)
    }

    @Test("A refresh no time, or more than ten times", arguments: [Int.min, 0, 1, 10, 11])
    func refreshes(times: Int) {
        let found = refusal(credentials: [CredentialDefinition("login") { AccessToken("t") }]) {
            $0.authentication = Authentication(form: .bearer, credential: "login")
            $0.recovery = [.reauthorize(maxTimes: times)]
        }
        #expect((found == nil) == (1...10).contains(times))
        #expect(found?.message.contains("\(times) times") ?? true)
    }

    @Test(
        "A rule that names what no failure can be is refused, with what was meant where a word is near",
        arguments: [
            ([.status(0)], "199"), ([.status(199)], "199"), ([.status(600)], "600"), ([65_535], "65535"),
            ([.kind("conection_refused")], "did you mean \"connection_refused\"?"),
            ([.kind("timout")], "did you mean \"timeout\"?"),
            ([.kind("timeout")], "a group such as .timeout"),
            ([.kind("any")], ".any"), ([.kind("503")], "a status"), ([.kind("5xx")], "a class"),
            ([503, .kind("decodin")], "did you mean \"decoding\"?"),
        ] as [(FailureMatcher, String)]
    )
    func words(matcher: FailureMatcher, reason: String) {
        let wanted = reason == "199" && matcher.tokens == [.status(0)] ? "status 0" : reason
        let rules = refusal { $0.recovery = [.fail(on: matcher, name: "mine")] }
        #expect(rules?.description.contains(wanted) == true && rules?.message.contains("\"mine\"") == true)
        let types = refusal {
            $0.errorTypes = [ErrorTypeRule(on: matcher, apiCodes: [], kind: "own", treatAsStatus: nil)]
        }
        #expect(types?.description.contains(wanted) == true && types?.message.contains("\"own\"") == true)
    }

    @Test("A kind of the program's own may be named: one like no other, or one the policy defines")
    func ownKinds() {
        #expect(refusal { $0.recovery = [.fail(on: [.kind("out_of_paper"), .kind(.decoding)])] } == nil)
        let near = FailureMatcher([.kind("decoding2")])
        #expect(refusal { $0.recovery = [.fail(on: near)] } != nil)
        let named = refusal {
            $0.recovery = [.fail(on: near)]
            $0.errorTypes = [ErrorTypeRule(on: nil, apiCodes: [], kind: "decoding2", treatAsStatus: 503)]
        }
        #expect(named == nil)
        for status in [199, 600] as [UInt16] {
            let treated = refusal {
                $0.errorTypes = [
                    ErrorTypeRule(on: nil, apiCodes: [], kind: "own", treatAsStatus: Status(rawValue: status))
                ]
            }
            #expect(treated?.message.contains("\(status)") == true)
            let canned = refusal { $0.recovery = [.fallback(CannedAnswer(status: Status(rawValue: status)))] }
            #expect(canned?.message.contains("\(status)") == true)
        }
    }

    @Test(
        "A field that no message can carry, or that the relay writes itself, is no place for a key or a credential",
        arguments: ["", "a b", "x:", "é", "Host", "content-length", "Waystation-Timeout", "Connection"]
    )
    func fields(name: String) {
        let key = refusal { $0.idempotency.header = name }
        #expect(key?.message.contains("idempotency.header") == true)
        let credential = refusal {
            $0.authentication = Authentication(form: .header(name: name), credential: "c")
        }
        #expect(credential?.message.contains("authentication's header") == true)
        #expect(refusal { $0.idempotency.header = "X-Key" } == nil)
    }
}
