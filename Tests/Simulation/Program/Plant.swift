/// A bug put in on purpose, between what the checker believes and what the core is given or told.
enum Plant: String, CaseIterable {
    /// Two vaults over one credential.
    case doubleRefresh = "double-refresh"
    /// A reload loses the tokens.
    case forgetsToken = "forgets-token"
    /// A reload loses the refresh token the endpoint gave.
    case forgetsRefreshToken = "forgets-refresh-token"
    /// The core remembers no failed refresh.
    case forgetsCooldown = "forgets-cooldown"
    /// The core's rules renew a credential once more.
    case extraRefresh = "extra-refresh"
    /// The endpoint tells the core a longer lifetime.
    case staleToken = "stale-token"
    /// The core's routes send another route's credential.
    case wrongSecret = "wrong-secret"
    /// The core's failover leads to an origin the credential does not belong to.
    case wrongOrigin = "wrong-origin"
    /// An error's text names a secret.
    case tellsSecret = "tells-secret"
    /// The core's policy does not honour `Retry-After`.
    case ignoresRetryAfter = "ignores-retry-after"
    /// The core's policy repeats any method.
    case repeatsUnknown = "repeats-unknown"
    /// The same, told by what it does after an answer.
    case repeatsAnswered = "repeats-answered"
    /// The core takes every status for a refusal.
    case takesAllForRefusals = "takes-all-for-refusals"
    /// The transport calls unknown what was never sent, and the other way round.
    case wrongVerdict = "wrong-verdict"
    /// A body that was read says that it was not.
    case repeatsBody = "repeats-body"
    /// Every attempt has an idempotency key of its own.
    case freshKey = "fresh-key"
    /// Sleeps end 7 ms late.
    case late
    /// Sleeps end an eighth early.
    case early
    /// Sleeps do not hear of cancellation.
    case deaf
    /// The transport keeps no deadline.
    case lateTransport = "late-transport"
    /// The core's jobs have a longer time than the caller's.
    case longerDeadline = "longer-deadline"
    /// The core waits by another schedule.
    case otherSchedule = "other-schedule"
    /// The core's route has one attempt more.
    case extraAttempt = "extra-attempt"
    /// Every rule of the core has one attempt more.
    case extraUse = "extra-use"
    /// The core's rules do not see a failure, so that it gives up.
    case givesUp = "gives-up"
    /// The core lets no upstream rest.
    case ignoresCooldown = "ignores-cooldown"
    /// The core is never told that the network is constrained.
    case ignoresConstraint = "ignores-constraint"
    /// The core keeps answers twice as long.
    case keepsTooLong = "keeps-too-long"
    /// The core's second failover goes to a copy of the upstream it has entered.
    case reentersUpstream = "reenters-upstream"
    /// The core's `respond` rules answer everything.
    case eagerPlaceholder = "eager-placeholder"
    /// The core takes a refusal for a success.
    case falseSuccess = "false-success"
    /// The core follows no redirect.
    case staysPut = "stays-put"
    /// The core follows redirects it should pass on.
    case goesAway = "goes-away"
    /// The core does not wrap what the checker believes to be wrapped.
    case skipsPreparation = "skips-preparation"
    /// Cancellation does not reach the core.
    case sendsAfterCancel = "sends-after-cancel"
    /// One outcome in a thousand is lost.
    case lostOutcome = "lost-outcome"
    /// One outcome in a thousand is told twice.
    case secondOutcome = "second-outcome"
    /// A job in a thousand never goes on.
    case stuckJob = "stuck-job"
    /// A background task never ends.
    case leakedTask = "leaked-task"
    /// Bodies stay open, whoever lets them go.
    case leakedBody = "leaked-body"
    /// An observer does not hear of a decision.
    case losesDecision = "loses-decision"
    /// Breaches of routes that never fail are not told.
    case losesBreach = "loses-breach"
    /// Every other job of a program sends what is not safe to repeat.
    case hidesMethod = "hides-method"
    /// A failed preparation looks like a failed connection.
    case disguisesPreparation = "disguises-preparation"
    /// An answer is kept from the code that would not take it.
    case forcesAnswer = "forces-answer"
    /// A request that a program repeats for its key carries another key.
    case swapsKey = "swaps-key"
    /// Code that heeds no cancellation is waited for.
    case outlastsBound = "outlasts-bound"
    /// Cancellation does not reach a program's job.
    case asksAfterCancel = "asks-after-cancel"
    /// A durable job forgets between its runs how often each rule has acted.
    case forgetsUses = "forgets-uses"
    /// A durable job takes what stands in for an answer.
    case deliversStandIn = "delivers-stand-in"
    /// A wait for a credential costs a durable job an attempt.
    case burnsWait = "burns-wait"
    /// A credential that is refused for good costs a durable job an attempt.
    case burnsRefusal = "burns-refusal"
    /// A durable job that has waited for a credential may not fetch another.
    case chargesFetches = "charges-fetches"
    /// The core takes content at any pace.
    case takesAnyPace = "takes-any-pace"

    /// Part of the sentence the checker must say.
    var sentence: String {
        switch self {
        case .doubleRefresh: "are under way at once"
        case .forgetsToken: "although its newest token is good and was not refused"
        case .forgetsRefreshToken: "does not carry the newest refresh token"
        case .forgetsCooldown: "within the cool-down of its failure"
        case .extraRefresh: "refreshes more often than it may"
        case .staleToken: "carries a token that has expired"
        case .wrongSecret: "carries a secret that is not its route's"
        case .wrongOrigin: "goes to an origin it does not belong to"
        case .tellsSecret: "text shows a secret"
        case .ignoresRetryAfter: "before the Retry-After it honours"
        case .repeatsUnknown: "not safe to repeat is repeated after an unknown outcome"
        case .repeatsAnswered: "not safe to repeat is repeated after an answer that does not refuse it"
        case .takesAllForRefusals: "verdict is not what happened on the wire"
        case .wrongVerdict: "verdict is not what happened on the wire"
        case .repeatsBody: "read once is sent a second time"
        case .freshKey: "different idempotency keys"
        case .late: "sent later than its wait says"
        case .early: "sent before its wait is over"
        case .deaf: "a cancelled job does not end at once"
        case .sendsAfterCancel: "sent after the job was cancelled"
        case .lateTransport: "an outcome comes after the job's deadline"
        case .longerDeadline: "at or after the job's deadline"
        case .otherSchedule: "outside the bounds of its schedule"
        case .extraAttempt: "more attempts may have reached an upstream"
        case .extraUse: "repeats more often than it may"
        case .givesUp: "could act, and is passed over"
        case .ignoresCooldown: "enters an upstream within its cool-down"
        case .ignoresConstraint: "goes to another upstream than the rules say"
        case .keepsTooLong: "an answer is served that is kept no more"
        case .reentersUpstream: "enters an upstream again"
        case .eagerPlaceholder: "acts on a failure it does not match"
        case .falseSuccess: "a failure is passed on as a success"
        case .staysPut: "a redirect is not followed"
        case .goesAway: "sent while another is under way"
        case .skipsPreparation: "cannot be prepared is sent"
        case .lostOutcome: "has 0 outcomes"
        case .secondOutcome: "has two outcomes"
        case .stuckJob: "never had an outcome"
        case .leakedTask: "tasks are left at the end"
        case .leakedBody: "while an earlier answer's body is open"
        case .losesDecision: "before the last was decided"
        case .losesBreach: "never fails is not counted once"
        case .hidesMethod: "not safe to repeat is repeated after an unknown outcome"
        case .disguisesPreparation: "failed preparation is not final"
        case .forcesAnswer: "the program's code did not take"
        case .swapsKey: "without the key it had"
        case .outlastsBound: "an outcome comes after the job"
        case .asksAfterCancel: "a strategy is asked after the job was cancelled"
        case .forgetsUses: "repeats more often than it may"
        case .deliversStandIn: "a stand-in counts as delivered"
        case .burnsWait, .burnsRefusal, .chargesFetches: "could act, and is passed over"
        case .takesAnyPace: "although it comes too slowly"
        }
    }
}
