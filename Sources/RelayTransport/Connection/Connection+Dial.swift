import RelayBase
import RelayPosix
import RelayRoute

// A connection is made by the events of its loop: name, address, handshake, pins; then its request is begun.
extension Connection {
    /// Makes the connection and sends `request` over it; `waiter` is told once what came of either.
    ///
    /// It closes itself when it cannot be made. With a `record` nothing is sent: the connection is kept for a request to
    /// come.
    func dial(
        _ state: TransportState,
        for request: OutboundRequest,
        _ waiter: ExchangeWaiter,
        _ record: DialRecord? = nil
    ) {
        let dialling = Dialling(request, state, record, now: loop.currentTime())
        self.dialling = dialling
        self.waiter = waiter
        isBeginning = true
        defer { isBeginning = false }
        takeStep { () throws(Failure) in
            switch pool.key.origin {
            case .unix(let path): try connect([.unix(path: path)], dialling)
            case .tcp(let host, _, _): try lookUp(host, dialling)
            }
        }
    }

    /// Its descriptor has something to tell.
    func dialReady() {
        guard let dialling else { return }
        takeStep { () throws(Failure) in
            switch dialling.step {
            case .name: break
            case .connect: try connectReady(dialling)
            case .handshake(let session): try shakeHands(session, dialling)
            }
        }
    }

    /// The time of the step at hand is over.
    func dialTimedOut() {
        guard let dialling else { return }
        takeStep { () throws(Failure) in
            switch dialling.step {
            case .name(let start): try nameTimedOut(dialling, since: start)
            case .connect: try connectTimedOut(dialling)
            case .handshake:
                throw Failure(
                    .connectionTimeout,
                    sent: .neverSent,
                    "the TLS handshake with \(endpointText) was not done \(dialling.within())",
                    exchange: exchange()
                )
            }
        }
    }

    /// Ends what was on its way with a failure of a step.
    func takeStep(_ step: () throws(Failure) -> Void) {
        do throws(Failure) {
            try step()
        } catch {
            fail(error)
        }
    }

    /// The connection stands, and is used.
    private func made(_ dialling: Dialling) {
        self.dialling = nil
        phase = .idle
        if dialling.record != nil { return keepUnused() }
        guard let waiter else { return close() }
        begin(dialling.request, waiter)
    }

    /// Nothing is to be sent over it now.
    private func keepUnused() {
        deadline = .max
        lastProgress = loop.now
        pool.keep(self)
        let waiter = waiter.take()
        waiter?.resume(.answer(InboundResponse(response: HTTPResponse(status: .ok), exchange: exchange())))
    }

    // MARK: Connecting

    func connect(_ places: [SocketAddress], _ dialling: Dialling) throws(Failure) {
        dialling.step = .connect
        dialling.connectBegan = loop.currentTime()
        dialling.record?.enter(.connect, now: dialling.connectBegan)
        dialling.order = DialOrder(places)
        try connectNext(dialling)
    }

    /// Tries the places that are left, up to the first that is connected to or has to be waited for.
    private func connectNext(_ dialling: Dialling) throws(Failure) {
        while let (candidate, until) = dialling.order.next(now: loop.currentTime(), limit: dialling.limit) {
            do throws(Failure) {
                guard try isConnected(candidate, by: until) else { return }
            } catch {
                dialling.failed(error)
                continue
            }
            return try connected(dialling)
        }
        throw dialling.failure
            ?? Failure(.dnsError, sent: .neverSent, "\(pool.key.origin.text) has no address")
    }

    /// Whether the place is connected to at once; if not, that is under way, until `limit` at the latest.
    private func isConnected(_ candidate: SocketAddress, by limit: Int64) throws(Failure) -> Bool {
        address = candidate.description
        if case .ip = candidate { interest = [.stream, .writable] }
        isReadable = false
        peerFinished = false
        switch Socket.connect(to: candidate) {
        case .failed(let errno): throw connectFailure(WireFault(connecting: errno))
        case .connected(let descriptor):
            try watch(descriptor)
            return true
        case .underway(let descriptor):
            try watch(descriptor)
            deadline = limit
            arm()
            return false
        }
    }

    private func connectReady(_ dialling: Dialling) throws(Failure) {
        guard let errno = Socket.pendingError(descriptor) else { return try connected(dialling) }
        loop.remove(self)
        dialling.failed(connectFailure(WireFault(connecting: errno)))
        try connectNext(dialling)
    }

    private func connectTimedOut(_ dialling: Dialling) throws(Failure) {
        loop.remove(self)
        dialling.failed(
            Failure(
                .connectionTimeout,
                sent: .neverSent,
                "no connection to \(endpointText) was made \(dialling.within(share: dialling.order.areShares))",
                exchange: exchange()
            )
        )
        try connectNext(dialling)
    }

    private func watch(_ descriptor: consuming FileDescriptor) throws(Failure) {
        do throws(PosixError) {
            try loop.add(self, descriptor, interest)
        } catch {
            throw connectFailure(WireFault(connecting: error.errno))
        }
    }

    private func connectFailure(_ fault: WireFault) -> Failure {
        Failure(
            fault.kind,
            sent: .neverSent,
            "cannot connect to \(endpointText): \(fault.detail)",
            exchange: exchange()
        )
    }

    private func connected(_ dialling: Dialling) throws(Failure) {
        guard case .tcp(let host, _, let isTLS) = pool.key.origin else { return made(dialling) }
        if isTLS { return try secure(host, dialling) }
        connectTime = loop.currentTime() &- dialling.connectBegan
        made(dialling)
    }

    // MARK: TLS

    private func secure(_ host: String, _ dialling: Dialling) throws(Failure) {
        deadline = dialling.limit
        arm()
        dialling.record?.enter(.tls, now: loop.currentTime())
        let context = try dialling.state.context(for: pool.key.tls)
        guard let session = context.session(descriptor, host: host, address: IPAddress(host) != nil) else {
            throw Failure(
                .tlsProtocolError,
                sent: .neverSent,
                "cannot verify \(host): OpenSSL does not take it for a name"
            )
        }
        if let ticket = pool.ticket { session.resume(ticket) }
        if dialling.record != nil { session.noteCertificateRequest() }
        dialling.step = .handshake(session)
        try shakeHands(session, dialling)
    }

    private func shakeHands(_ session: TLSSession, _ dialling: Dialling) throws(Failure) {
        switch session.handshake() {
        case .wantsRead, .wantsWrite: return
        case .failed(let fault):
            // A ticket that led nowhere is not tried again.
            pool.ticket = nil
            throw Failure(
                fault.kind,
                sent: .neverSent,
                "\(endpointText): \(fault.detail)",
                exchange: exchange()
            )
        case .done:
            tls = session
            if let record = dialling.record {
                record.report.certificate = session.certificateFacts
                if pool.key.tls.pins != nil { record.enter(.pins, now: loop.currentTime()) }
            }
            try checkPins(wallSeconds: dialling.state.wallSeconds())
            connectTime = loop.currentTime() &- dialling.connectBegan
            made(dialling)
        }
    }
}
