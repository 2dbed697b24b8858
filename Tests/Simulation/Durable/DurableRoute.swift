import RelayBase
import RelayRoute
import RelayTestSupport

/// A route as the engine has it and as the checker believes it to be; the same unless a bug is planted.
final class DurableRoute {
    let number: Int
    let name: String
    let credential: Int?
    let methods: RepeatableMethods
    let schedule: [Duration]
    let maxAttempts: Int
    let expiresAfter: Duration
    let window: Duration
    /// Whether its upstream is asked what became of an attempt in doubt.
    let asks: Bool
    private(set) var policy: RoutePolicy
    private let plant: DurablePlant?

    private(set) var places: Int
    /// Places that may be in use although the configuration has fewer by now, and until when.
    private var earlier: [(places: Int, until: Int64)] = []
    var isConfigured = true

    // The attempts with the upstream, and the route's pause.
    var flights = 0
    var pausedUntil: Int64??
    /// The same on the steady clock, in nanoseconds.
    var pauseEnd: Int64?
    var pausedSince: Int64 = 0
    /// Since when a due job is not claimed although nothing is in its way.
    var idleSince: Int64?
    var gateSince: Int64?
    var lastClaim: Int64 = 0

    init(_ number: Int, _ draw: inout SplitMix64, credential: Int?, plant: DurablePlant?) {
        (self.number, self.credential, self.plant) = (number, credential, plant)
        name = "route\(number)"
        asks = number % 3 == 1
        methods = draw.pick([.idempotent, .idempotentOrKeyed, .idempotentOrKeyed, .any])
        let waits: [Duration] = [
            .seconds(1), .seconds(5), .seconds(30), .seconds(600), .seconds(7_200), .seconds(86_400),
        ]
        let first = draw.below(4)
        schedule = Array(waits[first..<min(waits.count, first + draw.number(1...4))])
        let ordersAll = draw.chance(15)
        maxAttempts = draw.number(2...8)
        expiresAfter = draw.pick([
            .seconds(3_600), .seconds(86_400), .seconds(7 * 86_400), .seconds(30 * 86_400),
        ])
        window = draw.pick([.seconds(600), .seconds(86_400)])
        places = draw.number(1...4)
        policy = RoutePolicy(upstreams: [Upstream(name: "one", origin: .upstream(number))])
        policy.delivery.ordering = ordersAll ? .route : .key
        fill(&draw)
    }

    private func fill(_ draw: inout SplitMix64) {
        // The effect of jobs on each other is the matter of other worlds.
        policy.traffic = .off
        policy.delivery.mode = .durable
        policy.delivery.expiresAfter = expiresAfter
        policy.idempotency.window = window
        policy.maxAttempts = plant == .extraAttempt ? maxAttempts + 1 : maxAttempts
        policy.timeouts.attempt = .seconds(draw.pick([2, 10, 30]))
        policy.timeouts.idle = .seconds(30)
        if let credential {
            policy.authentication = Authentication(form: .bearer, credential: "c\(credential)")
        }
        var rules: [RecoveryRule] = []
        func add(_ name: String, _ on: [FailureMatcher.Token], _ action: RecoveryRule.Action) {
            rules.append(RecoveryRule(name: name, on: FailureMatcher(on), action: action))
        }
        if draw.chance(70) { add("gone", [.status(410)], .pauseRoute(reason: "the receiver is gone")) }
        if draw.chance(70) { add("bad", [.status(422)], .deadLetter) }
        if draw.chance(70) { add("aside", [.status(423)], .hold) }
        if credential != nil { add("renew", [.status(401)], .refreshCredentials(maxTimes: 1)) }
        var retry = RetryPolicy()
        retry.maxAttempts = draw.number(2...8)
        retry.methods = plant == .repeatsUnknown || plant == .repeatsAnswered ? .any : methods
        retry.maxRetryAfter = .seconds(3_600)
        let waits = plant == .ignoresSchedule ? schedule.map { $0 / 100 } : schedule
        retry.backoff = Backoff(schedule: .list(waits), jitter: .none)
        add("later", [.any], .retry(retry))
        policy.recovery = rules
        if asks { policy.verification = question }
    }

    /// Path of every question, without the job's id.
    static let questionPath = "look-up/"

    private var question: Verification {
        var (found, absent) = (SuccessRule(), SuccessRule())
        (found.statuses, absent.statuses) = (StatusSet(codes: [200]), StatusSet(codes: [404]))
        guard
            var question = try? Verification(
                path: DurableRoute.questionPath + "{job.id}",
                found: found,
                absent: absent
            )
        else { preconditionFailure("a bad path in the simulation") }
        question.settleAfter = plant == .asksTooEarly ? .zero : .seconds(2)
        return question
    }

    /// Those whom it tells of its jobs' endings.
    var notices: NoticeSettings? { policy.delivery.notices }

    func tell(_ settings: NoticeSettings) { policy.delivery.notices = settings }

    var route: Route {
        var policy = policy
        policy.concurrency.maxRequests = plant == .extraPlace ? places + 1 : places
        return Route(name: name, policy: policy)
    }

    /// A run that began before the change may still be under way for that long.
    private static let longestRun: Int64 = 120_000_000_000

    func resize(_ places: Int, now: Int64) {
        earlier.append((self.places, now + DurableRoute.longestRun))
        self.places = places
    }

    func mostPlaces(now: Int64) -> Int {
        earlier.removeAll { $0.until < now }
        return max(places, earlier.map(\.places).max() ?? 0)
    }

    /// Whether a request of this kind may be sent again although its outcome is unknown, as a rule sees it.
    func mayRetry(_ method: Method, isKeyed: Bool) -> Bool {
        switch methods {
        case .any: true
        case .idempotent: method.isIdempotent
        case .idempotentOrKeyed: method.isIdempotent || isKeyed
        }
    }
}
