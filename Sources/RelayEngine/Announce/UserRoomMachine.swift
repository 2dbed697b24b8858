import RelayCore

/// How many jobs of each user wait for their delivery, and how many more each may hand over.
///
/// Nil stands for the callers of ports. Nothing is bounded before the store was asked once. What is told keeps the
/// numbers right but for ends that are too many at once to be told each, so whoever is refused has them counted again.
///
/// | bound | waits | on the way to disk | may hand over |
/// |---|---|---|---|
/// | none | any | any | any |
/// | 100 | 90 | 4 | 6 |
/// | 100 | 120 | 0 | 0 |
struct UserRoomMachine: Sendable {
    private static let pause: Duration = .seconds(10)

    /// Jobs of one user at most; nil bounds nothing, and nothing is counted.
    private(set) var limit: Int?
    private var queued: [UInt32?: Int] = [:]
    private var reserved: [UInt32?: Int] = [:]
    private var isKnown = false
    private var wasRefused = false
    private var countedAt: Instant?
    /// Jobs that ended since the present count began.
    private var endedMeanwhile: [UInt32?: Int]?

    mutating func configured(limit: Int?) {
        self.limit = limit
        if limit == nil { (queued, isKnown, endedMeanwhile) = ([:], false, nil) }
    }

    func room(of user: UInt32?) -> Int {
        guard let limit, isKnown else { return .max }
        return max(0, limit - queued[user, default: 0] - reserved[user, default: 0])
    }

    /// So many jobs are on their way to disk; fewer when it is negative.
    mutating func reserve(_ count: Int, of user: UInt32?) {
        let now = reserved[user, default: 0] + count
        reserved[user] = now == 0 ? nil : now
    }

    mutating func refused() { wasRefused = true }

    mutating func accepted(_ user: UInt32?) {
        if limit != nil { queued[user, default: 0] += 1 }
    }

    mutating func ended(_ user: UInt32?) {
        guard limit != nil else { return }
        endedMeanwhile?[user, default: 0] += 1
        let left = queued[user, default: 0] - 1
        queued[user] = left > 0 ? left : nil
    }

    /// Whether the jobs are to be counted now.
    mutating func beginsCount(_ now: Instant) -> Bool {
        let isDue = wasRefused && countedAt.map { $0.duration(to: now) >= UserRoomMachine.pause } ?? true
        guard limit != nil, !isKnown || isDue else { return false }
        (endedMeanwhile, wasRefused, countedAt) = ([:], false, now)
        return true
    }

    /// The store had so many; one that ended meanwhile may be among them, so that nobody is refused for it.
    mutating func counted(_ counts: [UInt32?: Int]) {
        guard limit != nil, let ended = endedMeanwhile else { return }
        queued = counts
        for (user, count) in ended { queued[user] = max(0, queued[user, default: 0] - count) }
        (isKnown, endedMeanwhile) = (true, nil)
    }
}
