import RelayKit

/// Sends a message, and gives what came back: the whole answer, as `execute` and `collect` would.
func post(_ message: [UInt8], to hooks: RelayService) async throws(Failure) -> HTTPResponse {
    var request = PlainRequest<HTTPResponse>(.post, "messages", content: .raw(message))
    request.options.timeout = .seconds(30)
    return try await hooks.execute(request)
}
