package import RelayBase
package import RelayCore
import RelayRoute

/// The fate of each route's requests in the last hour, minute by minute.
package struct HistoryMachine: Sendable {
    /// Minutes that are told, the running one among them.
    package static let columns = 60
    package static let interval: Duration = .seconds(60)

    struct Track {
        /// The totals at the begin of the running minute.
        private(set) var before = Totals()
        /// Minutes that are over and that it was there, at most as many as are told.
        private(set) var minutes = 0
        /// The latest of them; it was idle in those before.
        private(set) var past: [Column] = []

        /// The running minute.
        func column(_ now: Totals) -> Column {
            Column(now.meter == before.meter ? before : Totals(), now)
        }

        /// So many minutes are over, whose figures stand in the first.
        mutating func took(_ after: Totals, minutes more: Int) {
            let most = HistoryMachine.columns - 1
            minutes = min(most, minutes + more)
            let rest = Array(repeating: Column(), count: min(most, more - 1))
            past = Array((past + [column(after)] + rest).suffix(most).drop { $0.isIdle })
            before = after
            before.causes = [:]
        }

        /// The minute that was over so many minutes before the running one began; nil where it was not there.
        func column(back age: Int) -> Column? {
            if age < past.count { return past[past.count - 1 - age] }
            return age < minutes ? Column() : nil
        }
    }

    private(set) var tracks: [String: Track] = [:]
    /// When the running minute began.
    private var began: Instant
    /// Minutes that are over and told, of a route that was there all the time.
    private var past = 0
    /// A bit for each of them that nobody looked at, the latest one lowest.
    private var unseen: UInt64 = 0

    package init(began: Instant) { self.began = began }

    /// Takes up what the routes of the configuration have come to; to be told once a minute, when it is `due`.
    package mutating func looked(_ routes: () -> [String: Totals], _ now: Instant) {
        let minutes = Int(began.duration(to: now) / HistoryMachine.interval)
        guard minutes > 0 else { return }
        began = began.advanced(by: HistoryMachine.interval * minutes)
        past = min(HistoryMachine.columns - 1, past + minutes)
        // Of the first of these minutes it is known how it ended up.
        unseen = unseen << minutes | ((1 << (minutes - 1)) &- 1)
        tracks = Dictionary(
            uniqueKeysWithValues: routes().map { name, after in
                var track = tracks[name] ?? Track()
                track.took(after, minutes: minutes)
                return (name, track)
            }
        )
    }

    /// When the running minute ends.
    package var due: Instant { began.advanced(by: HistoryMachine.interval) }

    /// The minutes of a route, oldest first, with the running one as `now` has it; as many for every route.
    ///
    /// Nil are those that nobody looked at, and those in which the configuration did not have it.
    package func columns(of route: String, _ now: Totals) -> [Column?] {
        let track = tracks[route]
        let told = (0..<past).reversed().map { age in
            unseen >> age & 1 == 0 ? track?.column(back: age) : nil
        }
        return told + [track?.column(now) ?? Column(Totals(), now)]
    }

    /// The same of a route as it is.
    package func columns(of entry: Snapshot.Entry, _ figures: RouteFigures? = nil) -> [Column?] {
        columns(of: entry.route.name, Totals(entry, figures))
    }

    /// The failed attempts of minutes by cause: most first, `.other` last.
    package static func causes(of columns: some Sequence<Column?>) -> [(code: FailureCode, count: UInt64)] {
        var sums: [FailureCode: UInt64] = [:]
        for column in columns {
            for (code, count) in column?.causes ?? [:] { sums[code, default: 0] += UInt64(count) }
        }
        return sums.map { (code: $0.key, count: $0.value) }.sorted { one, two in
            if (one.code == .other) != (two.code == .other) { return two.code == .other }
            return one.count == two.count ? one.code < two.code : one.count > two.count
        }
    }

    /// How many minutes are told.
    package var count: Int { past + 1 }

    /// How long ago the first of them began.
    package func age(_ now: Instant) -> Duration {
        HistoryMachine.interval * past + began.duration(to: now)
    }
}
