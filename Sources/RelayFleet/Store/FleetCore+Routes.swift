import RelayBase
import RelayJobs
import RelayPostgres

/// Routes that some nodes have and others lack: a job of a route that no node has is held until one has it.
extension FleetCore {
    /// Stands for all routes, of a node that has not told which it has.
    static let allRoutes: Int32 = 0

    private var s: String { statements.s }

    /// The numbers of the routes that it serves.
    var servedNumbers: [Int32] { servedRoutes?.compactMap { routes[$0] } ?? [Self.allRoutes] }

    func serve(_ routes: [String]) async {
        servedRoutes = routes
        guard refusal == nil else { return }
        // A failure is made up for by the next renewal of the lease.
        try? await tellRoutes()
    }

    /// Tells the others which routes it has.
    func tellRoutes() async throws(StoreError) {
        for route in servedRoutes ?? [] { _ = try await number(of: route) }
        _ = try await round(
            "tell the routes",
            [
                PostgresStatement(
                    "UPDATE \(s).node SET routes = $3 WHERE name = $1 AND generation = $2",
                    [.text(options.node), .int64(generation), .int32s(servedNumbers)]
                )
            ]
        )
    }

    /// Holds jobs of routes that no node has had for as long as a lease lasts, for which a node may be away, and lets
    /// those go on whose route is here.
    func lookForRoutes(_ limit: Int, _ report: inout SweepReport) async throws(StoreError) {
        guard let served = servedRoutes else { return }
        let own = Set(served.compactMap { routes[$0] })
        let result = try await round(
            "look for routes",
            [
                PostgresStatement(
                    """
                    SELECT route, coalesce(sum(delta) FILTER (WHERE state IN (0, 1, 3)), 0)::bigint,
                    coalesce(sum(delta) FILTER (WHERE state = 4), 0)::bigint,
                    EXISTS (SELECT FROM \(s).node n WHERE until >= \(statements.now)
                    AND (t.route = ANY(n.routes) OR \(Self.allRoutes) = ANY(n.routes)))
                    FROM \(s).tally t WHERE state < 5 GROUP BY route HAVING sum(delta) > 0
                    """
                )
            ]
        )[0]
        var stranded: [Int32: Int64] = [:]
        for row in 0..<result.count {
            guard let route = result.int64(row, 0).map({ Int32(clamping: $0) }),
                let waiting = result.int64(row, 1), let held = result.int64(row, 2)
            else { continue }
            if own.contains(route) {
                if held > 0, heldForOthers[route] != held { try await release(route) }
                heldForOthers[route] = held
            } else if result.bool(row, 3) == false {
                let since = strandedSince[route] ?? steady
                stranded[route] = since
                if waiting > 0, steady - since >= options.lease.saturatedNanoseconds / 1_000_000 {
                    try await strand(route, limit, &report)
                }
            }
        }
        strandedSince = stranded
    }

    private func strand(_ route: Int32, _ limit: Int, _ report: inout SweepReport) async throws(StoreError) {
        let result = try await round(
            "look for jobs without a route",
            [
                PostgresStatement(
                    """
                    SELECT \(FleetRow.columns) FROM (
                    SELECT seq, slot FROM \(s).deferred d WHERE route = $1 AND \(statements.isGood("d"))
                    UNION ALL SELECT seq, slot FROM \(s).ready r
                    WHERE route = $1 AND \(statements.isGood("r")) LIMIT $2) x
                    \(statements.job(of: "x")) \(statements.lastChange)
                    """,
                    [.int32(route), .int64(Int64(limit))]
                )
            ]
        )[0]
        let changes = try await change(all(result)) { row, _ in
            var after = row.standing
            return after.machine.strand() ? FleetChange(row, after) : nil
        }
        report.hasMore = report.hasMore || !changes.isEmpty && result.count == limit
    }

    private func release(_ route: Int32) async throws(StoreError) {
        var filter = JobFilter()
        (filter.states, filter.reason, filter.route) = ([.held], .routeRemoved, routeNames[route])
        var cursor: JobCursor?
        repeat {
            let page = try await page(filter, .oldestFirst, 500, cursor)
            _ = try await change(page.rows) { row, isBlocked in
                var after = row.standing
                guard after.machine.reason == .routeRemoved,
                    after.machine.release(isBlocked: isBlocked, now: self.now)
                else { return nil }
                return FleetChange(row, after)
            }
            cursor = page.next
        } while cursor != nil
    }
}
