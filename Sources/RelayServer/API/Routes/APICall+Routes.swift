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
        let document = await server.control.compose {
            var json = JSONObjectWriter()
            json.array("routes") { list in
                for name in view.names { view[name].write(into: &list) }
            }
            return json.bytes
        }
        return Answer(200, document)
    }

    /// The routes in few words; with `since` those alone that have changed.
    func table(_ server: LoopServer) async throws(Problem) -> Answer {
        let since = try RouteTable.look(try query()[RouteTable.since])
        let table = RouteTable(try await RouteView(server), server.engine, since: since)
        var rows: [UInt8] = []
        // Others are told theirs between two pieces.
        for start in stride(from: 0, to: table.count, by: RouteTable.piece) {
            rows += await server.control.compose { table.rows(from: start) }
        }
        let told = rows
        return Answer(200, await server.control.compose { table.document(told) })
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
        let (tags, engine) = (EntityTags(fields, .ifMatch), server.engine)
        // Looked at with the action: somebody else may act while this call waits.
        let seen: @Sendable () throws(Problem) -> Void = { () throws(Problem) in
            let now = try RouteRevision(name, engine, durable.pauses)
            guard tags.isEmpty || tags.has("\"\(now.text)\"") else {
                throw Problem(
                    .preconditionFailed,
                    "the route has changed, and nothing was done: it is \(now.orders), at revision \(now.text)"
                )
            }
        }
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
                    by: principal,
                    ifSo: seen
                )
            }
        case .breaker:
            try checkJSON("the order")
            let order = try BreakerOrder(document)
            let principal = await caller.principal()
            try seen()
            let orders = try order.apply(
                to: try server.engine.snapshot.entry(name),
                by: principal,
                server.relay.ports.time.now()
            )
            for order in orders { server.relay.ports.sink.record(order) }
            // Kept jobs may have waited for it.
            durable.resumed(name)
        case .clearLimits:
            if !document.isEmpty { try checkJSON("the order") }
            let order = try ClearOrder(document)
            let principal = await caller.principal()
            try seen()
            let lifted = try order.apply(
                to: try server.engine.snapshot.entry(name),
                server.relay.ports.time.now()
            )
            if !lifted.isEmpty {
                let text =
                    "\(order.requests.map { "\($0) of " } ?? "")upstream\(lifted.count > 1 ? "s" : "") "
                    + lifted.joined(separator: ", ")
                let act = OperatorAct(
                    by: principal,
                    route: name,
                    "cleared the limits of route \(name): \(text)"
                )
                server.relay.ports.sink.record(.notice(.limitsCleared, "limits cleared: \(text)", act))
            }
            durable.resumed(name)
        case .resume:
            guard document.isEmpty else {
                throw Problem(.badRequest, "a resume has no document")
            }
            _ = try server.engine.snapshot.entry(name)
            let principal = await caller.principal()
            try await patience.write(in: durable.store) { () throws(Problem) in
                try await durable.pauses.resume(name, by: principal, ifSo: seen)
            }
        }
        let view = try await RouteView(server)
        guard view.names.contains(name) else { throw view.snapshot.missing(name) }
        return Answer(200, view[name].bytes)
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

    /// The unfinished jobs by age.
    func shape(_ server: LoopServer) async throws(Problem) -> Answer {
        let query = try query()
        let by = try query.value(ShapeTable.by)
        let route = query[ShapeTable.route]
        try await APICall.checkFilter(route, server)
        return Answer(200, try await ShapeTable(by: by, route: route, server).bytes)
    }
}
