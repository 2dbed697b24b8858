/// The record of one attempt: a line of the job's timeline.
public struct Attempt: Sendable {
    /// Counted from 1; the first attempt is attempt 1.
    public var number: Int
    /// The name of the upstream it went to.
    public var upstream: String
    /// When it began, in milliseconds since 1970 UTC.
    public var beganAt: Int64
    /// How long it took: to the answer's end where it was collected or broke off, to its head where it was
    /// streamed.
    public var duration: Duration
    /// The answer's status; nil when no answer came.
    public var status: Status?
    /// Nil when the attempt succeeded.
    public var failure: Failure?
    /// Where it went and what it took; nil when nothing was dialled.
    public var exchange: Exchange?
    /// The upstream's word of an attempt that was in doubt, where this one only asked for it; nil where it sent the request.
    public var lookUp: LookUp?
    /// Redirects that were followed within the attempt.
    public var redirects = 0
    /// The rule that decided what came next; nil when none matched or none was asked.
    public var rule: String?
    /// The rule's decision; nil when none matched or none was asked.
    public var next: Next?
    /// The rules that matched and did not act, each with its reason, in the order they were read.
    public var heldBack: [HeldBack] = []
    /// The rule that sends the request again as a kept job, where `rule` has only answered it.
    package var resentBy: String?
    /// The daemon of a fleet that made it.
    package var node = NodeName.none

    /// A rule's decision.
    public enum Next: Sendable, Equatable {
        /// The request is sent again after that wait.
        case retry(after: Duration)
        /// A new credential is fetched, then the request is sent again.
        case refreshCredentials
        /// The request is sent to the upstream of that name; nil where an old record does not say.
        case failover(to: String?)
        /// An answer is given in the upstream's stead.
        case respond(StandIn)
        /// An answer is given in the upstream's stead, and the request goes on as a kept job.
        case respondAndKeep(StandIn)
        /// The failure was a success after all; no rule was asked.
        case quickRecovery
        /// The upstream is asked after that wait what became of it, before anything else.
        case verify(after: Duration)
        /// The operation that it began is looked at after that wait, at that address of its upstream with the origin behind a
        /// space; nil at the one before.
        indirect case follow(after: Duration, at: String?)
        /// Another sending of the same request, which was under way beside it, goes on alone.
        case hedge
        /// The job ends with its failure, or with the one the strategy gave.
        case fail
        /// The job is given up for an operator to look at.
        case deadLetter
        /// The route is paused and the job waits for it.
        case pauseRoute
        /// The job waits for an operator.
        case hold

        /// The action's name in configuration, journal and API.
        public var name: String { word.rawValue }

        /// Every name there is.
        package enum Word: String, CaseIterable, Sendable {
            case retry
            case refreshCredentials = "refresh_credentials"
            case failover
            case respond
            case respondAndKeep = "respond_and_keep"
            case quickRecovery = "quick_recovery"
            case verify
            case follow
            case hedge
            case fail
            case deadLetter = "dead_letter"
            case pauseRoute = "pause_route"
            case hold
        }

        private var word: Word {
            switch self {
            case .retry: .retry
            case .refreshCredentials: .refreshCredentials
            case .failover: .failover
            case .respond: .respond
            case .respondAndKeep: .respondAndKeep
            case .quickRecovery: .quickRecovery
            case .verify: .verify
            case .follow: .follow
            case .hedge: .hedge
            case .fail: .fail
            case .deadLetter: .deadLetter
            case .pauseRoute: .pauseRoute
            case .hold: .hold
            }
        }
    }

    /// An attempt of which nothing more is known; for a test of a program's own observer.
    ///
    /// - Parameters:
    ///   - number: counted from 1.
    ///   - upstream: the name of the upstream.
    ///   - beganAt: when it began, in milliseconds since 1970 UTC.
    ///   - duration: how long it took.
    public init(number: Int, upstream: String, beganAt: Int64, duration: Duration = .zero) {
        self.number = number
        self.upstream = upstream
        self.beganAt = beganAt
        self.duration = duration
    }
}

extension Attempt {
    /// Whether it failed and no rule of the route was for it.
    package var metNoRule: Bool {
        failure != nil && rule == nil && next == nil && heldBack.allSatisfy(\.reason.isOfHedge)
    }

    /// The rule that is charged with what came next.
    package var chargedRule: String? {
        if isSpared, case .retry? = next { return nil }
        return resentBy ?? rule
    }

    /// Whether the upstream refused it as one too many, and its job waits as the relay likes: it costs the job nothing.
    package var isSpared: Bool { failure?.blamed == .tooMany }

    /// Whether another sending of the same request was answered before it, and it was given up: its end is nobody's doing.
    package var wasOutrun: Bool { isLoser && failure?.kind == .cancelled }

    /// Whether another sending of the same request, beside it, was judged in its place.
    package var isLoser: Bool { if case .hedge? = next { true } else { false } }

    /// How far it got.
    package var sent: Sent { failure?.sent ?? .answered }

    /// Whether it counts against its job's allowance: a stop burns no attempt, not even one that it met on the wire, and
    /// neither does a credential that was refused, what is spared, or a question.
    package var isSpent: Bool {
        if lookUp != nil { return false }
        if case .refreshCredentials? = next { return false }
        if wasOutrun { return sent != .neverSent }
        return sent != .neverSent && failure?.kind != .cancelled && failure?.kind != .credentialsFailed
            && !isSpared
    }
}

// In place, as a closure would be given a copy of each.
extension [Attempt] {
    /// As they began: of two that were under way at once the one that was judged stands last in a record.
    package var asBegun: [Attempt] { hasLosers ? sorted { $0.number < $1.number } : self }

    /// Whether two of them were under way at once.
    package var hasLosers: Bool {
        let all = span
        for index in all.indices { if case .hedge? = all[index].next { return true } }
        return false
    }

    /// How many were given up since another sending was answered before them.
    package var outrun: Int {
        hasLosers ? count { $0.wasOutrun } : 0
    }
}

extension Attempt: CustomStringConvertible {
    /// The attempt as one line of a timeline: `2 to eu: 503 Service Unavailable, http_status, overload: retry`.
    public var description: String {
        var parts: [String] = []
        if let status { parts.append("\(status)") }
        if let failure { parts.append("\(failure.kind)") }
        if let lookUp { parts.append(lookUp.rawValue) }
        if let rule { parts.append(next.map { "\(rule): \($0.name)" } ?? rule) }
        for held in heldBack { parts.append("rule \(held.rule): \(held.reason.text)") }
        return "\(number) to \(upstream): " + parts.joined(separator: ", ")
    }
}

extension Attempt {
    /// Without the upstream's own words.
    package var unquoted: Attempt {
        var rest = self
        rest.failure?.apiTitle = nil
        return rest
    }
}
