import RelayBase

/// How long the last answers to one kind of requests took: at most 200 of them.
struct HedgeTimes: Sendable {
    static let most = 200
    /// Before so many are known nothing is said.
    static let enough = 20
    /// Answers after which the time is looked for anew.
    private static let stale = 8

    /// In microseconds, up to 71 minutes.
    private var times: [UInt32] = []
    private var next = 0
    /// The time that was found last, and for which share.
    private var found: (percentile: Double, microseconds: UInt32)?
    private var since = 0

    /// A first sending was answered after that time, or had lasted so long when its second was.
    mutating func took(_ time: Duration) {
        let microseconds = UInt32(clamping: time.saturatedNanoseconds / 1_000)
        if times.count < HedgeTimes.most {
            times.append(microseconds)
        } else {
            times[next] = microseconds
            next = (next + 1) % HedgeTimes.most
        }
        since += 1
    }

    /// The time within which that share of them came, in percent; nil while too few are known.
    mutating func time(_ percentile: Double) -> Duration? {
        guard times.count >= HedgeTimes.enough else { return nil }
        if let found, found.percentile == percentile, since < HedgeTimes.stale {
            return .microseconds(Int64(found.microseconds))
        }
        let rank = (Double(times.count) * percentile / 100).rounded(.up)
        let microseconds = times.sorted()[min(times.count, max(1, Int(rank))) - 1]
        (found, since) = ((percentile, microseconds), 0)
        return .microseconds(Int64(microseconds))
    }
}

/// The same of the kinds of a route's requests, each with each upstream: of the 64 that came last.
///
/// How soon an upstream answers does not depend on the caller: each that had to bring 20 answers of its own would be
/// without a second sending for long.
struct HedgeTable: Sendable {
    private struct Key: Hashable {
        let upstreamIndex: Int
        /// The method and the kind of the path.
        let name: String
        let isLarge: Bool

        init(_ asked: RequestClass, at upstreamIndex: Int) {
            self.upstreamIndex = upstreamIndex
            (name, isLarge) = (asked.name, asked.isLarge)
        }
    }

    private struct Entry {
        var times = HedgeTimes()
        var used: UInt64 = 0
    }

    static let most = 64

    private var entries: [Key: Entry] = [:]
    private var count: UInt64 = 0

    /// How many kinds are known.
    var kinds: Int { entries.count }

    mutating func took(_ time: Duration, _ asked: RequestClass, at upstreamIndex: Int) {
        let key = Key(asked, at: upstreamIndex)
        if entries[key] == nil, entries.count >= HedgeTable.most,
            let oldest = entries.min(by: { $0.value.used < $1.value.used })
        {
            entries[oldest.key] = nil
        }
        count += 1
        entries[key, default: Entry()].times.took(time)
        entries[key]?.used = count
    }

    /// The time within which that share of the answers came, in percent; nil while too few are known.
    mutating func time(_ percentile: Double, _ asked: RequestClass, at upstreamIndex: Int) -> Duration? {
        entries[Key(asked, at: upstreamIndex)]?.times.time(percentile)
    }
}
