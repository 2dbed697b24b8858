import RelayRoute
import RelayTestSupport
import Testing

@Suite("Waits between attempts")
struct BackoffTests {
    @Test(
        "Exponential delays double up to the largest and stay there",
        .clauses("X-03"),
        arguments: [(1, 100), (2, 200), (3, 400), (7, 6400), (8, 10_000), (100, 10_000), (Int.max, 10_000)]
            as [(Int, Int64)]
    )
    func exponential(retry: Int, milliseconds: Int64) {
        #expect(Backoff().delay(beforeRetry: retry) == .milliseconds(milliseconds))
    }

    @Test(
        "A schedule's last entry repeats",
        arguments: [(1, 5), (2, 300), (3, 1800), (9, 1800), (0, 5)] as [(Int, Int64)]
    )
    func list(retry: Int, seconds: Int64) {
        let backoff = Backoff(schedule: .list([.seconds(5), .seconds(300), .seconds(1800)]))
        #expect(backoff.delay(beforeRetry: retry) == .seconds(seconds))
    }

    @Test(
        "Jitter keeps within its range at both ends",
        arguments: [
            (Backoff.Jitter.none, 1000, 1000), (.full, 0, 1000), (.equal, 500, 1000),
            (.percent(20), 800, 1200),
            (.percent(100), 0, 2000),
        ] as [(Backoff.Jitter, Int64, Int64)]
    )
    func jitter(jitter: Backoff.Jitter, least: Int64, most: Int64) {
        let backoff = Backoff(schedule: .constant(.seconds(1)), jitter: jitter)
        #expect(backoff.wait(beforeRetry: 1, random: 0) == .milliseconds(least))
        let longest = backoff.wait(beforeRetry: 1, random: .max)
        #expect(longest <= .milliseconds(most) && longest > .milliseconds(most - 1))
    }

    @Test(
        "Full jitter is drawn anew for every wait, also at the largest, and fills its range evenly",
        .clauses("X-04", "X-17"),
        arguments: [
            .constant(.seconds(1)), .exponential(base: .seconds(1), multiplier: 9, maximum: .seconds(1)),
        ] as [Backoff.Schedule]
    )
    func spread(schedule: Backoff.Schedule) {
        let backoff = Backoff(schedule: schedule, jitter: .full)
        let entropy = SeededEntropy(seed: 7)
        var bins = Array(repeating: 0, count: 10)
        for _ in 0..<10_000 {
            let wait = backoff.wait(beforeRetry: 5, random: entropy.next())
            bins[min(9, Int(wait / .milliseconds(100)))] += 1
        }
        #expect(bins.allSatisfy { (850...1150).contains($0) })
    }

    @Test(
        "Absurd settings neither trap nor wait below zero",
        arguments: [
            Backoff(schedule: .exponential(base: .zero, multiplier: 2, maximum: .seconds(1))),
            Backoff(
                schedule: .exponential(
                    base: .seconds(Int64.max),
                    multiplier: 1e300,
                    maximum: .seconds(Int64.max)
                )
            ),
            Backoff(schedule: .exponential(base: .seconds(1), multiplier: .nan, maximum: .seconds(1))),
            Backoff(schedule: .exponential(base: .seconds(-2), multiplier: 2, maximum: .seconds(-1))),
            Backoff(schedule: .exponential(base: .seconds(1), multiplier: .infinity, maximum: .seconds(1))),
            Backoff(schedule: .list([])), Backoff(schedule: .list([.nanoseconds(-1)])),
            Backoff(schedule: .constant(.seconds(-5))),
            Backoff(schedule: .constant(.seconds(Int64.max)), jitter: .percent(100)),
        ]
    )
    func absurd(backoff: Backoff) {
        for retry in [Int.min, 0, 1, 2, 50, Int.max] {
            #expect(backoff.wait(beforeRetry: retry, random: .max) >= .zero)
        }
    }
}
