import RelayBase
import RelayPosix
import RelayRoute

// The first step of a connection: where its host is, and whether it may be dialled there.
extension Connection {
    /// How long a new answer is waited for where an old one is known, in nanoseconds.
    private static let nameTimeout: Int64 = 500_000_000

    func lookUp(_ host: String, _ dialling: Dialling) throws(Failure) {
        if let address = IPAddress(host) { return try connect([address], host, dialling) }
        let resolver = dialling.state.resolver
        let start = loop.currentTime()
        dialling.step = .name(since: start)
        dialling.record?.enter(.name, now: start)
        let answer = resolver.lookUp(host) { [box = LoopBound(self, loop), loop] answer in
            loop.execute { box.value.named(answer, host) }
        }
        if let answer { return try take(answer, host, dialling, since: start) }
        // Old addresses are better than none, and worse than new ones that come soon.
        let limit = dialling.limit
        deadline = resolver.outdated(host) == nil ? limit : min(limit, start &+ Self.nameTimeout)
        arm()
    }

    /// The name was looked up, which may be too late to count.
    private func named(_ answer: Result<[IPAddress], NameError>, _ host: String) {
        guard let dialling, case .name(let start) = dialling.step else { return }
        takeStep { () throws(Failure) in try take(answer, host, dialling, since: start) }
    }

    func nameTimedOut(_ dialling: Dialling, since start: Int64) throws(Failure) {
        guard case .tcp(let host, _, _) = pool.key.origin else { return }
        if let old = dialling.state.resolver.outdated(host) {
            return try take(.success(old), host, dialling, since: start)
        }
        guard deadline < dialling.limit else {
            throw Failure(.dnsTimeout, sent: .neverSent, "\(host) was not looked up \(dialling.within())")
        }
        deadline = dialling.limit
        arm()
    }

    private func take(
        _ answer: Result<[IPAddress], NameError>,
        _ host: String,
        _ dialling: Dialling,
        since start: Int64
    ) throws(Failure) {
        nameLookup = loop.currentTime() &- start
        switch answer {
        case .success(let addresses): try connect(addresses, host, dialling)
        case .failure(let error): throw nameFailure(error, host)
        }
    }

    /// Resolvers wait for five seconds by default, and an operator may ask for one (resolv.conf(5)).
    private static let slowNames: Int64 = 900_000_000

    private func nameFailure(_ error: NameError, _ host: String) -> Failure {
        let kind: FailureKind =
            switch error {
            // The resolver says the same of a server that answers with a failure and of one that does not answer.
            case .temporary: nameLookup >= Self.slowNames ? .dnsTimeout : .dnsError
            case .overloaded: .overloaded
            case .notFound, .failed: .dnsError
            }
        return Failure(kind, sent: .neverSent, "cannot look up \(host): \(error)")
    }

    private func connect(
        _ addresses: [IPAddress],
        _ host: String,
        _ dialling: Dialling
    ) throws(Failure) {
        guard case .tcp(_, let port, _) = pool.key.origin else { return }
        dialling.record?.enter(.rules, now: loop.currentTime())
        dialling.record?.report.addresses = addresses.map(\.description)
        let places = try permitted(addresses, host)
        dialling.record?.report.permitted = places.count
        try connect(places.map { .ip($0, port: port) }, dialling)
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
}
