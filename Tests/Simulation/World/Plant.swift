/// A bug put in on purpose, between what the checker believes and what the core is given or told.
enum Plant: String, PlantedBug {
    /// Two vaults over one credential.
    case doubleRefresh = "double-refresh: are under way at once"
    case forgetsToken = "forgets-token: although its newest token is good and was not refused"
    case forgetsRefreshToken = "forgets-refresh-token: does not carry the newest refresh token"
    case forgetsCooldown = "forgets-cooldown: within the cool-down of its failure"
    case extraRefresh = "extra-refresh: refreshes more often than it may"
    case staleToken = "stale-token: carries a token that has expired"
    case wrongSecret = "wrong-secret: carries a secret that is not its route's"
    /// The core's failover leads to an origin the credential does not belong to.
    case wrongOrigin = "wrong-origin: goes to an origin it does not belong to"
    case tellsSecret = "tells-secret: text shows a secret"
    case ignoresRetryAfter = "ignores-retry-after: before the Retry-After it honours"
    /// The core's policy repeats any method.
    case repeatsUnknown = "repeats-unknown: not safe to repeat is repeated after an unknown outcome"
    /// The same, told by what it does after an answer.
    case repeatsAnswered =
        "repeats-answered: not safe to repeat is repeated after an answer that does not refuse it"
    case takesAllForRefusals = "takes-all-for-refusals: verdict is not what happened on the wire"
    /// The transport calls unknown what was never sent, and the other way round.
    case wrongVerdict = "wrong-verdict: verdict is not what happened on the wire"
    /// A body that was read says that it was not.
    case repeatsBody = "repeats-body: read once is sent a second time"
    case freshKey = "fresh-key: different idempotency keys"
    /// Sleeps end 7 ms late.
    case late = "late: sent later than its wait says"
    /// Sleeps end an eighth early.
    case early = "early: sent before its wait is over"
    case deaf = "deaf: a cancelled job does not end at once"
    case lateTransport = "late-transport: an outcome comes after the job's deadline"
    case longerDeadline = "longer-deadline: at or after the job's deadline"
    case otherSchedule = "other-schedule: outside the bounds of its schedule"
    case extraAttempt = "extra-attempt: more attempts may have reached an upstream"
    case extraUse = "extra-use: repeats more often than it may"
    /// The core's rules do not see a failure, so that it gives up.
    case givesUp = "gives-up: could act, and is passed over"
    case ignoresCooldown = "ignores-cooldown: enters an upstream within its cool-down"
    case ignoresConstraint = "ignores-constraint: goes to another upstream than the rules say"
    case keepsTooLong = "keeps-too-long: an answer is served that is kept no more"
    /// The core's second failover goes to a copy of the upstream it has entered.
    case reentersUpstream = "reenters-upstream: enters an upstream again"
    case eagerPlaceholder = "eager-placeholder: acts on a failure it does not match"
    /// The core takes a refusal for a success.
    case falseSuccess = "false-success: a failure is passed on as a success"
    case staysPut = "stays-put: a redirect is not followed"
    case goesAway = "goes-away: sent while another is under way"
    /// The core does not wrap what the checker believes to be wrapped.
    case skipsPreparation = "skips-preparation: cannot be prepared is sent"
    case sendsAfterCancel = "sends-after-cancel: sent after the job was cancelled"
    case lostOutcome = "lost-outcome: has 0 outcomes"
    case secondOutcome = "second-outcome: has two outcomes"
    case stuckJob = "stuck-job: never had an outcome"
    case leakedTask = "leaked-task: tasks are left at the end"
    /// Bodies stay open, whoever lets them go.
    case leakedBody = "leaked-body: while an earlier answer's body is open"
    case losesDecision = "loses-decision: before the last was decided"
    case losesBreach = "loses-breach: never fails is not counted once"
    /// Every other job of a program sends what is not safe to repeat.
    case hidesMethod = "hides-method: not safe to repeat is repeated after an unknown outcome"
    /// A failed preparation looks like a failed connection.
    case disguisesPreparation = "disguises-preparation: failed preparation is not final"
    /// An answer is kept from the code that would not take it.
    case forcesAnswer = "forces-answer: the program's code did not take"
    case swapsKey = "swaps-key: without the key it had"
    /// Code that heeds no cancellation is waited for.
    case outlastsBound = "outlasts-bound: an outcome comes after the job"
    /// Cancellation does not reach a program's job.
    case asksAfterCancel = "asks-after-cancel: a strategy is asked after the job was cancelled"
    /// A durable job forgets between its runs how often each rule has acted.
    case forgetsUses = "forgets-uses: repeats more often than it may"
    case deliversStandIn = "delivers-stand-in: a stand-in counts as delivered"
    case burnsWait = "burns-wait: could act, and is passed over"
    case burnsRefusal = "burns-refusal: could act, and is passed over"
    /// A durable job that has waited for a credential may not fetch another.
    case chargesFetches = "charges-fetches: could act, and is passed over"
    case takesAnyPace = "takes-any-pace: although it comes too slowly"
}
