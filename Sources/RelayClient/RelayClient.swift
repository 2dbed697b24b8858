@_exported public import RelayBase
// The options of a job and the moments of its document.
@_exported public import RelayInterface
import RelayPosix

/// Hands HTTP requests to the relay over its Unix socket.
///
/// ```swift
/// let relay = RelayClient()
/// let answer = try await relay.send(route: "billing", method: .post, path: "charges", body: json)
/// ```
///
/// The relay retries, refreshes tokens and falls over as the route's configuration says; the caller sees one answer.
/// A request that reached the relay is never repeated by the client, but for `keep`, which has a key. Cancelling the task hangs up, which cancels
/// the request at the relay. Every request has a thread of its own while it runs; at most `maxConcurrentRequests`
/// run at once, further ones wait for a place, and where too many wait the next is refused with `tooManyRequests`.
public struct RelayClient: Sendable {
    /// Where the relay listens.
    public let socketPath: String
    /// The longest a request may take in all, waiting for a place included; default one minute.
    public var timeout: Duration = .seconds(60)
    /// Bytes an answer's body may have that is returned whole, unless the call says otherwise; default 64 MiB.
    public var maxResponseBody = 67_108_864
    package var clock = ClientClock.machine

    let life = ClientLife()
    private let pool: ExchangePool

    /// - Parameters:
    ///   - socketPath: the relay's jobs socket.
    ///   - maxConcurrentRequests: requests of this client that may run at once, at least one.
    ///   - maxWaitingRequests: requests that may wait for a place beyond those.
    public init(
        socketPath: String = "/run/waystation/jobs.sock",
        maxConcurrentRequests: Int = 64,
        maxWaitingRequests: Int = 1024
    ) {
        self.socketPath = socketPath
        pool = ExchangePool(
            limit: max(1, maxConcurrentRequests),
            maxWaiting: max(0, maxWaitingRequests),
            life: life
        )
    }

    /// How many requests wait for a place.
    package var waitingRequests: Int { pool.waiting }

    /// Sends a request to a route of the relay's configuration.
    ///
    /// - Parameters:
    ///   - route: the route's name.
    ///   - method: passed on to the upstream.
    ///   - path: path and query below the upstream's base, in which every value that is put in is percent-encoded; a
    ///     leading slash makes no difference.
    ///   - fields: passed on to the upstream; `Waystation-Timeout` and its like are for the relay.
    ///   - body: passed on to the upstream; bytes, `Data` or any other sequence of them.
    ///   - maxResponseBody: bytes the answer's body may have; nil is the client's own bound.
    /// - Returns: the upstream's answer, the route's stand-in for it, or the relay's own error; see
    ///   `RelayResponse.source`.
    /// - Throws: when there is no answer: the relay is not there, does not let the caller in, or is too slow;
    ///   `responseTooLarge` when its body is larger than that, whatever the upstream has done.
    public func send(
        route: String,
        method: Method = .get,
        path: RequestPath = "",
        fields: HeaderFields = HeaderFields(),
        body: some Sequence<UInt8> = [],
        maxResponseBody: Int? = nil
    ) async throws(RelayClientError) -> RelayResponse {
        let target = try ClientRequest.target(route: route, path: path)
        var client = self
        client.maxResponseBody = maxResponseBody ?? self.maxResponseBody
        return try await client.request(method, target, fields: fields, body: Array(body))
    }

    /// Sends a request to a route, whose answer's body is read piece by piece: nothing is held but the piece at hand,
    /// and a reader that takes its time holds back the upstream.
    ///
    /// - Parameters:
    ///   - route: the route's name.
    ///   - method: passed on to the upstream.
    ///   - path: path and query below the upstream's base, in which every value that is put in is percent-encoded; a
    ///     leading slash makes no difference.
    ///   - fields: passed on to the upstream; `Waystation-Timeout` and its like are for the relay.
    ///   - body: passed on to the upstream; bytes, `Data` or any other sequence of them.
    /// - Returns: the answer as soon as its head is there; iterating gives its body. `timeout` bounds the wait for the
    ///   head, and after that for each piece.
    /// - Throws: when there is no answer.
    public func stream(
        route: String,
        method: Method = .get,
        path: RequestPath = "",
        fields: HeaderFields = HeaderFields(),
        body: some Sequence<UInt8> = []
    ) async throws(RelayClientError) -> RelayStream {
        let target = try ClientRequest.target(route: route, path: path)
        let request = try ClientRequest(method: method, target: target, fields: fields, body: Array(body))
        let canceller = Canceller()
        let (socketPath, timeout) = (socketPath, timeout)
        // The body counts as under way until its end has been read.
        guard let stay = life.enter(.held, end: { canceller.cancel(.shutDown) }) else {
            throw .neverSent(.shutDown)
        }
        let deadline = StreamedAnswer.deadline(timeout)
        let answer = try await pool.run(canceller, by: deadline) { () throws(RelayClientError) in
            try StreamedAnswer(request, socketPath: socketPath, by: deadline, canceller: canceller)
        }
        return RelayStream(answer, stay, pool: pool, timeout: timeout)
    }

    /// Sends a request to a path of the relay's own, such as `/v1/status`.
    ///
    /// - Parameters:
    ///   - method: the request's method.
    ///   - target: path and query, beginning with a slash.
    ///   - fields: the request's fields; `Host` and framing are added.
    ///   - body: the request's body; bytes, `Data` or any other sequence of them.
    /// - Returns: the relay's answer, whatever its status.
    /// - Throws: when there is no answer.
    public func request(
        _ method: Method,
        _ target: String,
        fields: HeaderFields = HeaderFields(),
        body: some Sequence<UInt8> = []
    ) async throws(RelayClientError) -> RelayResponse {
        let request = try ClientRequest(method: method, target: target, fields: fields, body: Array(body))
        return try await answer(to: request, .working)
    }

    /// The whole answer to a request.
    func answer(
        to request: ClientRequest,
        _ manner: ClientLife.Manner
    ) async throws(RelayClientError) -> RelayResponse {
        let (client, deadline, canceller) = (self, StreamedAnswer.deadline(timeout), Canceller())
        return try await pool.run(canceller, manner, by: deadline) { () throws(RelayClientError) in
            try client.answer(to: request, by: deadline, canceller)
        }
    }

    /// Does the same and blocks the calling thread; for programs with nothing else to do.
    package func blockingRequest(
        _ method: Method,
        _ target: String,
        fields: HeaderFields = HeaderFields(),
        body: [UInt8] = []
    ) throws(RelayClientError) -> RelayResponse {
        let request = try ClientRequest(method: method, target: target, fields: fields, body: body)
        return try answer(to: request, by: StreamedAnswer.deadline(timeout), Canceller())
    }

    /// Sends a request to a route, whose answer's body is read piece by piece, and blocks the calling thread for its
    /// head.
    package func blockingStream(
        route: String,
        method: Method,
        path: String,
        fields: HeaderFields,
        body: [UInt8]
    ) throws(RelayClientError) -> StreamedAnswer {
        let target = try ClientRequest.target(route: route, path: RequestPath(path))
        return try blockingStream(method, target, fields: fields, body: body)
    }

    /// Sends a request whose answer's body is read piece by piece, and blocks the calling thread for its head.
    ///
    /// Where `caller` is a socket whose other end waits for the answer, all ends as cancelled when that end is gone.
    package func blockingStream(
        _ method: Method,
        _ target: String,
        fields: HeaderFields = HeaderFields(),
        body: [UInt8] = [],
        unlessGone caller: Int32? = nil
    ) throws(RelayClientError) -> StreamedAnswer {
        try StreamedAnswer(
            ClientRequest(method: method, target: target, fields: fields, body: body),
            socketPath: socketPath,
            by: StreamedAnswer.deadline(timeout),
            canceller: Canceller(),
            unlessGone: caller
        )
    }

    /// Connects, sends and reads to the end, on the calling thread.
    private func answer(
        to request: ClientRequest,
        by deadline: Int64,
        _ canceller: Canceller
    ) throws(RelayClientError) -> RelayResponse {
        guard SystemClock.monotonic() < deadline else { throw .late }
        let (path, limit) = (socketPath, maxResponseBody)
        return try StreamedAnswer(request, socketPath: path, by: deadline, canceller: canceller)
            .whole(by: deadline, limit: limit)
    }
}
