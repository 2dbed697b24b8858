package import RelayBase

/// The past that a durable job brings along from its earlier runs, and the moment it expires.
package struct JobHistory: Sendable {
    /// Recorded attempts over the whole life of the job: the next one's number is one more.
    package var attempts = 0
    /// Attempts that count against its allowance.
    package var spentAttempts = 0
    /// How often each rule has acted since acceptance or the last replay, or would have in mode report, by the rule's name.
    package var ruleUses: [String: Int] = [:]
    /// When the job expires; nil never.
    package var deadline: Instant?
    /// When it was due this time, in milliseconds since 1970 UTC.
    package var dueAt: Int64?
    /// Whether its last attempt was cut short by a crash.
    package var wasInterrupted = false
    /// Whether an attempt of an earlier life may have been carried out that the route would not repeat.
    package var isInDoubt = false
    /// The attempt that the upstream is to be asked about before anything else; nil where there is none.
    package private(set) var doubt: Doubt? {
        get { doubts.first }
        set { doubts = newValue.map { [$0] } ?? [] }
    }
    /// Where its attempts go on record before they are sent; nil where nobody keeps them.
    package var log: (any AttemptLog)?

    /// One at most: most histories have none, and an array takes a word then.
    private var doubts: [Doubt] = []

    /// How often each rule has fetched a credential that nobody has refused for good since.
    private var refreshes: [String: Int] = [:]

    package init() {}

    /// Takes an attempt of an earlier run into account.
    package mutating func count(_ attempt: Attempt) {
        if let rule = attempt.chargedRule {
            ruleUses[rule, default: 0] += 1
            if case .refreshCredentials? = attempt.next { refreshes[rule, default: 0] += 1 }
        }
        for held in attempt.heldBack where held.reason.isReport { ruleUses[held.rule, default: 0] += 1 }
        wasInterrupted = attempt.failure?.kind == .interrupted
        count(lookUp: attempt)
        guard attempt.failure?.kind == .credentialsFailed else { return }
        // The job waits until the upstream takes a credential, and may fetch another then.
        for (rule, uses) in refreshes { ruleUses[rule, default: 0] -= uses }
        refreshes = [:]
    }

    /// A job begins that was left in doubt in an earlier life.
    package mutating func beginsInDoubt() {
        isInDoubt = true
        doubt = Doubt(
            Failure(
                .interrupted,
                sent: .unknown,
                "an earlier life of the job left it open whether it was carried out"
            ),
            upstream: nil,
            isEarlier: true
        )
    }

    private mutating func count(lookUp attempt: Attempt) {
        let goesOn = if case .verify? = attempt.next { true } else { false }
        guard attempt.lookUp == nil else {
            if goesOn { doubt?.asked(attempt.failure) } else { doubt = nil }
            return
        }
        // While a doubt is open only a question is sent: a crash has cut that off, whatever the claim had put on record.
        if doubt?.isEarlier == false, wasInterrupted { return }
        doubt = nil
        if wasInterrupted || goesOn, let failure = attempt.failure {
            doubt = Doubt(failure, upstream: attempt.upstream)
        }
    }
}
