import RelayCore
import RelayPosix

extension Connection {
    /// Looks up, connects and, where the origin says so, does the TLS handshake; all within `timeout`.
    ///
    /// Closes itself when that fails.
    func dial(_ state: TransportState, by limit: Int64) async throws(Failure) {
        do throws(Failure) {
            switch pool.key.origin {
            case .unix(let path): try await connect(.unix(path: path), by: limit)
            case .tcp(let host, let port, let isTLS):
                let addresses = try await addresses(of: host, state.resolver, by: limit)
                let start = loop.currentTime()
                try await connect(try permitted(addresses, host), port, by: limit)
                if isTLS {
                    deadline = limit
                    arm()
                    try await secure(host, try state.context(for: pool.key.tls))
                    try checkPins(host, wallSeconds: state.wallSeconds())
                }
                connectTime = loop.currentTime() &- start
            }
            phase = .idle
        } catch {
            close()
            throw error
        }
    }

    /// Lets the dialling task go on.
    func wakeDialler(_ wake: Wake) {
        if let waiter = unsafe dialWaiter {
            unsafe dialWaiter = nil
            unsafe waiter.resume(returning: wake)
        } else if wake != .ready || dialWake == nil {
            dialWake = wake
        }
    }

    private func wake() async -> Wake {
        if let wake = dialWake {
            dialWake = nil
            return wake
        }
        return unsafe await withUnsafeContinuation { unsafe dialWaiter = $0 }
    }

    private var cancellation: Failure {
        Failure(.cancelled, sent: .neverSent, "the request to \(pool.key.origin.text) was cancelled")
    }

    /// For messages: what bounds the dialling.
    private func within(shared: Bool = false) -> String {
        dialLimit.map { "within \(shared ? "its share of " : "")\($0.text)" } ?? "in time"
    }

    // MARK: Names

    /// How long a new answer is waited for where an old one is known, in nanoseconds.
    private static let namePatience: Int64 = 500_000_000

    private func addresses(
        of host: String,
        _ resolver: NameResolver,
        by limit: Int64
    ) async throws(Failure) -> [IPAddress] {
        if let address = IPAddress(host) { return [address] }
        let start = loop.currentTime()
        awaitsName = true
        defer {
            awaitsName = false
            deadline = limit
        }
        found = resolver.lookUp(host) { [box = LoopBound(self, loop), loop] answer in
            loop.execute {
                guard box.value.awaitsName else { return }
                box.value.found = answer
                box.value.wakeDialler(.ready)
            }
        }
        // Old addresses are better than none, and worse than new ones that come soon.
        deadline = resolver.outdated(host) == nil ? limit : min(limit, start &+ Self.namePatience)
        arm()
        while found == nil {
            switch await wake() {
            case .ready: break
            case .cancelled: throw cancellation
            case .timedOut:
                if let old = resolver.outdated(host) {
                    found = .success(old)
                } else if deadline < limit {
                    deadline = limit
                    arm()
                } else {
                    throw Failure(.dnsTimeout, sent: .neverSent, "\(host) was not looked up \(within())")
                }
            }
        }
        nameLookup = loop.currentTime() &- start
        switch found {
        case .success(let addresses)?: return addresses
        case .failure(let error)?: throw nameFailure(error, host)
        case nil: throw cancellation
        }
    }

    private func nameFailure(_ error: NameError, _ host: String) -> Failure {
        let kind: FailureKind =
            switch error {
            case .temporary: .dnsTimeout
            case .overloaded: .overloaded
            case .notFound, .failed, .cancelled: .dnsError
            }
        return Failure(kind, sent: .neverSent, "cannot look up \(host): \(error)")
    }

    private func permitted(
        _ addresses: [IPAddress],
        _ host: String
    ) throws(Failure) -> [IPAddress] {
        let key = pool.key
        func prohibition(_ address: IPAddress) -> String? {
            AddressPolicy.prohibition(
                of: address,
                allowed: key.allowedAddresses,
                isConfined: key.isConfined
            )
        }
        let permitted = addresses.filter { prohibition($0) == nil }
        if permitted.isEmpty, let first = addresses.first, let reason = prohibition(first) {
            let subject = IPAddress(host) == nil ? "\(host) is \(first), which" : "\(first)"
            throw Failure(
                .destinationIPProhibited,
                sent: .neverSent,
                "\(subject) is not dialled because it is \(reason); if it is meant, add it to"
                    + " allow_addresses, or in a program to the upstream's allowedAddresses"
            )
        }
        return permitted
    }

    // MARK: Connecting

    /// Tries the addresses in order; each but the last gets its share of the time that is left.
    private func connect(_ addresses: [IPAddress], _ port: UInt16, by limit: Int64) async throws(Failure) {
        var last: Failure?
        for (index, candidate) in addresses.enumerated() {
            let now = loop.currentTime()
            guard now < limit || last == nil else { break }
            let share = (limit &- now) / Int64(addresses.count - index)
            do throws(Failure) {
                return try await connect(
                    .ip(candidate, port: port),
                    by: limit == .max ? limit : now + share,
                    isShare: addresses.count > 1
                )
            } catch {
                guard error.kind != .cancelled else { throw error }
                last = error
            }
        }
        throw last ?? Failure(.dnsError, sent: .neverSent, "\(pool.key.origin.text) has no address")
    }

    private func connect(
        _ place: SocketAddress,
        by limit: Int64,
        isShare: Bool = false
    ) async throws(Failure) {
        address = place.description
        if case .ip = place { interest = [.stream, .writable] }
        isReadable = false
        peerFinished = false
        // What came too late for an earlier address says nothing about this one.
        if dialWake != .cancelled { dialWake = nil }
        switch Socket.connect(to: place) {
        case .failed(let errno): throw connectFailure(WireFault(connecting: errno))
        case .connected(let descriptor):
            try watch(descriptor)
        case .underway(let descriptor):
            try watch(descriptor)
            deadline = limit
            arm()
            switch await wake() {
            case .ready: break
            case .cancelled: throw cancellation
            case .timedOut:
                loop.remove(self)
                throw Failure(
                    .connectionTimeout,
                    sent: .neverSent,
                    "no connection to \(self.place) was made \(within(shared: isShare))",
                    exchange: exchange()
                )
            }
            if let errno = Socket.pendingError(self.descriptor) {
                loop.remove(self)
                throw connectFailure(WireFault(connecting: errno))
            }
        }
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
            "cannot connect to \(place): \(fault.detail)",
            exchange: exchange()
        )
    }

    // MARK: TLS

    private func secure(_ host: String, _ context: TLSContext) async throws(Failure) {
        guard let session = context.session(descriptor, host: host, address: IPAddress(host) != nil) else {
            throw Failure(
                .tlsProtocolError,
                sent: .neverSent,
                "cannot verify \(host): OpenSSL does not take it for a name"
            )
        }
        if let ticket = pool.ticket { session.resume(ticket) }
        while true {
            switch session.handshake() {
            case .done:
                tls = session
                return
            case .failed(let fault):
                // A ticket that led nowhere is not tried again.
                pool.ticket = nil
                throw Failure(
                    fault.kind,
                    sent: .neverSent,
                    "\(place): \(fault.detail)",
                    exchange: exchange()
                )
            case .wantsRead, .wantsWrite: break
            }
            switch await wake() {
            case .ready: break
            case .cancelled: throw cancellation
            case .timedOut:
                throw Failure(
                    .connectionTimeout,
                    sent: .neverSent,
                    "the TLS handshake with \(place) was not done \(within())",
                    exchange: exchange()
                )
            }
        }
    }
}
