public import RelayBase

/// A program's own way to deal with a failed attempt.
///
/// Strategies stand in a route's `recovery` list among the ready-made rules, behind a `FailureMatcher` of their own
/// (`RecoveryRule.strategy` of RelayKit), and the list is read from the top after every failed attempt. A
/// strategy decides; the engine counts, waits and sends. With any answer, the job ends by its deadline and within
/// its attempts. Those that were never sent cost none of these and are bounded by themselves: a job makes 100 of them
/// at most, and from the second in a row on a retry waits 50 to 100 ms at least, then twice as long each time up to 10 s.
public protocol RecoveryStrategy: Sendable {
    /// The strategy's name in the timeline and in `recovered by`.
    var name: String { get }

    /// Decides about one failure. Its time counts against the job's: at the job's deadline it is cancelled, and when
    /// it has not answered a second later, the job goes on without it.
    ///
    /// - Parameters:
    ///   - failure: what the attempt ended with, the upstream's answer included where there was one.
    ///   - request: the request as it was before any per-attempt preparation.
    ///   - context: what is left of the job; look here before doing anything costly.
    /// - Returns: what is to be done.
    func recover(
        from failure: Failure,
        of request: HTTPRequest,
        context: RecoveryContext
    ) async -> RecoveryDisposition
}

extension RecoveryStrategy {
    /// The name of the type.
    public var name: String { String(describing: Self.self) }
}

/// The step that a strategy asks for.
public enum RecoveryDisposition: Sendable {
    /// Not mine: the next rule is asked.
    case passOn
    /// The job ends with that failure, which need not be the attempt's own; no other rule is asked.
    case stop(Failure)
    /// Send that request, after that wait.
    ///
    /// A wait below zero is none, and after attempts that were never sent a short one may be made longer; see
    /// ``RecoveryStrategy``. A retry that would begin at or after the deadline, exceed the job's attempts, or
    /// repeat what may not be repeated is not made: reading goes on below the strategy, and the failure then also
    /// matches `exhausted`.
    case retry(HTTPRequest, after: Duration = .zero)

    /// The job ends with the attempt's failure, which carries that error as ``Failure/underlying``; no other rule is
    /// asked.
    ///
    /// A request whose error is of that type throws it as it is.
    public static func stop(_ error: some Error) -> RecoveryDisposition {
        var failure = Failure(.programsOwn, sent: .unknown, "a strategy stopped it")
        failure.underlying = error
        return .stop(failure)
    }
}

extension FailureKind {
    /// No failure: what it carries belongs to that of the attempt.
    package static let programsOwn = FailureKind(rawValue: "programs_own")
}

extension Failure {
    /// The same failure with a program's own error in it.
    package func carrying(_ error: (any Error)?) -> Failure {
        var failure = self
        failure.underlying = error
        return failure
    }
}

/// The attempts and the time that a job has left when a strategy is asked.
public struct RecoveryContext: Sendable {
    /// The attempt that failed, counted from 1.
    public let attempt: Int
    /// Attempts the job may still make; 0 means that a retry will not be made.
    ///
    /// The policy's ``RoutePolicy/maxAttempts`` without those that may have reached the upstream, and never more than
    /// 100 without those that were never sent.
    public let attemptsLeft: Int
    /// Time to the job's deadline.
    public let timeLeft: Duration
    /// The route's name.
    public let route: String

    /// The context that a service would give a strategy; for a test of one.
    ///
    /// - Parameters:
    ///   - attempt: the attempt that failed, counted from 1.
    ///   - attemptsLeft: attempts the job may still make.
    ///   - timeLeft: time to the job's deadline.
    ///   - route: the service's name.
    public init(
        attempt: Int = 1,
        attemptsLeft: Int = 2,
        timeLeft: Duration = .seconds(30),
        route: String = "service"
    ) {
        self.attempt = attempt
        self.attemptsLeft = attemptsLeft
        self.timeLeft = timeLeft
        self.route = route
    }
}
