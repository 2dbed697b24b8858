import RelayKit
import RelayTestSupport

/// A service whose upstream answers everything with one text.
func service(answering text: String, status: Status = 200) throws -> (RelayService, ScriptedTransport) {
    let time = VirtualTime()
    let transport = ScriptedTransport(time: time) { _ in .answer(status, [], text) }
    let service = try RelayService(
        RoutePolicy(upstreams: [try Upstream("https://books.example/api/")]),
        transport: transport,
        time: time,
        entropy: SeededEntropy()
    )
    return (service, transport)
}

/// The value that a request gets from an upstream which answers with that text.
func value<Response>(of request: PlainRequest<Response>, answer: String) async throws(any Error) -> Response {
    try await service(answering: answer).0.execute(request)
}

/// The failure that a request gets from an upstream which answers with that text; nil for a success.
func failure<Response>(of request: PlainRequest<Response>, answer: String) async throws -> Failure? {
    switch await (try service(answering: answer).0).outcome(of: request).result {
    case .success: nil
    case .failure(let failure): failure
    }
}

struct Book: Codable, Equatable {
    var id: Int
    var title: String
}
