import RelayBase
import RelayRoute

/// The requests of a route, all together, at an upstream in trouble: a line of the table of issue 12, on virtual time.
///
/// The engine is the daemon's, and so are its defaults; the figures are the table's. A control is the same with a part
/// switched off, and has to miss them: it shows that the scenario asks for something. Sockets, the disk and the scheduler
/// are in `Tests/Scenarios`, which plays the same against the daemon.
struct Scenario: Sendable {
    typealias Reply = ScenarioUpstream.Reply

    let name: String
    let title: String
    let control: String
    /// How often it is played, by other random numbers each time, where chance has much to say: the middle of what it comes
    /// to counts.
    var plays = 1
    /// Plays it, or its control, in a world of its own.
    let play: @Sendable (ScenarioWorld) -> [Figure]

    static let all =
        [outage] + stalls + [flapping] + instants + [tokens, blackHole, neighbours] + shares + [
            patience, ceiling, badPath, year, turns,
        ] + backlogs + givenUp + partial + refusals + refused + late

    static func percentile(_ values: [Double], _ share: Double = 0.99) -> Double? {
        let sorted = values.sorted()
        return sorted.isEmpty ? nil : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    /// Of the good answers, in milliseconds.
    static func p99(_ calls: [ScenarioWorld.Call]) -> Double? {
        percentile(calls.filter(\.isGood).map(\.seconds)).map { $0 * 1_000 }
    }
}

extension RoutePolicy {
    /// Sends again whatever is wrong with the upstream.
    mutating func retries(_ attempts: Int, _ backoff: Backoff = Backoff(), of all: Int = 100) {
        var retry = RetryPolicy()
        retry.maxAttempts = attempts
        retry.backoff = backoff
        let on: [FailureMatcher.Token] = [
            .statusClass(.serverError), .group(.connection), .group(.timeout), .status(429),
        ]
        recovery = [RecoveryRule(name: "again", on: FailureMatcher(on), action: .retry(retry))]
        maxAttempts = all
    }

    /// Each attempt, and all of them.
    mutating func timesOut(after seconds: Int) {
        (timeouts.attempt, timeouts.total) = (.seconds(seconds), .seconds(seconds))
    }
}
