public import RelayBase
public import RelayInterface

extension RelayClient {
    /// Hands a request over for keeping, and asks again with the same key until the relay has said what became of it.
    ///
    /// ```swift
    /// try await relay.keep(route: "mail", path: "messages", body: json, key: "welcome-\(user.id)")
    /// ```
    ///
    /// When this returns the job survives a loss of power, and there is one job however often it was asked for: the
    /// relay keeps one per key, user and route. A relay that is away or is being restarted is waited for, a lost
    /// answer is asked for again, and so is a refusal that says when to (`Retry-After`), all within `patience`.
    ///
    /// - Parameters:
    ///   - route: the route's name.
    ///   - method: passed on to the upstream.
    ///   - path: path and query below the upstream's base, in which every value that is put in is percent-encoded.
    ///   - fields: passed on to the upstream.
    ///   - body: passed on to the upstream; bytes, `Data` or any other sequence of them.
    ///   - key: the job's name at the route, such as an order's number: printable ASCII, 1…256 bytes.
    ///   - options: how it is to be kept and delivered; its key is `key`.
    ///   - patience: the longest wait for the relay in all.
    /// - Returns: the job.
    /// - Throws: the last refusal or loss when the patience is over. After an error whose `sent` is `unknown`, a
    ///   cancellation among them, the job may be kept; a later call with the same key tells, and makes no second one.
    @discardableResult public func keep(
        route: String,
        method: Method = .post,
        path: RequestPath = "",
        fields: HeaderFields = HeaderFields(),
        body: some Sequence<UInt8> = [],
        key: String,
        options: SubmissionOptions = SubmissionOptions(),
        within patience: Duration = .seconds(30)
    ) async throws(RelayClientError) -> SubmittedJob {
        var options = options
        options.idempotencyKey = key
        let bytes = Array(body)
        let end = clock.now().advanced(by: patience)
        var pause = ReconnectAllowance(clock)
        pause.wasAnswered()
        var wasAsked = false
        while true {
            do throws(RelayClientError) {
                var client = self
                client.timeout = min(timeout, max(.milliseconds(1), clock.now().duration(to: end)))
                return try await client.submit(
                    route: route,
                    method: method,
                    path: path,
                    fields: fields,
                    body: bytes,
                    options: options
                )
            } catch {
                // An earlier try may have arrived, whatever became of this one.
                wasAsked = wasAsked || error.sent == .unknown
                let told = error.problem?.retryAfter
                let left = clock.now().duration(to: end)
                guard told != nil || pause.forgives(error), error.isWorthAsking, (told ?? .zero) < left,
                    left > .zero
                else { throw wasAsked ? error.afterAnUnknownOne : error }
                do throws(RelayClientError) {
                    try await pause.sleep(atLeast: told ?? .zero, atMost: left)
                } catch {
                    throw wasAsked ? error.afterAnUnknownOne : error
                }
                guard clock.now() < end else { throw wasAsked ? error.afterAnUnknownOne : error }
            }
        }
    }
}

extension RelayClientError {
    /// Whether the same request may have a better answer in a moment.
    fileprivate var isWorthAsking: Bool {
        switch code {
        case .notReachable, .connectionLost, .timedOut, .tooManyRequests, .refused: true
        case .notAllowed, .invalidRequest, .invalidResponse, .responseTooLarge, .shutDown, .cancelled: false
        }
    }

    /// The same error of a request that may have been carried out all the same.
    var afterAnUnknownOne: RelayClientError {
        RelayClientError(code, message, sent: .unknown, problem: problem)
    }
}
