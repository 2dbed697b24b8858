/// What a durable job brings along from its earlier runs, and when it is over.
package struct JobHistory: Sendable {
    /// Recorded attempts over the whole life of the job: the next one's number is one more.
    package var attempts = 0
    /// Attempts that count against its allowance.
    package var spentAttempts = 0
    /// How often each rule has acted since acceptance or the last replay, by the rule's name.
    package var ruleUses: [String: Int] = [:]
    /// When the job expires; nil never.
    package var deadline: Instant?
    /// Whether its last attempt was cut short by a crash.
    package var wasInterrupted = false
    /// Whether an attempt of an earlier life may have been carried out that the route would not repeat.
    package var isInDoubt = false
    /// Where its attempts go on record before they are sent; nil where nobody keeps them.
    package var log: (any AttemptLog)?

    package init() {}
}
