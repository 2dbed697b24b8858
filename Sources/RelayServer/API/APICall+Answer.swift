import RelayCore
import RelayEngine
import RelayHTTP
import RelayJSON
import RelayPosix

extension APICall {
    /// Does what the call asks and answers on `connection`.
    func answer(_ document: [UInt8], on connection: Connection) async {
        let isHead = method == .head
        do throws(Problem) {
            if let answer = try await perform(document, connection) {
                connection.respond(answer, isHead: isHead)
            }
        } catch {
            connection.respond(error, isHead: isHead)
        }
    }

    /// - Returns: nil when the answer is out already.
    private func perform(
        _ document: [UInt8],
        _ connection: Connection
    ) async throws(Problem) -> APIAnswer? {
        let server = connection.server
        switch resource {
        case .version:
            var json = JSONObjectWriter()
            json.member("name", "waystationd")
            json.member("version", server.control.version)
            json.array("api_versions") { $0.element("v1") }
            return APIAnswer(200, json.bytes)
        case .status: return APIAnswer(200, server.control.status())
        case .live: return APIAnswer(200, Array(#"{"status":"live"}"#.utf8))
        case .ready:
            if let problem = server.control.unready { throw problem }
            return APIAnswer(200, Array(#"{"status":"ready"}"#.utf8))
        case .reload:
            let (status, document) = await server.control.reload()
            var answer = APIAnswer(Status(rawValue: status), document)
            if answer.status.class != .success { answer.type = "application/problem+json" }
            return answer
        case .jobs: return method == .post ? try await run(document, connection) : try await list(connection)
        case .job(let id, let part): return try await job(id, part, connection)
        case .actions: return try await bulk(document, connection)
        case .events:
            let stream = try EventStream(self, on: connection)
            await stream.serve(on: connection, isHead: method == .head)
            return nil
        case .shape: return try await shape(server)
        case .routes: return try await routes(server)
        case .route(let name, let part): return try await route(name, part, document, server)
        case .stream: preconditionFailure("a stream is served as its body arrives")
        case .constrained: return APIAnswer(200, try constrained(document, connection))
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
