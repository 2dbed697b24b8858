import RelayBase
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
                throw .hungUp
            }
            throw error
        }
    }

    private func read(from connection: borrowing ClientConnection) throws(RelayClientError) -> RelayResponse {
        let (head, rest) = try connection.head(of: request.method)
        return try body(of: head, after: rest, from: connection)
    }

    private func body(
        of head: ResponseHead,
        after first: [UInt8],
        from connection: borrowing ClientConnection
    ) throws(RelayClientError) -> RelayResponse {
        var decoder = BodyDecoder(framing: head.framing)
        var body: [UInt8] = []
        if case .length(let length) = head.framing, request.method != .head {
            guard length <= UInt64(maxResponseBody) else { throw tooLarge }
            body.reserveCapacity(Int(length))
        }
        var buffer = first
        while !decoder.isComplete {
            do throws(HTTPParseError) {
                _ = try decoder.decode(buffer.span, into: &body)
            } catch {
                throw .invalid(error, from: socketPath)
            }
            guard body.count <= maxResponseBody else {
                throw tooLarge
            }
            if decoder.isComplete { break }
            buffer.removeAll(keepingCapacity: true)
            if try !connection.receive(into: &buffer) {
                guard decoder.connectionClosed() else { throw .lost("in the middle of its body") }
                break
            }
        }
        return RelayResponse(status: head.status, fields: head.fields, body: body)
    }

    private var tooLarge: RelayClientError {
        RelayClientError(
            .responseTooLarge,
            "the answer's body is larger than \(maxResponseBody) bytes (maxResponseBody); stream it"
        )
    }
}
