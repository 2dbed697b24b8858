import RelayBase
import RelayRoute

/// The requests of a route, all together, at an upstream in trouble: a line of the table of issue 12, on virtual time.
///
/// The engine is the daemon's, and so are its defaults; the figures are the table's. A control is the same with a part
/// switched off, and has to miss them: it shows that the scenario asks for something. Sockets, the disk and the scheduler
/// are in `Tests/Scenarios`, which plays the same against the daemon.
struct Scenario: Sendable {
    let name: String
    let title: String
    /// The part that the control lacks.
    let control: String
    /// How often it is played, by other random numbers each time, where chance has much to say: the middle of what it comes
    /// to counts.
    var plays = 1
    /// Plays it, or its control, in a world of its own.
    let play: @Sendable (ScenarioWorld) -> [ScenarioFigure]

    static let all =
        [outage] + stalls + [flapping] + instants + [tokens, blackHole, neighbours] + shares + [
            patience, ceiling, badPath,
        ] + mixtures + hanging + [scope] + refusals

    /// A rule that sends again whatever is wrong with the upstream.
    static func again(_ attempts: Int, _ backoff: Backoff = Backoff()) -> RecoveryRule {
        var retry = RetryPolicy()
        retry.maxAttempts = attempts
        retry.backoff = backoff
        let on: [FailureMatcher.Token] = [
            .statusClass(.serverError), .group(.connection), .group(.timeout), .status(429),
        ]
        return RecoveryRule(name: "again", on: FailureMatcher(on), action: .retry(retry))
    }
}
