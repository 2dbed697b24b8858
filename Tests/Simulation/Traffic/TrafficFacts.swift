import RelayCore

/// What the checker knows of one request or kept job.
final class TrafficJob {
    let number: Int
    let id: JobID
    let user: UInt32
    /// 0 comes first, 7 last.
    let urgency: UInt8
    let isKept: Bool
    /// Whether it goes elsewhere where a rule leads.
    let allowsFallback: Bool
    /// Whether its whole answer is read before it is judged.
    let readsAll: Bool
    /// The configuration it began with; that of a kept job is its attempt's.
    let terms: TrafficTerms
    let began: Int64
    let deadline: Int64
    /// Whether the route had a permit to spare when it began.
    let foundRoom: Bool
    /// Whether it may be repeated whatever became of it.
    let isSafe: Bool
    /// What its caller allows it to be sent.
    let mostAttempts: Int

    /// Attempts at the transport, and those of them that are over.
    var sent = 0
    /// Attempts that were held back and went elsewhere, and those of them that have not been sent there yet.
    var moved = 0
    var moving = 0
    var landed = 0
    var cancelledAt: Int64?
    var isOver = false
    /// Whether a retry was decided on whose end has not come.
    var retries = false
    /// Whether its next attempt belongs to the run, or request, of the last.
    var goesOn = false
    /// Those of its attempts that count against its allowance, and how often its rule has retried it; of a request that
    /// goes on as a kept job, with what came before.
    var spent = 0
    var uses = 0
    /// Whether the last attempt may have been carried out.
    var mayHaveActed = false

    /// What goes on with the request that was answered in the upstream's stead.
    var later: TrafficJob?
    /// What has become of the wish to keep it.
    var keeping: Keeping?
    /// Whether it was a request before.
    var hasPast = false
    /// Attempts on record that were made before; nil as long as nobody has told.
    var inherited: Int? = 0
    /// Before that it is not to be sent.
    var notBefore: Int64 = 0

    enum Keeping { case asked, refused }

    init(
        _ number: Int,
        _ id: JobID,
        user: UInt32,
        urgency: UInt8,
        isKept: Bool,
        allowsFallback: Bool,
        readsAll: Bool,
        terms: TrafficTerms,
        began: Int64,
        deadline: Int64,
        foundRoom: Bool,
        isSafe: Bool,
        mostAttempts: Int
    ) {
        self.number = number
        self.id = id
        self.user = user
        self.urgency = urgency
        self.isKept = isKept
        self.allowsFallback = allowsFallback
        self.readsAll = readsAll
        self.terms = terms
        self.began = began
        self.deadline = deadline
        self.foundRoom = foundRoom
        self.isSafe = isSafe
        self.mostAttempts = mostAttempts
    }

    /// The kept job that goes on with a request.
    init(after request: TrafficJob, now: Int64) {
        number = request.number
        id = request.id
        (user, urgency) = (request.user, request.urgency)
        isKept = true
        allowsFallback = request.allowsFallback
        readsAll = true
        terms = request.terms
        began = now
        deadline = .max
        foundRoom = false
        isSafe = request.isSafe
        mostAttempts = request.mostAttempts
        (spent, uses, mayHaveActed) = (request.spent, request.uses, request.mayHaveActed)
        (hasPast, inherited) = (true, nil)
    }
}

/// One attempt on the wire.
final class TrafficFlight {
    let job: TrafficJob
    let place: Int
    let terms: TrafficTerms
    let began: Int64
    /// Counts what happens, so that what happens in one instant has an order.
    let order: Int
    /// Whether it is a retry, as far as the route's budget goes.
    let isRetry: Bool
    /// Whether it finds out for an open breaker; it then says nothing of how much its upstream takes.
    var isProbe = false
    /// Whether, with it, as much was under way as might be.
    var wasFull = false
    var isOpen = true

    init(
        _ job: TrafficJob,
        place: Int,
        terms: TrafficTerms,
        began: Int64,
        order: Int,
        isRetry: Bool
    ) {
        self.job = job
        self.place = place
        self.terms = terms
        self.began = began
        self.order = order
        self.isRetry = isRetry
    }
}

/// What the checker knows of one upstream.
struct TrafficSide {
    /// One attempt that counts for the breaker.
    struct Count {
        var at: Int64
        var failed: Bool
        var slow: Bool
        /// Whether it is not known what was made of it.
        var isVague: Bool
    }

    /// An answer that has asked for patience.
    struct Asked {
        var at: Int64
        var until: Int64
        /// The longest that it might ask for.
        var longest: Int64
    }

    var underWay: [TrafficFlight] = []
    /// Since the breaker last changed, in the order of their ends.
    var counts: [Count] = []
    /// Of the configuration by which the last attempt was counted.
    var sampling: Int64 = 0
    /// From where on it is sure what was counted.
    var sureFrom = 0
    /// When the breaker last changed, in the order of things.
    var changed = 0
    /// Since when it is open; nil while it is closed.
    var openSince: Int64?
    /// When it was last found to fail, the break from there on, and the longest.
    var failedAt: Int64 = 0
    var pause: Int64 = 0
    var longestPause: Int64 = 0
    /// What an operator has said.
    var order: (opens: Bool, until: Int64)?
    /// Whether it should have opened in this instant.
    var mustOpen = false

    var asked: [Asked] = []
    /// Ends of attempts that came too fast.
    var tooFast: [Int64] = []
    /// When attempts began.
    var begun: [Int64] = []
    /// Until when at most so many may have begun since then, for an answer that they come too fast.
    var pace: (since: Int64, until: Int64, most: Int)?

    /// The window as it was last seen, and when it last shrank.
    var width: Int?
    var shrunk = Int64.min
    /// The end of an attempt, whose part in the window's size has not been seen.
    var last: (flight: TrafficFlight, sign: TrafficSign, isVague: Bool)?
    /// Whether the breaker has closed since the window was last seen.
    var isRestarted = false

    /// Until when it is left alone, for who is held back for that long at most.
    func patience(_ longest: Int64) -> Int64 {
        asked.reduce(0) { max($0, min($1.until, $1.at + longest)) }
    }

    /// The same where it is beyond doubt: what was asked for under another configuration may have taken the place of what
    /// is asked for now, or the other way round.
    func sure(_ longest: Int64, _ now: Int64) -> Int64 {
        let isMixed = asked.contains { $0.longest != longest && $0.at + 70_000_000_000 > now }
        return isMixed ? 0 : patience(longest)
    }

    func order(at now: Int64) -> Bool? { order.flatMap { now < $0.until ? $0.opens : nil } }
}
