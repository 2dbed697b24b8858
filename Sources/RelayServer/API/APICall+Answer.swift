import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayPosix
import RelayRoute

extension APICall {
    /// Does what the call asks.
    func answer(_ document: [UInt8], _ caller: Caller) async throws(Problem) -> Answer {
        let server = caller.server
        switch resource {
        case .version:
            return Answer(200, VersionDocument(version: server.control.version, role: caller.role).bytes)
        case .status:
            let control = server.control
            return Answer(200, await control.compose { control.status() })
        case .troubles:
            _ = try query()
            let control = server.control
            await server.durable.ending.look(server.relay.ports)
            return Answer(200, await control.compose { control.troubles() })
        case .metrics:
            _ = try query()
            let format = MetricsText.Format(fields)
            return Answer(200, await server.control.metrics(format), type: format.type)
        case .live: return Answer(200, Array(#"{"status":"live"}"#.utf8))
        case .ready:
            if let problem = server.control.unready { throw problem }
            return Answer(200, Array(#"{"status":"ready"}"#.utf8))
        case .reload:
            let tags = EntityTags(fields, .ifMatch)
            let digest = server.engine.snapshot.settings.digest
            guard tags.isEmpty || tags.has("\"\(digest)\"") else {
                throw Problem(
                    .preconditionFailed,
                    "the configuration has changed, and nothing was done: that in force has the digest \(digest)"
                )
            }
            let (status, document) = await server.control.reload()
            return status == 200
                ? Answer(200, document)
                : Answer(Status(rawValue: status), document, type: "application/problem+json")
        case .endpoints:
            let query = try query()
            let limit = try query.value(EndpointsDocument.limit) ?? EndpointsDocument.usualLimit
            let isStrict = try query.value(EndpointsDocument.strict) ?? false
            return Answer(200, try await server.control.checkEndpoints(limit, isStrict: isStrict))
        case .jobs: return method == .post ? try await run(document, caller) : try await list(caller)
        case .job(let id, let part): return try await job(id, part, caller)
        case .actions: return try await bulk(document, caller)
        case .runs: return method == .post ? try await begin(document, caller) : try runs(server)
        case .run(let number, let part): return try await run(number, part, document, caller)
        case .events:
            let events = try EventBody(self, caller)
            var answer = Answer(200, .stream(events), type: events.type)
            answer.endsAtDrain = true
            return answer
        case .shape: return try await shape(server)
        case .history:
            let routes = try query()[HistoryDocument.route]
            let (engine, time) = (server.engine, server.relay.ports.time)
            let names = try routes.map(HistoryDocument.names) ?? engine.snapshot.routeNames
            if routes != nil { for name in names { _ = try engine.snapshot.entry(name) } }
            return Answer(200, await server.control.compose { HistoryDocument(names, engine, time).bytes })
        case .routes: return try await routes(server)
        case .table: return try await table(server)
        case .route(let name, let part): return try await route(name, part, document, caller, server)
        case .stream: preconditionFailure("a stream is served as its body arrives")
        case .constrained: return Answer(200, try constrained(document, caller))
        case .contract: return Answer(200, .stream(ChunkedBytes(server.control.contract)))
        case .page(let part): return part?.answer(to: fields) ?? PageDocument.redirect
        }
    }

    /// Refuses a document of another type; one without a type is taken at its word.
    func checkJSON(_ what: String) throws(Problem) {
        guard let type = fields[.contentType] else { return }
        let media = type.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        guard media.lowercased() == MediaType.json else {
            throw Problem(.unsupportedMediaType, "\(what) is application/json")
        }
    }
}
