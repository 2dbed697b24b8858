import RelayBase
import RelayHTTP

extension ClientConnection {
    /// Reads the head of the final answer.
    ///
    /// - Returns: the head and the bytes that came behind it.
    func head(of method: Method) throws(RelayClientError) -> (head: ResponseHead, rest: [UInt8]) {
        var parser = ResponseHeadParser(requestMethod: method)
        var buffer: [UInt8] = []
        var interim = 0
        while true {
            let result: HeadResult<ResponseHead>
            do throws(HTTPParseError) {
                result = try parser.parse(buffer.span)
            } catch {
                throw .invalid(error, from: path)
            }
            switch result {
            case .needsMore:
                guard try receive(into: &buffer) else { throw .lost("before its head was complete") }
            case .head(let head, let consumed):
                buffer.removeFirst(consumed)
                guard head.isInterim else { return (head, buffer) }
                interim += 1
                guard interim <= 10 else {
                    throw RelayClientError(.invalidResponse, "the relay sent more than ten interim responses")
                }
                parser = ResponseHeadParser(requestMethod: method)
            }
        }
    }
}

extension RelayClientError {
    static func invalid(_ error: HTTPParseError, from path: String) -> RelayClientError {
        RelayClientError(.invalidResponse, "the answer from \(path) is no valid HTTP: \(error.message)")
    }

    static func lost(_ place: String) -> RelayClientError {
        RelayClientError(
            .connectionLost,
            "the relay ended the connection \(place); whether the request was carried out is not known"
        )
    }
}
