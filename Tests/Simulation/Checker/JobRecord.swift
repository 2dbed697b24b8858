import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

final class JobRecord {
    enum Stage {
        /// An attempt has begun: its credential may be on the way.
        case attempting
        case sending
        case judging(Reply.Kind, StreamRecord?)
        case waiting(until: Int64)
        /// Nothing more may be sent: a rule answered, or none acted.
        case closing(Closing)
    }

    enum Closing {
        case failed(FailureKind)
        case canned(rule: Int)
        case stale
    }

    enum Content {
        case none, json, text
        case stream(SimulatedUpload)
    }

    let number: Int
    let route: RouteCase
    let method: Method
    let options: JobOptions
    let content: Content
    /// Which of the route's targets it asks for.
    let target: Int
    /// Whether its answer may serve another caller.
    let isShareable: Bool
    /// Names what a kept answer is kept for.
    let answerKey: Int
    /// When its own time is over, which stands still while content is collected, and what bounds all of it.
    private var patience: Int64
    private let end: Int64
    let attemptTimeout: Int64
    let maxAttempts: Int
    /// Whether it is kept and sent in runs, between which it waits.
    let isDurable: Bool
    /// Nil where no code of a program is in the way.
    var program: ProgramRecord?
    /// Whether a rule or strategy sends it again.
    var isDue = false

    var stage = Stage.attempting
    /// When the answer or the failure at hand came.
    var repliedWallSeconds: Int64 = 0
    /// Place of the upstream in the route's list.
    var place = 0
    var entered: [Int] = []
    /// Place of the upstream the attempt at hand goes to.
    var attemptPlace = 0
    /// Upstream processes at which attempts began, and to which they were sent.
    var begunAt: Set<Int> = []
    var visited: Set<Int> = []
    var attemptBegan: [Int64] = []
    var wire = 0
    var uses: [Int]
    /// Those of them of the present run that count against no allowance of a durable job once it is over.
    var unspent = 0
    /// How often each rule has fetched a credential since one was last refused for good.
    var refreshes: [Int]
    var earlierAttempts = 0
    /// Redirects followed within the attempt at hand, and what they made of the method.
    var hops = 0
    /// Whether each of them asked for the request itself once more.
    var hopsAsk = true
    var hopMethod: Method?
    var hopDropped = false
    var token = 0
    var refused = 0
    /// The token for which its present run got another; 0 when it got none.
    var renewed = 0
    /// Whether no credential is fetched after the attempt at hand, since a fresh one was refused.
    var isRefreshHeld = false
    /// Whether a durable job waits for another credential after the attempt at hand, which was answered.
    var isRefusedForGood = false
    var isKeyed: Bool
    var key: String?
    var cancelledAt: Int64?
    var streams: [StreamRecord] = []
    var outcomes = 0
    var failedEvents = 0
    var recoveredEvents = 0
    var cannedEvents = 0
    var breachEvents = 0
    var timeline: [Moment] = []

    init(
        _ number: Int,
        _ route: RouteCase,
        _ method: Method,
        _ options: JobOptions,
        _ content: Content,
        target: Int,
        isShareable: Bool,
        answerKey: Int,
        began: Int64,
        expiresAfter: Duration?
    ) {
        (self.target, self.isShareable, self.answerKey, self.number) = (
            target, isShareable, answerKey, number
        )
        (self.route, self.method, self.options, self.content) = (route, method, options, content)
        let policy = route.policy
        isDurable = expiresAfter != nil
        patience = isDurable ? .max : began + policy.timeouts.total.saturatedNanoseconds
        end = (expiresAfter ?? options.timeout).map { began + $0.saturatedNanoseconds } ?? .max
        attemptTimeout =
            min(options.attemptTimeout ?? policy.timeouts.attempt, policy.timeouts.attempt)
            .saturatedNanoseconds
        let allowed = isDurable ? policy.delivery.maxAttempts ?? policy.maxAttempts : policy.maxAttempts
        maxAttempts = min(options.maxAttempts ?? allowed, allowed)
        uses = Array(repeating: 0, count: policy.recovery.count)
        refreshes = uses
        isKeyed = options.hasIdempotencyKey
    }

    var deadline: Int64 { min(patience, end) }

    func contentMoved(for time: Int64) { if patience < .max { patience += time } }

    var attemptDeadline: Int64 { min((attemptBegan.last ?? 0) + attemptTimeout, deadline) }

    var isUnpreparable: Bool {
        guard route.policy.request.wrap != nil else { return false }
        return switch content {
        case .none, .json: false
        case .text, .stream: true
        }
    }

    /// Whether its body was taken by an attempt and is gone.
    var isBodyGone: Bool { if case .stream(let upload) = content { upload.isGone } else { false } }

    /// How far the request got whose redirects ended like that.
    func behindHops(_ sent: Sent) -> Sent {
        guard hops > 0 else { return sent }
        if hopDropped || sent == .neverSent || sent == .unknown { return .unknown }
        return hopsAsk ? sent : .answered
    }
}
