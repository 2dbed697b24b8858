import RelayBase
import RelayHTTP
import RelayPosix
import RelayRoute

extension Connection {
    /// Facts of the exchange at hand.
    func exchange(firstByte: Int64? = nil) -> Exchange {
        var exchange = Exchange(address: address.isEmpty ? nil : address, wasReused: isReused)
        exchange.missedPins = missedPins
        if !isReused {
            exchange.nameLookup = .nanoseconds(nameLookup)
            exchange.connect = .nanoseconds(connectTime)
            exchange.handshake = tls.map { $0.wasResumed ? .resumed : .full }
        }
        if let transfer { exchange.upload = .nanoseconds(transfer.time(loop.now)) }
        if let firstByte, hasWritten { exchange.firstByte = .nanoseconds(firstByte &- sentAt) }
        return exchange
    }

    /// Ends the request at hand with a failure and closes.
    ///
    /// The verdict is `unknown` once a byte was written, unless the failure is about the answer itself.
    func fail(_ kind: FailureKind, _ detail: String, sent: Sent? = nil) {
        let verdict = sent ?? (hasWritten ? .unknown : .neverSent)
        fail(Failure(kind, sent: verdict, detail, exchange: exchange()))
    }

    func fail(_ failure: Failure) {
        let isClosed =
            phase == .exchanging && isReused && failure.kind == .connectionTerminated && headBytes.isEmpty
            && interimCount == 0
        body.fault = failure
        let reader = unsafe body.takeWaiter()
        let taker = taker.take()
        close()
        unsafe reader?.resume()
        taker?.brokeOff(failure)
        tell(isClosed ? .closed(failure) : .failure(failure))
    }

    func fail(_ fault: WireFault) {
        fail(fault.kind, "\(endpointText): \(fault.detail)")
    }

    /// Ends the request at hand because the answer breaks the protocol or its limits.
    func fail(_ error: HTTPParseError, understoodHead: Bool, isTLS: Bool = false) {
        switch error.code {
        case .headTooLarge, .tooManyFields, .fieldNameTooLong:
            fail(
                .httpResponseHeaderSectionSize,
                "the answer of \(endpointText): \(error.message)",
                sent: .answered
            )
        default:
            fail(
                .httpProtocolError,
                "the answer of \(endpointText) is not valid HTTP/1.1: \(error.message)"
                    + (isTLS ? "; it is TLS: write https:// in the url" : ""),
                sent: understoodHead ? .answered : nil
            )
        }
    }

    /// Ends the request with the serial because nobody wants its answer any more.
    func cancel(_ serial: UInt64) {
        guard self.serial == serial else { return }
        if phase == .dialling { return fail(Failure(.cancelled, sent: .neverSent, cancellation)) }
        promote(.caller)
        fail(.cancelled, cancellation)
    }

    private var cancellation: String { "the request to \(pool.key.origin.text) was cancelled" }
}
