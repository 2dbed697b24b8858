/// A bug put in on purpose, between the durable side of the engine and the store, the clock and the upstreams around it.
enum DurablePlant: String, PlantedBug {
    /// Now and then a place is taken and never given back.
    case keepsPlace = "keeps-place: places that nobody has | nobody claims"
    /// A settlement in forty is acknowledged and forgotten.
    case swallowsSettlement = "swallows-settlement: running and nobody runs it"
    case losesReady = "loses-ready: due and nobody claims it"
    case resumesNothing = "resumes-nothing: put aside for a pause that is over"
    /// After a failed credential the probe is never found.
    case shutsGate = "shuts-gate: credential and nobody tries it | due and nobody claims it"
    case marksCancelled = "marks-cancelled: goes on although it was cancelled"
    /// Every job counts as one that may be repeated after a crash.
    case repeatsAfterCrash = "repeats-after-crash: after an unknown outcome | after a crash"
    case losesNextInOrder = "loses-next-in-order: due and nobody claims it"
    case ignoresSpacing = "ignores-spacing: sent before it is due"
    case expiresNothingPaused = "expires-nothing-paused: has expired and is not over"
    case forgetsPause = "forgets-pause: sent while its route is paused"
    case losesKey = "loses-key: an idempotency key"
    case losesOrder = "loses-order: order of its key"
    case extraPlace = "extra-place: more at once than the route has places"
    case burnsWait = "burns-wait: more attempts are counted than were made"
    /// Delays are a fifth shorter than asked for.
    case comesEarly = "comes-early: sent before it is due"
    /// An accepted job in fifty is nowhere.
    case losesAccepted = "loses-accepted: there is no job"
    case losesPause = "loses-pause: sent while its route is paused"
    case losesHold = "loses-hold: sent while it is held"
    /// The engine's rules repeat whatever the outcome.
    case repeatsUnknown = "repeats-unknown: after an unknown outcome"
    /// The same, told by what it does after an answer.
    case repeatsAnswered = "repeats-answered: after an answer that does not refuse it"
    case losesEnds = "loses-ends: the feed does not tell"
    case deafWaiters = "deaf-waiters: waits for a job longer than it asked for"
    /// A success in thirty is kept as a failure.
    case losesSuccess = "loses-success: after it has succeeded"
    /// The engine's rules wait a hundredth of what they should.
    case ignoresSchedule = "ignores-schedule: sent before it is due | shorter than its schedule"
    case extraAttempt = "extra-attempt: more often than the route allows"
    case losesAttempt = "loses-attempt: record does not tell of the attempt"
    /// The upstream is asked before it shows what it did.
    case asksTooEarly = "asks-too-early: sent again that was carried out"
    /// A job is sent with its acceptance, and on disk it waits.
    case losesBirth = "loses-birth: record does not tell of the attempt"
    /// One notice in ten is waived, and another one is made twice.
    case losesNotice = "loses-notice: an ending is told to nobody"
    case doublesNotice = "doubles-notice: an ending is told twice"
    /// A notice is on disk before its ending, in a transaction of its own.
    case tellsEarly = "tells-early: a notice comes before its ending"
    case keepsDebt = "keeps-debt: a notice is owed and nobody makes it"
    case tellsWithoutRoom = "tells-without-room: a notice is made on a disk that is full"
    case tellsOfNotice = "tells-of-notice: a notice asks for a notice"
    case forgetsEarlier = "forgets-earlier: does not say what it supersedes"
}
