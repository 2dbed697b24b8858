package import RelayBase
import RelayHTTP
import RelayPosix
import Synchronization

/// An answer whose body is read when somebody asks for more of it.
///
/// Nothing is read ahead: a reader that takes its time holds back the relay, not memory, and no thread.
package final class StreamedAnswer: Sendable {
    private struct Reading: ~Copyable {
        var connection: ClientConnection
        var decoder: BodyDecoder
        /// The bytes behind the head that came with it.
        var first: [UInt8]
    }

    package let status: Status
    package let fields: HeaderFields
    let canceller: Canceller
    private let reading: Mutex<Reading?>
    private let socketPath: String

    /// Sends a request and reads the head of its answer, on the calling thread.
    ///
    /// - Throws: when no head comes before `deadline`, or the connection breaks.
    init(
        _ request: ClientRequest,
        socketPath: String,
        by deadline: Int64,
        canceller: Canceller,
        unlessGone caller: Int32? = nil
    ) throws(RelayClientError) {
        var connection = try ClientConnection(path: socketPath, deadline: deadline) { canceller.reason }
        connection.caller = caller
        guard canceller.adopt(connection.raw) else {
            throw .neverSent(canceller.reason ?? .cancelled)
        }
        let head: ResponseHead
        let remainder: [UInt8]
        do throws(RelayClientError) {
            // An answer that comes early, such as a refusal of the body, ends the sending.
            if try connection.send(request.head) { _ = try connection.send(request.body) }
            (head, remainder) = try connection.head(of: request.method)
        } catch {
            canceller.release(connection.raw)
            throw canceller.reason.map(RelayClientError.hungUp) ?? error
        }
        status = head.status
        fields = head.fields
        self.canceller = canceller
        self.socketPath = socketPath
        reading = Mutex(
            Reading(connection: connection, decoder: BodyDecoder(framing: head.framing), first: remainder)
        )
    }

    deinit { close() }

    /// The next bytes of the body, as soon as there are any; blocks the calling thread.
    ///
    /// - Parameter patience: how long nothing may come.
    /// - Returns: at most what one read gives; nil at the end.
    /// - Throws: when nothing comes in time, or the connection breaks.
    package func next(within patience: Duration) throws(RelayClientError) -> [UInt8]? {
        try next(by: StreamedAnswer.deadline(patience))
    }

    /// The same, until that moment.
    func next(by deadline: Int64) throws(RelayClientError) -> [UInt8]? {
        var piece: [UInt8] = []
        try read(into: &piece, by: deadline)
        return piece.isEmpty ? nil : piece
    }

    /// The whole answer, with at most `limit` bytes of body.
    func whole(by deadline: Int64, limit: Int) throws(RelayClientError) -> RelayResponse {
        let length = reading.withLock { $0?.decoder.remaining ?? 0 }
        guard length <= UInt64(limit) else { throw .tooLarge(limit) }
        var body: [UInt8] = []
        body.reserveCapacity(Int(length))
        var before: Int
        repeat {
            before = body.count
            try read(into: &body, by: deadline)
            guard body.count <= limit else { throw .tooLarge(limit) }
        } while body.count > before
        return RelayResponse(status: status, fields: fields, body: body)
    }

    private func read(into body: inout [UInt8], by deadline: Int64) throws(RelayClientError) {
        do throws(RelayClientError) {
            try reading.withLock { reading throws(RelayClientError) in
                try read(from: &reading, into: &body, by: deadline)
            }
        } catch {
            throw canceller.reason.map(RelayClientError.hungUp) ?? error
        }
    }

    /// Appends what one read gives; nothing at the end.
    private func read(
        from reading: inout Reading?,
        into body: inout [UInt8],
        by deadline: Int64
    ) throws(RelayClientError) {
        let before = body.count
        while reading != nil, body.count == before {
            if reading?.decoder.isComplete ?? true { return }
            reading?.connection.deadline = deadline
            var buffer = reading?.first ?? []
            reading?.first = []
            if buffer.isEmpty, try reading?.connection.receive(into: &buffer) == false {
                // A body that ends with its connection has no other end, and this end may be our own.
                guard reading?.decoder.connectionClosed() ?? true, canceller.reason == nil else {
                    throw .lost("in the middle of its body")
                }
                return
            }
            do throws(HTTPParseError) {
                _ = try reading?.decoder.decode(buffer.span, into: &body)
            } catch {
                throw .invalid(error, from: socketPath)
            }
        }
    }

    /// The rest of the body, at most `limit` bytes of it.
    package func remainder(within patience: Duration, limit: Int) throws(RelayClientError) -> [UInt8] {
        var body: [UInt8] = []
        while body.count < limit, let piece = try next(within: patience) { body += piece }
        return Array(body.prefix(limit))
    }

    private func close() {
        reading.withLock { reading in
            if let raw = reading?.connection.raw { canceller.release(raw) }
            reading = nil
        }
    }

    static func deadline(_ timeout: Duration) -> Int64 {
        Instant(nanoseconds: SystemClock.monotonic()).advanced(by: timeout).nanoseconds
    }
}

extension RelayClientError {
    fileprivate static func tooLarge(_ limit: Int) -> RelayClientError {
        RelayClientError(
            .responseTooLarge,
            "the answer's body is larger than \(limit) bytes (maxResponseBody); stream it"
        )
    }
}
