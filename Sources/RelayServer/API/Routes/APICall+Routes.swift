import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

extension APICall {
    /// Every route.
    func routes(_ server: LoopServer) async throws(Problem) -> Answer {
        _ = try query()
        let view = try await RouteView(server)
        var json = JSONObjectWriter()
        json.array("routes") { list in
            for name in view.names { list.object { view.write(name, into: &$0) } }
        }
        return Answer(200, json.bytes)
    }

    /// One route, after an operator's word when the call brings one.
    func route(
        _ name: String,
        _ part: RoutePart,
        _ document: [UInt8],
        _ caller: Caller,
        _ server: LoopServer
    ) async throws(Problem) -> Answer {
        _ = try query()
        let durable = server.durable
        let patience = StorageDeadline(server.relay.ports, JobOptions())
        switch part {
        case .whole: break
        case .pause:
            if !document.isEmpty { try checkJSON("a pause") }
            let order = try PauseOrder(document)
            _ = try server.engine.snapshot.entry(name)
            let principal = await caller.principal()
            try await patience.write(in: durable.store) { () throws(Problem) in
                try await durable.pauses.pause(
                    name,
                    reason: order.reason,
                    for: order.duration,
                    by: principal
                )
            }
        case .breaker:
            try checkJSON("the order")
            let order = try BreakerOrder(document)
            let principal = await caller.principal()
            let orders = try order.apply(
                to: try server.engine.snapshot.entry(name),
                by: principal,
                server.relay.ports.time.now()
            )
            for order in orders { server.relay.ports.sink.record(.breakerOrdered(route: name, order)) }
            // Kept jobs may have waited for it.
            durable.resumed(name)
        case .clearLimits:
            if !document.isEmpty { try checkJSON("the order") }
            let order = try ClearOrder(document)
            let principal = await caller.principal()
            let lifted = try order.apply(
                to: try server.engine.snapshot.entry(name),
                server.relay.ports.time.now()
            )
            if !lifted.isEmpty {
                let change = LimitsChange(
                    by: principal,
                    upstreams: lifted,
                    requests: order.requests
                )
                server.relay.ports.sink.record(.limitsCleared(route: name, change))
            }
            durable.resumed(name)
        case .resume:
            guard document.isEmpty else {
                throw Problem(.badRequest, "a resume has no document")
            }
            _ = try server.engine.snapshot.entry(name)
            let principal = await caller.principal()
            try await patience.write(in: durable.store) { () throws(Problem) in
                try await durable.pauses.resume(name, by: principal)
            }
        }
        let view = try await RouteView(server)
        guard view.names.contains(name) else { throw view.snapshot.missing(name) }
        var json = JSONObjectWriter()
        view.write(name, into: &json)
        return Answer(200, json.bytes)
    }

    /// A route of a filter that is neither configured nor has jobs is a slip, and no empty list.
    ///
    /// - Throws: `route_not_found`.
    static func checkFilter(_ route: String?, _ server: LoopServer) async throws(Problem) {
        guard let route, server.engine.snapshot.routes[route] == nil else { return }
        let view = try await RouteView(server)
        guard !view.names.contains(route) else { return }
        throw view.snapshot.missing(route)
    }

    /// Unfinished jobs by age, as a table: what waits, and for how long already.
    func shape(_ server: LoopServer) async throws(Problem) -> Answer {
        let query = try query()
        let by = try query.word(ShapeTable.by)
        let route = query[ShapeTable.route]
        try await APICall.checkFilter(route, server)
        let counters = try await RouteView.counters(server)
        var rows: [String: [Int]] = [:]
        let none = Array(repeating: 0, count: JobCounters.bucketCount)
        var total = none
        for (group, ages) in counters.ages where route == nil || route == group.route {
            total = zip(total, ages).map(+)
            if by == .failureKind { continue }
            let key = by == .state ? group.state.name : group.route
            rows[key] = zip(rows[key] ?? none, ages).map(+)
        }
        if by == .failureKind {
            for (kind, ages) in try await RouteView.failures(route, server) {
                rows[kind.rawValue] = ages
            }
            // A job that fails between the two looks is in neither or in both.
            let failed = rows.values.reduce(none) { zip($0, $1).map(+) }
            rows["none"] = zip(total, failed).map { max(0, $0 - $1) }
        }
        var json = JSONObjectWriter()
        json.member("by", by.rawValue)
        // The last bucket has no end.
        json.array("bucket_ms") { list in
            for bucket in 0..<(JobCounters.bucketCount - 1) { list.element(60_000 << bucket) }
        }
        json.object("total") { writer in
            writer.member("total", total.reduce(0, +))
            writer.array("counts") { list in for count in total { list.element(count) } }
        }
        json.array("rows") { list in
            for (key, ages) in rows.sorted(by: { $0.key < $1.key }) where ages.contains(where: { $0 != 0 }) {
                list.object { row in
                    row.member("key", key)
                    row.member("total", ages.reduce(0, +))
                    row.array("counts") { list in for count in ages { list.element(count) } }
                }
            }
        }
        return Answer(200, json.bytes)
    }
}
