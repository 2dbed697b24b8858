import RelayBase
import RelayJobs

/// A bug put in on purpose, between what the checker believes of the route's traffic and what the core is given or told.
enum TrafficPlant: String, PlantedBug {
    case noBreaker = "no-breaker: does not open although"
    /// The breakers want four times the evidence.
    case hopefulBreaker = "hopeful-breaker: does not open although"
    case nervousBreaker = "nervous-breaker: opens without a cause"
    case seesNothingSlow = "sees-nothing-slow: does not open although"
    case shortBreak = "short-break: a break is not within a fifth"
    case longBreak = "long-break: a break is not within a fifth"
    /// An answer that is a fault of the request looks like the upstream's.
    case countsRequests = "counts-requests: opens without a cause"
    /// Requests are not told apart, so that an open breaker stops all.
    case stopsAll = "stops-all: although requests like it"
    /// They are not, so that one kind's wish for patience holds all.
    case holdsAll = "holds-all: which has not asked for that"
    case losesResource = "loses-resource: asked for patience"
    case blamesImpatience = "blames-impatience: is blamed on"
    /// Faults of this side look like the upstream's.
    case blamesUpstream = "blames-upstream: opens without a cause | stays open without a probe that fails"
    /// Faults of the upstream look like this side's.
    case blamesUs = "blames-us: does not open although"
    case swapsUpstreams = "swaps-upstreams: by what is not its upstream's"
    case noPatience = "no-patience: asked for patience"
    case losesPatience = "loses-patience: asked for patience"
    case shortPatience = "short-patience: asked for patience"
    case longPatience = "long-patience: which has not asked for that"
    case clockAhead = "clock-ahead: asked for patience"
    case hidesTooFast = "hides-too-fast: as fast as before"
    case noBudget = "no-budget: beyond the budget"
    case deepBudget = "deep-budget: beyond the budget"
    case richBudget = "rich-budget: beyond the budget"
    case poorBudget = "poor-budget: although the budget has room"
    case fastRate = "fast-rate: faster than the route's rate"
    case largeBurst = "large-burst: faster than the route's rate"
    case noWindow = "no-window: does not shrink | allows"
    case wideWindow = "wide-window: begins wider"
    case wideRestart = "wide-restart: too wide after an outage"
    case wideRoute = "wide-route: more is under way than"
    case hidesTooMuch = "hides-too-much: does not shrink"
    case alwaysFull = "always-full: grows that was not full"
    case losesGrowth = "loses-growth: a permit that is free"
    case keepsAttempt = "keeps-attempt: and the route counts"
    case deaf = "deaf: after it was cancelled | does not end at once"
    case staysPut = "stays-put: does not go where a rule leads | although a rule leads elsewhere"
    case forgetsAll = "forgets-all: before its break is over | asked for patience"
    case losesOrder = "loses-order: an operator keeps open"
    case longOrder = "long-order: which is not open"
    /// An attempt in twenty of a kept job is none.
    case burnsAttempt = "burns-attempt: attempts are on record"
    case late = "late: comes after the deadline | does not end at once"
    /// The task that claims kept jobs comes three seconds late for every turn.
    case lateLane = "late-lane: do not get their half"
    case losesReady = "loses-ready: waits for ever"
    case hidesUsers = "hides-users: while another caller is let in again and again"
    case hidesUrgency = "hides-urgency: while less urgent ones of its caller are let in"
    case dropsKept = "drops-kept: is told that it is kept, and is not in the store"
    /// The caller is told that the request is kept before it is in the store.
    case answersEarly = "answers-early: is told that it is kept, and is not in the store"
    case keepsTwice = "keeps-twice: that nobody has handed over"
    case keepsSilently = "keeps-silently: is kept, and its answer does not say so"
    case neverKeeps = "never-keeps: is answered for a hold, and not kept"
    /// A request that a repeat could harm is repeated, and kept.
    case keepsHarm = "keeps-harm: is to be kept although a repeat could harm"
    case losesAttempts = "loses-attempts: attempts are on record"
    /// A kept job has no more of the request's attempts than their number.
    case losesUses = "loses-uses: is retried more often than its rule allows"
    case generous = "generous: is sent more often than is allowed"
    case losesWait = "loses-wait: is sent before the wait of its rule is over"

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

    var mixesRequests: Bool { self == .stopsAll || self == .holdsAll }

    /// Turns a request's attempts into those that the store is told of instead.
    func change(_ past: inout PriorAttempts) {
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
