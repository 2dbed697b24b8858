/// A bug put in on purpose, between the durable side of the engine and the store, the clock and the upstreams around it.
enum DurablePlant: String, CaseIterable {
    /// Now and then a place is taken and never given back.
    case keepsPlace = "keeps-place"
    /// A settlement in forty is acknowledged and forgotten.
    case swallowsSettlement = "swallows-settlement"
    /// The store tells nobody what is ready.
    case losesReady = "loses-ready"
    /// The end of a pause lets nothing go that was put aside.
    case resumesNothing = "resumes-nothing"
    /// After a failed credential the probe is never found.
    case shutsGate = "shuts-gate"
    /// A running job that is cancelled is only marked.
    case marksCancelled = "marks-cancelled"
    /// Every job counts as one that may be repeated after a crash.
    case repeatsAfterCrash = "repeats-after-crash"
    /// Nobody hears of the job that is next in its ordering key.
    case losesNextInOrder = "loses-next-in-order"
    /// Jobs that are retried together become due at once.
    case ignoresSpacing = "ignores-spacing"
    /// Nothing expires while a route is paused.
    case expiresNothingPaused = "expires-nothing-paused"
    /// The next process knows of no pause.
    case forgetsPause = "forgets-pause"
    /// Idempotency keys get lost on their way to the store.
    case losesKey = "loses-key"
    /// Ordering keys do.
    case losesOrder = "loses-order"
    /// The engine's routes have a place more.
    case extraPlace = "extra-place"
    /// A wait for a credential costs an attempt.
    case burnsWait = "burns-wait"
    /// Delays are a fifth shorter than asked for.
    case comesEarly = "comes-early"
    /// An accepted job in fifty is nowhere.
    case losesAccepted = "loses-accepted"
    /// An operator's pause never gets to the engine.
    case losesPause = "loses-pause"
    /// A hold is acknowledged and not done.
    case losesHold = "loses-hold"
    /// The engine's rules repeat whatever the outcome.
    case repeatsUnknown = "repeats-unknown"
    /// The same, told by what it does after an answer.
    case repeatsAnswered = "repeats-answered"
    /// Nobody hears of jobs that the store ends by itself.
    case losesEnds = "loses-ends"
    /// Waits for jobs never end by the clock.
    case deafWaiters = "deaf-waiters"
    /// A success in thirty is kept as a failure.
    case losesSuccess = "loses-success"
    /// The engine's rules wait a hundredth of what they should.
    case ignoresSchedule = "ignores-schedule"
    /// The engine's routes give up an attempt later.
    case extraAttempt = "extra-attempt"
    /// Later attempts of a run go on no record.
    case losesAttempt = "loses-attempt"
    /// A job is sent with its acceptance, and on disk it waits.
    case losesBirth = "loses-birth"

    /// Part of the sentence the checker must say.
    var sentences: [String] {
        switch self {
        case .keepsPlace: ["places that nobody has", "nobody claims"]
        case .swallowsSettlement: ["running and nobody runs it"]
        case .losesReady, .losesNextInOrder: ["due and nobody claims it"]
        case .resumesNothing: ["put aside for a pause that is over"]
        case .shutsGate: ["credential and nobody tries it", "due and nobody claims it"]
        case .marksCancelled: ["goes on although it was cancelled"]
        case .repeatsAfterCrash: ["after an unknown outcome", "after a crash"]
        case .ignoresSpacing: ["sent before it is due"]
        case .expiresNothingPaused: ["has expired and is not over"]
        case .forgetsPause, .losesPause: ["sent while its route is paused"]
        case .losesKey: ["an idempotency key"]
        case .losesOrder: ["order of its key"]
        case .extraPlace: ["more at once than the route has places"]
        case .burnsWait: ["more attempts are counted than were made"]
        case .comesEarly: ["sent before it is due"]
        case .losesAccepted: ["there is no job"]
        case .losesHold: ["sent while it is held"]
        case .repeatsUnknown: ["after an unknown outcome"]
        case .repeatsAnswered: ["after an answer that does not refuse it"]
        case .losesEnds: ["the feed does not tell"]
        case .deafWaiters: ["waits for a job longer than it asked for"]
        case .losesSuccess: ["after it has succeeded"]
        case .ignoresSchedule: ["sent before it is due", "shorter than its schedule"]
        case .extraAttempt: ["more often than the route allows"]
        case .losesBirth: ["record does not tell of the attempt"]
        case .losesAttempt: ["record does not tell of the attempt"]
        }
    }
}
