import RelayBase

struct TrafficWish {
    let number: Int
    let id: JobID
    let method: String
    let path: Int
    let user: UInt32
    /// 0 comes first, 7 last.
    let urgency: UInt8
    var isKept: Bool
    /// Whether it goes elsewhere where a rule leads.
    let allowsFallback: Bool
    /// Whether its whole answer is read before it is judged.
    var readsAll: Bool
    /// The configuration it began with; that of a kept job is its attempt's.
    let terms: TrafficTerms
    var began: Int64
    /// When its time is over, which stands still while content moves, and its caller's own, which nothing moves.
    var deadline: Int64
    var end: Int64
    /// Whether the route had a permit to spare when it began.
    var foundRoom: Bool
    /// Whether it may be repeated whatever became of it.
    let isSafe: Bool
    let mostAttempts: Int
}

/// The checker's knowledge of one request or kept job.
@dynamicMemberLookup
final class TrafficJob {
    private var wish: TrafficWish

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
    var mayHaveActed = false

    /// The kept job that goes on with the request that was answered in the upstream's stead.
    var later: TrafficJob?
    /// The fate of the wish to keep it.
    var keeping: Keeping?
    /// Whether it was a request before.
    var hasPast = false
    /// Attempts on record that were made before; nil as long as nobody has told.
    var inherited: Int? = 0
    /// Before that it is not to be sent.
    var notBefore: Int64 = 0

    enum Keeping { case asked, refused }

    /// The end of its last attempt that no record has told of.
    var untold: TrafficSign?

    init(_ wish: TrafficWish) { self.wish = wish }

    /// The kept job that goes on with a request.
    init(after request: TrafficJob, now: Int64) {
        wish = request.wish
        (wish.isKept, wish.readsAll, wish.foundRoom) = (true, true, false)
        (wish.began, wish.deadline, wish.end) = (now, .max, .max)
        (spent, uses, mayHaveActed) = (request.spent, request.uses, request.mayHaveActed)
        (hasPast, inherited) = (true, nil)
    }

    subscript<Value>(dynamicMember path: KeyPath<TrafficWish, Value>) -> Value { wish[keyPath: path] }

    func contentMoved(for time: Int64) {
        if !wish.isKept { wish.deadline = min(wish.deadline + time, wish.end) }
    }

    private static let segments = ["a/x", "b/x", "a/y"]

    /// A target of that path, in one of the ways to write it.
    static func target(_ path: Int, _ variant: Int) -> String {
        segments[path] + ["", "/7", "?q=1", "/7/8?q=1"][variant]
    }

    /// The scope of the upstream's word about its limits: the method and the first two segments of the path.
    var kind: String { "\(wish.method) /\(TrafficJob.segments[wish.path])" }

    /// Requests that fare alike: of one kind and one user.
    var like: TrafficLike { TrafficLike(kind: kind, user: wish.user) }
}

struct TrafficLike: Hashable {
    var kind: String
    var user: UInt32
}

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
    var isSureProbe = false
    /// Whether another that began in the same instant may be that instead.
    var isMaybeProbe = false
    /// Whether it finds out for those like it.
    var isTrial = false
    /// Whether, with it, as much was under way as might be.
    var wasFull = false
    var isOpen = true
    /// For how long its content has moved, which says nothing of how the upstream takes its load.
    var moved: Int64 = 0

    init(_ job: TrafficJob, _ place: Int, _ terms: TrafficTerms, began: Int64, order: Int, isRetry: Bool) {
        (self.job, self.place, self.terms, self.began) = (job, place, terms, began)
        (self.order, self.isRetry) = (order, isRetry)
    }
}

struct TrafficSide {
    struct Count {
        var at: Int64
        var failed: Bool
        var slow: Bool
        /// Whether it is not known what was made of it.
        var isVague: Bool
    }

    struct Asked {
        var at: Int64
        var until: Int64
        /// The longest that it might ask for.
        var longest: Int64
        /// The kind that it was about, and the limit that it named.
        var kind: String
        var resource: String?
        /// Whether another kind was told the same meanwhile, and whether that is beyond doubt.
        var isWide: Bool
        var isSurelyWide: Bool
        /// Whether it is not known what was made of it.
        var isVague: Bool
    }

    /// The fate of requests that fare alike, as far as it is known, while the breaker is open.
    enum Fare { case answered, fails, unsure }

    var underWay: [TrafficFlight] = []
    /// Since the breaker last changed, in the order of their ends.
    var counts: [Count] = []
    /// From where on the present configuration counts.
    var sureFrom = 0
    /// When the breaker last changed, in the order of things.
    var changed = 0
    /// Since when it is open; nil while it is closed.
    var openSince: Int64?
    /// When it was last found to fail, the break from there on, and the longest.
    var failedAt: Int64 = 0
    /// The same in the order of things.
    var failedOrder = 0
    var pause: Int64 = 0
    var longestPause: Int64 = 0
    /// When it is probed, as it has told.
    var probeDue: Int64 = 0
    /// The last attempt that probes, in the order of things, and when it began.
    var probed: (order: Int, at: Int64) = (0, 0)
    var probeEnded: Int64 = 0
    /// Those of whom something is known since it opened.
    var fares: [TrafficLike: Fare] = [:]
    /// When those that were answered failed, in the order of things: one that began before says nothing of them.
    var doubted: [TrafficLike: Int] = [:]
    /// Those that were answered when it closed, and have not failed since: when they were, nil where that is in doubt.
    var carried: [TrafficLike: Int64?] = [:]
    /// When those were answered last while it was not closed: what comes while it is closed is not noted.
    var noted: [TrafficLike: Int64] = [:]
    /// When those failed and were answered last.
    var failures: [TrafficLike: Int64] = [:]
    var answers: [TrafficLike: Int64] = [:]
    var doubts: [TrafficLike: Int64] = [:]
    /// When those were answered last, whatever became of the breaker.
    var latest: [TrafficLike: Int64] = [:]
    /// Losses of each kind since one of it was last answered.
    var losses: [String: Int] = [:]
    /// Whether anybody has been let through since it opened.
    var isTried = false
    /// How many attempts were answered, and the longest that took.
    var answered = 0
    var longestAnswer: Int64 = 0
    var order: (opens: Bool, until: Int64)?
    /// Whether it should have opened in this instant.
    var mustOpen = false

    var asked: [Asked] = []
    var tooFast: [Int64] = []
    var begun: [(at: Int64, kind: String, jobBegan: Int64)] = []
    /// Until when at most so many of the kind may have begun since then, for an answer that they come too fast.
    var pace: (since: Int64, until: Int64, most: Int, kind: String?)?

    /// The window as it was last seen, and when it last shrank.
    var width: Int?
    var shrunk = Int64.min
    /// The end of an attempt, whose part in the window's size has not been seen.
    var last: (flight: TrafficFlight, sign: TrafficSign, isVague: Bool)?
    /// Whether the breaker has closed since the window was last seen.
    var isRestarted = false
    /// Attempts that were under way then.
    var borne = 0

    /// Limits by the kinds that were answered with their names.
    var resources: [String: String] = [:]

    private func concerns(_ asked: Asked, _ kind: String?, isSure: Bool) -> Bool {
        if isSure && asked.isVague { return false }
        if let resource = asked.resource { return kind.map { resources[$0] == resource } ?? false }
        return (isSure ? asked.isSurelyWide : asked.isWide) || asked.kind == kind
    }

    /// Until when requests of the kind are left alone, for who is held back for that long at most; nil asks for all kinds.
    func patience(_ longest: Int64, of kind: String?) -> Int64 {
        asked.reduce(0) { concerns($1, kind, isSure: false) ? max($0, min($1.until, $1.at + longest)) : $0 }
    }

    func anyPatience(_ longest: Int64) -> Int64 {
        asked.reduce(0) { max($0, min($1.until, $1.at + longest)) }
    }

    /// The same as the first where it is beyond doubt: what was asked for under another configuration may have taken the
    /// place of what is asked for now, or the other way round.
    func sure(_ longest: Int64, of kind: String?, _ now: Int64) -> Int64 {
        let isMixed = asked.contains { $0.longest != longest && $0.at + 70_000_000_000 > now }
        if isMixed { return 0 }
        return asked.reduce(0) {
            concerns($1, kind, isSure: true) ? max($0, min($1.until, $1.at + longest)) : $0
        }
    }

    /// Whether a request that is answered leaves a probe that is due to those that fail, for a second; nil where it may.
    func leavesProbe(_ like: TrafficLike, due: Int64, _ now: Int64) -> Bool? {
        let others = fares.filter { $0.key != like && $0.value != .answered }
        guard let own = fares[like], own != .fails, !others.isEmpty, now < due + 1_000_000_001 else {
            return false
        }
        let isSure = own == .answered && others.values.contains(.fails) && now < due + 999_999_999
        return isSure ? true : nil
    }

    func order(at now: Int64) -> Bool? { order.flatMap { now < $0.until ? $0.opens : nil } }
}
