import RelayBase

/// Attempts of each class beyond half of what may be under way with an upstream: a class that gets no answers does not take
/// the places of those that do.
///
/// A class of which nothing has been answered for a while, when others have been, has at most half of what the others leave:
/// of 256, where others have 56, at most 100.
struct CrowdTable: Sendable {
    private struct Entry: Sendable {
        var underWay = 0
        /// When the last of it was answered, or when it came.
        var progress: Instant
        var isAnswered = false
        /// Whether the last of it that ended was not answered.
        var hasFailed = false
    }

    private var entries: [RequestClass: Entry] = [:]
    /// Attempts that are counted and have not ended.
    private(set) var underWay = 0

    /// Since when nothing of the class has been answered that now has its share; nil where it may begin another.
    func stuck(
        _ asked: RequestClass,
        width: Int,
        underWay: Int,
        timeout: Duration,
        _ now: Instant
    ) -> Instant? {
        guard let entry = entries[asked], entry.progress.duration(to: now) > timeout,
            entry.underWay * 2 >= width - (underWay - entry.underWay), othersGoOn(since: entry.progress)
        else { return nil }
        return entry.progress
    }

    /// Whether it is the class that gets no answers, and not the upstream that gives none.
    func isAlone(_ asked: RequestClass) -> Bool {
        entries[asked].map { othersGoOn(since: $0.progress) } ?? false
    }

    private func othersGoOn(since progress: Instant) -> Bool {
        entries.values.contains { $0.isAnswered && $0.progress > progress }
    }

    /// An attempt begins.
    ///
    /// - Returns: whether its end is to be told; classes beyond 64 are not told apart.
    mutating func began(_ asked: RequestClass, _ now: Instant) -> Bool {
        if entries[asked] == nil, entries.count >= ClassTable.most {
            entries = entries.filter { $0.value.underWay > 0 }
            guard entries.count < ClassTable.most else { return false }
        }
        var entry = entries[asked] ?? Entry(progress: now)
        // A class that comes back has time again, unless nobody answered it before.
        if entry.underWay == 0, !entry.hasFailed { entry.progress = now }
        entry.underWay += 1
        entries[asked] = entry
        underWay += 1
        return true
    }

    /// An attempt that was not counted, since it began before there was a crowd, has been answered.
    mutating func answered(_ asked: RequestClass, _ now: Instant) {
        guard var entry = entries[asked] else { return }
        (entry.progress, entry.isAnswered, entry.hasFailed) = (now, true, false)
        entries[asked] = entry
    }

    /// An attempt that was counted has ended.
    mutating func ended(_ asked: RequestClass, isAnswered: Bool, _ now: Instant) {
        guard var entry = entries[asked] else { return }
        underWay -= 1
        entry.underWay -= 1
        entry.hasFailed = !isAnswered
        if isAnswered { (entry.progress, entry.isAnswered) = (now, true) }
        entries[asked] = entry
    }
}
