import RelayRoute

extension Scenario {
    static let ceiling = Scenario(
        name: "ceiling",
        title: "20,000 kept jobs, and an upstream that takes fifty at once and answers 503 to those above",
        control: "the window: a fixed width of 256"
    ) { world in
        let (count, most, settled) = (20_000, 50, 10.0)
        let upstream = ScenarioUpstream(ceiling: most, seconds: 0.25, status: 503)
        world.route("up", to: upstream, off: [.window]) {
            $0.retries(100)
        }
        world.start()
        world.keep("up", count)
        world.look()
        world.run(until: 30)
        let reason = world.explained()
        let isDone = world.run(until: world.isControl ? 40 : 130) { world.unfinished <= most }
        let last = world.now
        func refused(_ begin: Double) -> Double {
            let attempts = upstream.seen(begin, last)
            return Double(attempts.count { $0.status == 503 }) / Double(attempts.count)
        }
        let windows = world.looks.filter { $0.at >= settled && $0.at < last }.compactMap(\.window)
        let median = percentile(windows.map(Double.init), 0.5)
        return [
            Figure(
                "the window's median, away from the limit in %",
                median.map { ($0 - Double(most)).magnitude / Double(most) * 100 },
                atMost: 20
            ),
            Figure("share refused", refused(0), atMost: 0.05, control: 0.1),
            Figure("share refused, once it has settled", refused(settled), atMost: 0.05, control: 0.1),
            Figure("seconds until all are served ÷ ideal", isDone ? last / 100 : nil, atMost: 1.25),
            Figure("explain tells of the window", isSo: world.isControl || reason == "concurrency"),
        ]
    }
}
