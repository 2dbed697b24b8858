package import RelayBase

/// The past that a durable job brings along from its earlier runs, and the moment it expires.
package struct JobHistory: Sendable {
    /// Recorded attempts over the whole life of the job: the next one's number is one more.
    package var attempts = 0
    /// Attempts that count against its allowance.
    package var spentAttempts = 0
    /// Those that the upstream refused as one too many, at no cost.
    package private(set) var sparedAttempts = 0
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
    package var doubt: Doubt? { open.first?.doubt }
    /// The operation that the upstream has begun for it and that is not over; nil where there is none.
    package var operation: BegunOperation? { open.first?.operation }
    /// The names of upstreams that may have carried it out, and have not said since that they have not; empty for one that
    /// nobody knows.
    package var unsettled: [String] { open.first?.unsettled ?? [] }
    /// Where its attempts go on record before they are sent; nil where nobody keeps them.
    package var log: (any AttemptLog)?

    /// The questions that its earlier attempts leave open; one at most: most histories have none, and an array takes a word then.
    private var open: [OpenQuestions] = []

    /// How often each rule has fetched a credential that nobody has refused for good since.
    private var refreshes: [String: Int] = [:]

    package init() {}

    /// Takes an attempt of an earlier run into account.
    ///
    /// With `asksFirst` an upstream is asked about an open doubt before anything is sent, so that a crash has cut off a
    /// question.
    package mutating func count(_ attempt: Attempt, asksFirst: Bool = false) {
        if let rule = attempt.chargedRule {
            ruleUses[rule, default: 0] += 1
            if case .refreshCredentials? = attempt.next { refreshes[rule, default: 0] += 1 }
        }
        for held in attempt.heldBack where held.reason.isReport { ruleUses[held.rule, default: 0] += 1 }
        if attempt.isSpared { sparedAttempts += 1 }
        wasInterrupted = attempt.failure?.kind == .interrupted
        if !count(look: attempt) { count(lookUp: attempt, asksFirst) }
        guard attempt.failure?.kind == .credentialsFailed else { return }
        // The job waits until the upstream takes a credential, and may fetch another then.
        for (rule, uses) in refreshes { ruleUses[rule, default: 0] -= uses }
        refreshes = [:]
    }

    /// A job begins that was left in doubt in an earlier life.
    package mutating func beginsInDoubt() {
        isInDoubt = true
        change { open in
            open.doubt = Doubt(
                Failure(
                    .interrupted,
                    sent: .unknown,
                    "an earlier life of the job left it open whether it was carried out"
                ),
                upstream: nil,
                isEarlier: true
            )
            if open.unsettled.isEmpty { open.unsettled = [""] }
        }
    }

    /// Takes an attempt of an earlier life into account, of which only an operation that goes on and a doubt are left.
    package mutating func count(earlier attempt: Attempt) {
        if case .follow(_, let reference?)? = attempt.next {
            change {
                $0.operation = BegunOperation(reference, attempt)
                $0.operation?.isEarlier = true
            }
        } else if operation != nil, attempt.endsOperation {
            change { $0.operation = nil }
        }
        guard isInDoubt else { return }
        change { open in
            open.settle(attempt)
            open.doubt?.upstream = open.unsettled.last
        }
    }

    /// Takes note of an attempt that has begun an operation, or of a look at one.
    ///
    /// - Returns: whether it was one.
    private mutating func count(look attempt: Attempt) -> Bool {
        if case .follow(_, let reference)? = attempt.next {
            change { open in
                open.doubt = nil
                if let reference {
                    open.operation = BegunOperation(reference, attempt)
                } else {
                    open.operation?.looks += 1
                }
                open.operation?.trouble = attempt.failure
            }
            return true
        }
        guard operation != nil else { return false }
        // As long as it goes on only looks are taken, of which a crash has cut one off: that spends no attempt.
        if wasInterrupted {
            wasInterrupted = false
            spentAttempts = max(0, spentAttempts - 1)
            return true
        }
        change { $0.operation = nil }
        return attempt.lookUp != nil
    }

    private mutating func count(lookUp attempt: Attempt, _ asksFirst: Bool) {
        let goesOn = if case .verify? = attempt.next { true } else { false }
        guard attempt.lookUp == nil else {
            change { open in
                open.settle(attempt)
                if goesOn { open.doubt?.asked(attempt.failure) } else { open.doubt = nil }
            }
            return
        }
        // While a doubt is open only a question is sent where one can be: a crash has cut that off, whatever the claim had
        // put on record. It spends no attempt.
        if asksFirst, doubt?.isEarlier == false, wasInterrupted {
            spentAttempts = max(0, spentAttempts - 1)
            return
        }
        guard attempt.sent.mayHaveActed || !open.isEmpty else { return }
        let failure = wasInterrupted || goesOn ? attempt.failure : nil
        let endedAt =
            wasInterrupted ? nil : attempt.beganAt &+ attempt.duration.saturatedNanoseconds / 1_000_000
        change { open in
            open.settle(attempt)
            open.doubt = failure.map { Doubt($0, upstream: attempt.upstream, endedAt: endedAt) }
        }
    }

    private mutating func change(_ change: (inout OpenQuestions) -> Void) {
        var now = open.first ?? OpenQuestions()
        change(&now)
        open = [now]
    }
}

extension Attempt {
    /// Whether an operation that was open before it is to be looked at no more: it was seen to have failed or to be gone, or
    /// a rule that names its failure has the request sent again.
    fileprivate var endsOperation: Bool {
        if lookUp == .failed || lookUp == .gone { return true }
        switch next {
        case nil, .fail?, .deadLetter?, .follow?: return lookUp == nil && failure?.kind != .interrupted
        default: return true
        }
    }
}

/// The questions that earlier attempts leave open.
private struct OpenQuestions: Sendable {
    var doubt: Doubt?
    var operation: BegunOperation?
    var unsettled: [String] = []

    /// Takes note of what the attempt says of its upstream.
    mutating func settle(_ attempt: Attempt) {
        if attempt.lookUp == .absent {
            // One that was not sent the request knows of all who were.
            let isOther = !unsettled.contains(attempt.upstream)
            unsettled.removeAll { isOther || $0 == attempt.upstream }
        } else if attempt.lookUp == nil, attempt.failure?.sent.mayHaveActed == true {
            unsettled.removeAll { $0.isEmpty || $0 == attempt.upstream }
            unsettled.append(attempt.upstream)
        }
    }
}
