import RelayJobs

/// Jobs to look at, in order, and how far that is all of them.
struct JobPositions {
    var rows: [Int64] = []
    /// Nil where there are no more behind them.
    var end: Int64?

    /// Those of both, as far as both are known, at most `limit`.
    func merged(with other: JobPositions, _ order: ListOrder, _ limit: Int) -> (rows: [Int64], end: Int64?) {
        let isUp = order == .oldestFirst
        var end = [self.end, other.end].compactMap { $0 }.min { isUp ? $0 < $1 : $0 > $1 }
        var rows = (rows + other.rows).sorted { isUp ? $0 < $1 : $0 > $1 }
        if let end { rows.removeAll { isUp ? $0 > end : $0 < end } }
        if rows.count > limit {
            rows.removeSubrange(limit...)
            end = rows.last
        }
        return (rows, end)
    }
}
