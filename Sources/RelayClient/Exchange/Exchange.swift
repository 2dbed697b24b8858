import RelayCore
import RelayHTTP
import RelayPosix

/// One request and its answer on a connection of their own, on the calling thread.
struct Exchange: Sendable {
    private let request: ClientRequest
    private let socketPath: String
    private let deadline: Int64
    private let maxResponseBody: Int

    init(_ request: ClientRequest, socketPath: String, timeout: Duration, maxResponseBody: Int) {
        self.request = request
        self.socketPath = socketPath
        deadline = Instant(nanoseconds: SystemClock.monotonic()).advanced(by: timeout).nanoseconds
        self.maxResponseBody = maxResponseBody
    }

    /// Connects, sends and reads to the end; `canceller` ends it early from another thread.
    func run(canceller: Canceller? = nil) throws(RelayClientError) -> RelayResponse {
        guard SystemClock.monotonic() < deadline else {
            throw RelayClientError(.timedOut, "the time was up before the request could be sent")
        }
        let connection = try ClientConnection(path: socketPath, deadline: deadline)
        let isCancelled = canceller?.adopt(connection.raw) == false
        defer { canceller?.release(connection.raw) }
        if isCancelled { throw RelayClientError(.cancelled, "the request was cancelled before it was sent") }
        do throws(RelayClientError) {
            // An answer that comes early, such as a refusal of the body, ends the sending.
            if try connection.send(request.head) { _ = try connection.send(request.body) }
            return try read(from: connection)
        } catch {
            if canceller?.isCancelled == true {
                throw RelayClientError(
                    .cancelled,
                    "the request was cancelled; the relay was told by hanging up"
                )
            }
            throw error
        }
    }

    private func read(from connection: borrowing ClientConnection) throws(RelayClientError) -> RelayResponse {
        var parser = ResponseHeadParser(requestMethod: request.method)
        var buffer: [UInt8] = []
        var interim = 0
        while true {
            switch try parse(&parser, buffer) {
            case .needsMore:
                guard try connection.receive(into: &buffer) else {
                    throw lost("before its head was complete")
                }
            case .head(let head, let consumed):
                buffer.removeFirst(consumed)
                guard head.isInterim else { return try body(of: head, after: buffer, from: connection) }
                interim += 1
                guard interim <= 10 else {
                    throw RelayClientError(.invalidResponse, "the relay sent more than ten interim responses")
                }
                parser = ResponseHeadParser(requestMethod: request.method)
            }
        }
    }

    private func body(
        of head: ResponseHead,
        after first: [UInt8],
        from connection: borrowing ClientConnection
    ) throws(RelayClientError) -> RelayResponse {
        var decoder = BodyDecoder(framing: head.framing)
        var body: [UInt8] = []
        var buffer = first
        while !decoder.isComplete {
            do throws(HTTPParseError) {
                _ = try decoder.decode(buffer.span, into: &body)
            } catch {
                throw invalid(error)
            }
            guard body.count <= maxResponseBody else {
                throw RelayClientError(
                    .invalidResponse,
                    "the answer's body is larger than \(maxResponseBody) bytes"
                )
            }
            if decoder.isComplete { break }
            buffer.removeAll(keepingCapacity: true)
            if try !connection.receive(into: &buffer) {
                guard decoder.connectionClosed() else { throw lost("in the middle of its body") }
                break
            }
        }
        return RelayResponse(status: head.status, fields: head.fields, body: body)
    }

    private func parse(
        _ parser: inout ResponseHeadParser,
        _ buffer: [UInt8]
    ) throws(RelayClientError) -> HeadResult<ResponseHead> {
        do throws(HTTPParseError) {
            return try parser.parse(buffer.span)
        } catch {
            throw invalid(error)
        }
    }

    private func invalid(_ error: HTTPParseError) -> RelayClientError {
        RelayClientError(.invalidResponse, "the answer from \(socketPath) is no valid HTTP: \(error.message)")
    }

    private func lost(_ place: String) -> RelayClientError {
        RelayClientError(
            .connectionLost,
            "the relay ended the connection \(place); whether the request was carried out is not known"
        )
    }
}
