import RelayBase
import RelayJobs

/// A bug put in on purpose, between what the checker believes of the route's traffic and what the core is given or told.
enum TrafficPlant: String, CaseIterable {
    /// The core's routes have no breaker.
    case noBreaker = "no-breaker"
    /// Their breakers want four times the evidence.
    case hopefulBreaker = "hopeful-breaker"
    /// Two failures in a row open them.
    case nervousBreaker = "nervous-breaker"
    /// No attempt is slow.
    case seesNothingSlow = "sees-nothing-slow"
    /// Breaks are a quarter as long.
    case shortBreak = "short-break"
    /// Breaks are three times as long.
    case longBreak = "long-break"
    /// An answer that is a fault of the request looks like the upstream's.
    case countsRequests = "counts-requests"
    /// Requests are not told apart, so that an open breaker stops all.
    case stopsAll = "stops-all"
    /// They are not, so that one kind's wish for patience holds all.
    case holdsAll = "holds-all"
    /// The name of a limit gets lost.
    case losesResource = "loses-resource"
    /// A caller's own time looks like the upstream's.
    case blamesImpatience = "blames-impatience"
    /// Faults of this side look like the upstream's.
    case blamesUpstream = "blames-upstream"
    /// Faults of the upstream look like this side's.
    case blamesUs = "blames-us"
    /// An attempt that is sent to one upstream goes to the other.
    case swapsUpstreams = "swaps-upstreams"
    /// The core heeds no wish for patience.
    case noPatience = "no-patience"
    /// Fields that ask for patience get lost.
    case losesPatience = "loses-patience"
    /// Patience ends after a third of its longest time.
    case shortPatience = "short-patience"
    /// Its longest time is three times as long.
    case longPatience = "long-patience"
    /// The core's calendar is three seconds ahead.
    case clockAhead = "clock-ahead"
    /// That attempts come too fast gets lost.
    case hidesTooFast = "hides-too-fast"
    /// Retries have no budget.
    case noBudget = "no-budget"
    /// More retries may be under way.
    case deepBudget = "deep-budget"
    /// Retries may be more of the load.
    case richBudget = "rich-budget"
    /// There is no budget left, ever.
    case poorBudget = "poor-budget"
    /// The rate is half as high again.
    case fastRate = "fast-rate"
    /// The burst is twice as large.
    case largeBurst = "large-burst"
    /// The core's routes have no window.
    case noWindow = "no-window"
    /// The window begins with all there is.
    case wideWindow = "wide-window"
    /// After an outage it begins wide.
    case wideRestart = "wide-restart"
    /// The core's routes have three places more.
    case wideRoute = "wide-route"
    /// That there is too much looks like any other failure.
    case hidesTooMuch = "hides-too-much"
    /// The window believes that it is always full.
    case alwaysFull = "always-full"
    /// Nobody is let in when the window grows.
    case losesGrowth = "loses-growth"
    /// An attempt in thirty stays under way for three seconds more.
    case keepsAttempt = "keeps-attempt"
    /// Cancellation does not reach the core.
    case deaf
    /// No rule of the core leads elsewhere.
    case staysPut = "stays-put"
    /// A reload forgets what was known.
    case forgetsAll = "forgets-all"
    /// An operator's word does not reach the core.
    case losesOrder = "loses-order"
    /// An operator's word holds five times as long.
    case longOrder = "long-order"
    /// An attempt in twenty of a kept job is none.
    case burnsAttempt = "burns-attempt"
    /// Waits end half a second late.
    case late
    /// The task that claims kept jobs comes three seconds late for every turn.
    case lateLane = "late-lane"
    /// Nobody hears of kept jobs that are ready.
    case losesReady = "loses-ready"
    /// The core sees one caller, whoever comes.
    case hidesUsers = "hides-users"
    /// Nothing is more urgent than the rest.
    case hidesUrgency = "hides-urgency"
    /// The caller is told that the request is kept, and it is not.
    case dropsKept = "drops-kept"
    /// It is told before the job is in the store.
    case answersEarly = "answers-early"
    /// A request is kept twice.
    case keepsTwice = "keeps-twice"
    /// The answer does not name the kept job.
    case keepsSilently = "keeps-silently"
    /// No rule of the core keeps a request.
    case neverKeeps = "never-keeps"
    /// A request that a repeat could harm is repeated, and kept.
    case keepsHarm = "keeps-harm"
    /// A kept job has nothing of the request's attempts.
    case losesAttempts = "loses-attempts"
    /// Their number is all that it has of them.
    case losesUses = "loses-uses"
    /// Six more attempts are allowed.
    case generous
    /// A kept job is sent again at once.
    case losesWait = "loses-wait"

    /// Part of the sentence the checker must say.
    var sentences: [String] {
        switch self {
        case .noBreaker, .hopefulBreaker, .seesNothingSlow, .blamesUs: ["does not open although"]
        case .countsRequests: ["opens without a cause"]
        case .stopsAll: ["although requests like it"]
        case .holdsAll: ["which has not asked for that"]
        case .losesResource: ["asked for patience"]
        case .blamesImpatience: ["is blamed on"]
        case .nervousBreaker: ["opens without a cause"]
        case .shortBreak, .longBreak: ["a break is not within a fifth"]
        case .blamesUpstream: ["opens without a cause", "stays open without a probe that fails"]
        case .swapsUpstreams: ["by what is not its upstream's"]
        case .noPatience, .losesPatience, .shortPatience, .clockAhead: ["asked for patience"]
        case .longPatience: ["which has not asked for that"]
        case .hidesTooFast: ["as fast as before"]
        case .noBudget, .deepBudget, .richBudget: ["beyond the budget"]
        case .poorBudget: ["although the budget has room"]
        case .fastRate, .largeBurst: ["faster than the route's rate"]
        case .noWindow: ["does not shrink", "allows"]
        case .wideWindow: ["begins wider"]
        case .wideRestart: ["too wide after an outage"]
        case .wideRoute: ["more is under way than"]
        case .hidesTooMuch: ["does not shrink"]
        case .alwaysFull: ["grows that was not full"]
        case .losesGrowth: ["a permit that is free"]
        case .keepsAttempt: ["and the route counts"]
        case .deaf: ["after it was cancelled", "does not end at once"]
        case .staysPut: ["does not go where a rule leads", "although a rule leads elsewhere"]
        case .forgetsAll: ["before its break is over", "asked for patience"]
        case .losesOrder: ["an operator keeps open"]
        case .longOrder: ["which is not open"]
        case .burnsAttempt: ["attempts are on record"]
        case .late: ["comes after the deadline", "does not end at once"]
        case .lateLane: ["do not get their half"]
        case .losesReady: ["waits for ever"]
        case .hidesUsers: ["while another caller is let in again and again"]
        case .hidesUrgency: ["while less urgent ones of its caller are let in"]
        case .dropsKept, .answersEarly: ["is told that it is kept, and is not in the store"]
        case .keepsTwice: ["that nobody has handed over"]
        case .keepsSilently: ["is kept, and its answer does not say so"]
        case .neverKeeps: ["is answered for a hold, and not kept"]
        case .keepsHarm: ["is to be kept although a repeat could harm"]
        case .losesAttempts: ["attempts are on record"]
        case .losesUses: ["is retried more often than its rule allows"]
        case .generous: ["is sent more often than is allowed"]
        case .losesWait: ["is sent before the wait of its rule is over"]
        }
    }
}

extension TrafficPlant {
    /// Turns the terms into those that the core is given instead.
    func change(_ terms: inout TrafficTerms) {
        switch self {
        case .noBreaker: terms.breaker = nil
        case .hopefulBreaker:
            terms.breaker?.minimum *= 4
            terms.breaker?.inARow = nil
        case .nervousBreaker: terms.breaker?.inARow = 2
        case .seesNothingSlow: terms.breaker?.slow = nil
        case .shortBreak: terms.stretchBreaks { $0 / 4 }
        case .longBreak: terms.stretchBreaks { $0 * 3 }
        case .noPatience: terms.longest = nil
        case .shortPatience: terms.longest = terms.longest.map { $0 / 3 }
        case .longPatience: terms.longest = terms.longest.map { $0 * 3 }
        case .noBudget: terms.budget = nil
        case .deepBudget: terms.budget?.floor += 4
        case .richBudget: terms.budget?.percent = 90
        case .poorBudget: terms.budget = .init(percent: 0, floor: 0)
        case .fastRate: if let rate = terms.rate { terms.rate?.per = rate.per * 2 / 3 }
        case .largeBurst: terms.rate?.burst *= 2
        case .noWindow: terms.window = nil
        case .wideWindow: terms.window?.initial = nil
        case .wideRestart: terms.window?.afterOutage *= 5
        case .wideRoute: terms.limit += 3
        case .staysPut: terms.failovers = []
        case .neverKeeps: terms.standIn?.keeps = false
        case .keepsHarm: terms.repeatsAll = true
        case .generous: terms.mostAttempts += 6
        default: break
        }
    }

    /// The end of an attempt as the core is told it instead.
    func change(_ kind: TrafficReply.Kind) -> TrafficReply.Kind {
        switch (self, kind) {
        case (.blamesUpstream, .fails(let kind, .neverSent)) where kind != .connectionRefused:
            .fails(.connectionRefused, .neverSent)
        case (.blamesUs, .fails(.connectionRefused, _)): .fails(.connectionLimitReached, .neverSent)
        case (.countsRequests, .answers(500, let fields, let asked)): .answers(502, fields, asked: asked)
        case (.losesResource, .answers(let status, let fields, let asked)):
            .answers(status, fields.filter { $0.name != "X-RateLimit-Resource" }, asked: asked)
        case (.blamesImpatience, .fails(.httpResponseTimeout, let sent)): .fails(.connectionReadTimeout, sent)
        case (.losesPatience, .answers(let status, _, let asked)): .answers(status, [], asked: asked)
        case (.hidesTooFast, .answers(429, let fields, let asked)): .answers(400, fields, asked: asked)
        case (.hidesTooMuch, .answers(503, let fields, let asked)): .answers(502, fields, asked: asked)
        default: kind
        }
    }
}

extension TrafficPlant {
    /// Whether the core sees one target, whatever is asked for.
    var mixesRequests: Bool { self == .stopsAll || self == .holdsAll }

    /// Turns a request's attempts into those that the store is told of instead.
    func change(_ past: inout JobPast) {
        switch self {
        case .losesAttempts: past.attempts = []
        case .losesUses:
            for index in past.attempts.indices {
                (past.attempts[index].rule, past.attempts[index].resentBy) = (nil, nil)
            }
        case .losesWait: past.wait = .zero
        default: break
        }
    }
}

extension TrafficTerms {
    fileprivate mutating func stretchBreaks(_ stretch: (Int64) -> Int64) {
        guard let breaker else { return }
        self.breaker?.pause = stretch(breaker.pause)
        self.breaker?.longestPause = stretch(breaker.longestPause)
    }
}
