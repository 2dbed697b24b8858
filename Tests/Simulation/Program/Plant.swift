/// A bug put in on purpose, between what the checker believes and what the core is given or told.
enum Plant: String, CaseIterable {
    /// Two vaults over one credential.
    case doubleRefresh = "double-refresh"
    /// The core's policy does not honour `Retry-After`.
    case ignoresRetryAfter = "ignores-retry-after"
    /// The core's policy repeats any method.
    case repeatsUnknown = "repeats-unknown"
    /// Sleeps end 7 ms late.
    case late
    /// Sleeps end an eighth early.
    case early
    /// Sleeps do not hear of cancellation.
    case deaf
    /// One outcome in a thousand is lost.
    case lostOutcome = "lost-outcome"
    /// One outcome in a thousand is told twice.
    case secondOutcome = "second-outcome"
    /// The core's route has one attempt more.
    case extraAttempt = "extra-attempt"
    /// Every rule of the core has one attempt more.
    case extraUse = "extra-use"
    /// The core remembers no failed refresh.
    case forgetsCooldown = "forgets-cooldown"
    /// The core's routes send another route's credential.
    case wrongOrigin = "wrong-origin"
    /// Two upstreams of a route are one and the same.
    case reentersUpstream = "reenters-upstream"
    /// The core's `respond` rules answer everything.
    case eagerPlaceholder = "eager-placeholder"
    /// Cancellation does not reach the core.
    case sendsAfterCancel = "sends-after-cancel"
    /// The core waits by another schedule.
    case otherSchedule = "other-schedule"
    /// The core's rules do not see a failure, so that it gives up.
    case givesUp = "gives-up"
    /// The core takes a refusal for a success.
    case falseSuccess = "false-success"
    /// A background task never ends.
    case leakedTask = "leaked-task"
    /// The core's jobs have a longer time than the caller's.
    case longerDeadline = "longer-deadline"
}
