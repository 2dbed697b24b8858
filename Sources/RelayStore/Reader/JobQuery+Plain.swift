import RelayBase
import RelayJobs

/// Plain jobs in a walk: by the blocks that `zone` says have some.
extension JobQuery {
    /// Blocks that one look goes over.
    private static let blocks = 8

    /// The states of a plain job that a filter lets through.
    private struct Wanted {
        var isScheduled: Bool
        var isWaiting: Bool
        var isRunning: Bool
        var isOver: Bool

        init(_ filter: JobFilter) {
            let states = filter.states
            let mayMatch =
                filter.label == nil && filter.failureKind == nil && filter.failureStatus == nil
                && filter.upstream == nil
            isScheduled = mayMatch && (states.isEmpty || states.contains(.scheduled))
            isWaiting = mayMatch && (states.isEmpty || states.contains(.queued))
            isRunning = mayMatch && (states.isEmpty || states.contains(.running))
            isOver = mayMatch && (states.isEmpty || states.contains(.succeeded))
        }

        var isAny: Bool { isScheduled || isWaiting || isRunning || isOver }

        /// The condition that a zone with jobs in such states meets.
        var condition: String {
            var parts: [String] = []
            if isWaiting || isRunning { parts.append("open > 0") }
            if isScheduled { parts.append("due IS NOT NULL") }
            if isOver { parts.append("fin IS NOT NULL") }
            return "(\(parts.joined(separator: " OR ")))"
        }
    }

    /// Plain jobs beyond a place that the filter may match.
    func plainPositions(beyond place: Int64) throws(StoreError) -> JobPositions {
        let wanted = Wanted(filter)
        guard wanted.isAny else { return JobPositions() }
        var routes = Array(names.keys)
        if let route = filter.route { routes = routes.filter { names[$0] == route } }
        let isUp = order == .oldestFirst
        let blocks = try blocks(beyond: place, of: routes, wanted)
        // Those that run are few among those that wait.
        let claimed = wanted.isWaiting == wanted.isRunning ? [] : try database.claimedPositions()
        var found = JobPositions()
        for block in blocks {
            let positions = PlainZone.positions(of: block)
            let select = try select()
            select.bind(1, isUp ? max(positions.lowerBound, place.addingSaturating(1)) : positions.lowerBound)
            select.bind(
                2,
                isUp ? positions.upperBound : min(positions.upperBound, place.subtractingSaturating(1))
            )
            select.bind(3, filter.route == nil ? nil : routes.first)
            defer { select.reset() }
            while try select.step() {
                let seq = select.int(0)
                let lane = select.int(1)
                if lane == JobRow.scheduledQueue {
                    guard wanted.isScheduled else { continue }
                } else if select.int(2) == 1 {
                    guard wanted.isOver else { continue }
                } else if wanted.isWaiting != wanted.isRunning {
                    let isRunning = lane == JobRow.runningQueue || claimed.contains(seq)
                    guard isRunning == wanted.isRunning else { continue }
                } else if !wanted.isWaiting {
                    continue
                }
                found.rows.append(seq)
                guard found.rows.count < Self.rowLimit else {
                    found.end = seq
                    return found
                }
            }
            found.end = isUp ? positions.upperBound : positions.lowerBound
        }
        if blocks.count < Self.blocks { found.end = nil }
        return found
    }

    /// The next blocks with such jobs, in order.
    private func blocks(
        beyond place: Int64,
        of routes: [Int64],
        _ wanted: Wanted
    ) throws(StoreError) -> [Int64] {
        let isUp = order == .oldestFirst
        let next = isUp ? place.addingSaturating(1) : place.subtractingSaturating(1)
        let conditions = ["route = ?1", isUp ? "block >= ?2" : "block <= ?2", wanted.condition]
        let select = try database.statement(
            text: """
                SELECT block FROM zone WHERE \(conditions.joined(separator: " AND "))
                ORDER BY block \(isUp ? "ASC" : "DESC") LIMIT ?3
                """
        )
        var blocks: Set<Int64> = []
        for route in routes {
            select.bind(1, route)
            select.bind(2, next >> PlainZone.shift)
            select.bind(3, Int64(Self.blocks))
            blocks.formUnion(try select.numbers())
        }
        return Array(blocks.sorted { isUp ? $0 < $1 : $0 > $1 }.prefix(Self.blocks))
    }

    /// Position, queue, and whether it is over.
    private func select() throws(StoreError) -> Statement {
        var conditions = ["plain.seq BETWEEN ?1 AND ?2", "(?3 IS NULL OR plain.route = ?3)"]
        // Without a state it is told that a damaged one is damaged.
        if !filter.states.isEmpty { conditions.append("lane >= 0") }
        return try database.statement(
            text: """
                SELECT plain.seq, lane, ended.seq IS NOT NULL FROM plain LEFT JOIN ended ON ended.seq = plain.seq
                WHERE \(conditions.joined(separator: " AND "))
                ORDER BY plain.seq \(order == .oldestFirst ? "ASC" : "DESC")
                """
        )
    }
}
