import RelayBase
import RelayRoute

/// A share of a route's requests that fails or hangs, told from the others by path, method, size or nothing at all.
private struct PartialFailure {
    typealias Ask = ScenarioWorld.Ask

    let name: String
    let good: Ask
    let bad: Ask
    /// Zero closes the connection; nil answers nothing.
    let status: UInt16?
    /// Answers that take a while need more than a few under way.
    var seconds = 0.01

    static let all = [
        PartialFailure("path", Ask(target: "good"), Ask(target: "bad"), 503),
        PartialFailure("method", Ask(), Ask(method: .post, body: one), 500),
        PartialFailure("unknown", Ask(), Ask(method: .patch, body: one), 501),
        // A fault of SOAP, which looks like any other request.
        PartialFailure("fault", Ask(method: .post, body: one), Ask(method: .post, body: [2]), 500),
        PartialFailure("size", Ask(method: .post, body: one), Ask(method: .post, body: large), 0),
        PartialFailure(
            "slow",
            Ask(target: "api/v1/good", method: .post, body: one),
            Ask(target: "api/v1/bad", method: .post, body: one),
            503,
            seconds: 0.4
        ),
        PartialFailure("hanging", Ask(target: "good"), Ask(target: "hang"), nil),
    ]
    private static let one: [UInt8] = [1]
    private static let large = [UInt8](repeating: 2, count: 100_000)

    init(_ name: String, _ good: Ask, _ bad: Ask, _ status: UInt16?, seconds: Double = 0.01) {
        (self.name, self.good, self.bad, self.status, self.seconds) = (name, good, bad, status, seconds)
    }

    func play(_ world: ScenarioWorld, share: Int, users: Int) -> [Figure] {
        // Requests that hang take a while to fill all that they can, and each user's are found out about one by one.
        let (settled, last) = status == nil ? (15.0, 60.0) : seconds > 0.1 && users > 1 ? (10, 30) : (0, 20)
        var (good, bad) = (good, bad)
        if world.isControl {
            good = Ask(target: "same?good", method: .post, body: [1])
            bad = Ask(target: "same?bad", method: .post, body: [1])
        }
        let (badTarget, badMethod, badBody) = ("/" + bad.target, bad.method, bad.body)
        let upstream = ScenarioUpstream { [self] visit in
            var content: [UInt8] = []
            if case .bytes(let bytes)? = visit.request?.body { content = bytes }
            let isBad =
                visit.target == badTarget && visit.request?.method == badMethod && content == badBody
            return isBad
                ? .answer(status ?? 200, after: status == nil ? .infinity : 0.01)
                : .answer(200, after: seconds)
        }
        world.route("up", to: upstream) {
            guard world.isControl else { return }
            ($0.traffic.breaker.failureRatio, $0.traffic.breaker.sampling) = (0.4, .seconds(30))
            $0.traffic.breaker.statuses = StatusSet(classes: [.serverError])
        }
        world.start()
        let (goodAsk, badAsk) = (good, bad)
        world.request("up", perSecond: 100, until: last) { number in
            let isBad = (number + 1) * share / 100 > number * share / 100
            var ask = isBad ? badAsk : goodAsk
            // Of five that follow each other some are bad: no user has but good ones.
            ask.user += UInt32(number / 5 % users)
            return ask
        }
        world.run(until: last + 35)
        let late = world.calls.filter { $0.at >= settled && $0.ask.target == goodAsk.target }
            .filter { $0.ask.method == goodAsk.method && $0.ask.body == goodAsk.body }
        return [
            Figure(
                "share of the others served",
                late.count(where: \.isGood),
                per: late.count,
                atLeast: status == nil ? 0.95 : 0.99,
                control: status == nil ? 0.8 : 0.9
            ),
            Figure("p99 of the others in ms", Scenario.p99(late), atMost: max(20, 2_000 * seconds)),
            Figure("attempts per arrival", upstream.visits.count, per: world.calls.count, atMost: 1.1),
        ]
    }
}

extension Scenario {
    static let partial = PartialFailure.all.flatMap { kind in
        [(45, 1), (60, 1), (60, 20), (80, 1)].map { share, users in
            Scenario(
                name: "partial-\(kind.name)-\(share)-\(users)",
                title: "100 requests a second of \(users) users, \(share) % of which fail (\(kind.name))",
                control: "a breaker that needs nearly all to fail, and what tells requests apart",
                plays: kind.name == "slow" && users > 1 ? 9 : 1
            ) { kind.play($0, share: share, users: users) }
        }
    }
}
