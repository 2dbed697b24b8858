import RelayBase

/// How many jobs of each user wait for their delivery, and how many more each may hand over.
///
/// Nil stands for the callers of ports. Nothing is bounded before the store was asked once. The events told keep the
/// numbers right but for ends that nobody tells, so whoever is refused has them counted again.
///
/// | bound | waits | on the way to disk | may hand over |
/// |---|---|---|---|
/// | none | any | any | any |
/// | 100 | 90 | 4 | 6 |
/// | 100 | 120 | 0 | 0 |
struct UserQuotaMachine: Sendable {
    private static let pause: Duration = .seconds(10)

    /// Jobs of one user at most; nil bounds nothing, and nothing is counted.
    private(set) var limit: Int?
    private var queued: [UInt32?: Int] = [:]
    private var reserved: [UInt32?: Int] = [:]
    private var isKnown = false
    private var wasRefused = false
    private var countedAt: Instant?
    /// The events told since the present count began; nil when there is none.
    private var meanwhile: Meanwhile?

    private struct Meanwhile {
        var accepted: [UInt32?: Int] = [:]
        var ended: [UInt32?: Int] = [:]
        /// Whether the count began before the limit that holds now.
        var isVoid = false
    }

    mutating func configured(limit: Int?) {
        self.limit = limit
        guard limit == nil else { return }
        (queued, reserved, isKnown) = ([:], [:], false)
        // A count that is under way has not been answered yet.
        meanwhile?.isVoid = true
    }

    func remaining(of user: UInt32?) -> Int {
        guard let limit, isKnown else { return .max }
        return max(0, limit - max(0, queued[user, default: 0]) - reserved[user, default: 0])
    }

    /// So many jobs are on their way to disk; fewer when it is negative.
    ///
    /// Those that were on their way before there was a limit have not been counted.
    mutating func reserve(_ count: Int, of user: UInt32?) {
        guard limit != nil else { return }
        let now = reserved[user, default: 0] + count
        reserved[user] = now > 0 ? now : nil
    }

    mutating func refused() { wasRefused = true }

    mutating func accepted(_ user: UInt32?) {
        guard limit != nil else { return }
        queued[user, default: 0] += 1
        meanwhile?.accepted[user, default: 0] += 1
    }

    mutating func ended(_ user: UInt32?) {
        guard limit != nil else { return }
        meanwhile?.ended[user, default: 0] += 1
        // Below zero where an end is told before the beginning.
        let left = queued[user, default: 0] - 1
        queued[user] = left != 0 ? left : nil
    }

    /// Whether the jobs are to be counted now; `counted` or `notCounted` is to follow.
    ///
    /// Where the queue `isShared`, other daemons tell nothing: they are counted again and again.
    mutating func beginsCount(_ now: Instant, isShared: Bool = false) -> Bool {
        let isDue = wasRefused && countedAt.map { $0.duration(to: now) >= UserQuotaMachine.pause } ?? true
        guard limit != nil, meanwhile == nil, !isKnown || isDue || isShared else { return false }
        (meanwhile, wasRefused, countedAt) = (Meanwhile(), false, now)
        return true
    }

    /// The store had so many, with or without those that were told of meanwhile.
    ///
    /// Of the first count those that ended meanwhile are taken off, so that nobody is refused for one of them; a later
    /// one only ever lowers the number of a user of whom something was told, or whose job may be on disk untold.
    /// Where others hand jobs over as well it says more than what was told here.
    mutating func counted(_ counts: [UInt32?: Int], isShared: Bool = false) {
        guard let meanwhile = meanwhile.take(), limit != nil, !meanwhile.isVoid else { return }
        var found = counts
        if isShared {
            for (user, count) in meanwhile.accepted { found[user, default: 0] += count }
        } else if isKnown {
            for user in Set(meanwhile.accepted.keys).union(meanwhile.ended.keys).union(reserved.keys) {
                let most = counts[user, default: 0] + meanwhile.accepted[user, default: 0]
                found[user] = min(queued[user, default: 0], most)
            }
        } else {
            for (user, count) in meanwhile.ended { found[user] = max(0, found[user, default: 0] - count) }
        }
        (queued, isKnown) = (found.filter { $0.value != 0 }, true)
    }

    /// The store did not say.
    mutating func notCounted() { (meanwhile, wasRefused) = (nil, true) }
}
