package import RelayBase
package import RelayRoute

/// The part of a route's figures that is told but seldom: what failed, what the rules did, and how the route is doing.
package struct RouteAccount: Sendable {
    package var health = RouteHealth()
    /// Failed attempts.
    package private(set) var failures: [FailureName: UInt64] = [:]
    /// The same by cause, since the running minute of the history began.
    package internal(set) var causes: [FailureCode: UInt32] = [:]
    /// The last failure of each upstream.
    package private(set) var lastFailures: [String: LastFailure] = [:]
    /// The jobs that failed before any attempt, for want of a permit or of time.
    package private(set) var unsent: [FailureKind: UInt64] = [:]
    /// How often each rule has acted.
    package private(set) var recoveries: [RecoveryName: UInt64] = [:]
    /// How often the upstream was asked what became of a request, by what it said.
    package private(set) var lookUps: [LookUp: UInt64] = [:]
    /// How often the head of a streamed answer was held back, by what ended that.
    package internal(set) var releases: [HeadRelease: UInt64] = [:]
    /// How often a request that was late was sent a second time, or was not, by what came of it.
    package internal(set) var hedges: [HedgeEnd: UInt64] = [:]
    /// How often each upstream's breaker has opened, or closed.
    package private(set) var breakerMoves: [BreakerMove: UInt64] = [:]
    /// How often each rule, and each part of the route's traffic, that only tells would have acted.
    package private(set) var wouldHave: [String: UInt64] = [:]
    /// Failures whose retry the route's budget kept back.
    package private(set) var budgetSpent: UInt64 = 0

    package struct FailureName: Hashable, Sendable {
        package let upstream: String
        package let kind: FailureKind

        package init(upstream: String, kind: FailureKind) {
            self.upstream = upstream
            self.kind = kind
        }
    }

    package struct RecoveryName: Hashable, Sendable {
        package let rule: String
        /// The action's word.
        package let action: String

        package init(rule: String, action: String) {
            self.rule = rule
            self.action = action
        }
    }

    package struct BreakerMove: Hashable, Sendable {
        package let upstream: String
        package let isOpen: Bool

        package init(upstream: String, isOpen: Bool) {
            self.upstream = upstream
            self.isOpen = isOpen
        }
    }

    /// Stands for the rule where there was none: a failure of the kind that the route takes for a success.
    package static let quickRecovery = "quick_recovery"

    /// Names of each sort that are told apart; the configuration's are far fewer, but for one that is ever changed.
    static let nameLimit = 1_000

    /// Causes that are told apart within a minute.
    static let causeLimit = 32

    package init() {}

    /// Takes up an attempt whose job is over, or waits.
    mutating func count(_ attempt: Attempt) {
        for held in attempt.heldBack {
            if case .reported = held.reason { RouteAccount.count(held.rule, in: &wouldHave) }
        }
        if let word = attempt.lookUp {
            count(word)
        } else if let failure = attempt.failure, !attempt.wasOutrun {
            RouteAccount.count(FailureName(upstream: attempt.upstream, kind: failure.kind), in: &failures)
            let code = FailureCode(failure)
            let hasRoom = causes[code] != nil || causes.count < RouteAccount.causeLimit
            causes[hasRoom ? code : .other, default: 0] &+= 1
            note(failure, of: attempt)
            if attempt.heldBack.contains(where: { $0.reason == .budgetSpent }) { budgetSpent += 1 }
        }
        switch attempt.next {
        case nil, .verify, .follow, .hedge: return
        default: break
        }
        guard let next = attempt.next else { return }
        let rule = attempt.rule ?? RouteAccount.quickRecovery
        RouteAccount.count(RecoveryName(rule: rule, action: next.name), in: &recoveries)
        if let resent = attempt.resentBy {
            RouteAccount.count(
                RecoveryName(rule: resent, action: Attempt.Next.Word.retry.rawValue),
                in: &recoveries
            )
        }
    }

    mutating func count(_ word: LookUp) { lookUps[word, default: 0] &+= 1 }

    /// How often each rule and each part that only tells would have acted, those that have not included.
    package func wouldHave(_ route: Route) -> [(name: String, count: UInt64)] {
        route.reported.map { ($0, wouldHave[$0] ?? 0) }
    }

    private mutating func note(_ failure: Failure, of attempt: Attempt) {
        guard failure.kind.tellsOfUpstream else { return }
        let known = lastFailures[attempt.upstream]
        guard known != nil || lastFailures.count < RouteAccount.nameLimit else { return }
        let last = LastFailure(
            failure,
            wallSeconds: (attempt.beganAt + attempt.duration.saturatedNanoseconds / 1_000_000) / 1_000
        )
        // A request that took long is told of after others that began later.
        if known.map({ $0.wallSeconds <= last.wallSeconds }) ?? true { lastFailures[attempt.upstream] = last }
    }

    mutating func count(unsent kind: FailureKind) { RouteAccount.count(kind, in: &unsent) }

    mutating func count(_ change: BreakerChange) {
        let move = BreakerMove(upstream: change.upstream, isOpen: change.probeIn != nil)
        RouteAccount.count(move, in: &breakerMoves)
    }

    private static func count<Name>(_ name: Name, in counts: inout [Name: UInt64]) {
        guard counts[name] != nil || counts.count < nameLimit else { return }
        counts[name, default: 0] += 1
    }
}

extension Route {
    /// The names of the parts of its traffic and of the rules that only tell what they would do.
    package var reported: [String] {
        let parts = TrafficParts.names.filter { reporting.contains($0.part) }.map(\.name)
        return parts + deliveryRules.filter(\.reports).map(\.name)
    }
}
