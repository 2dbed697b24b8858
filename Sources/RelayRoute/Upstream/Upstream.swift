public import RelayBase

/// Where attempts of a route may go.
///
/// One object for the life of a configuration, so that pools can find it fast.
public final class Upstream: Sendable {
    /// Stands in the timeline; unique in a policy.
    public let name: String
    /// Where it is.
    public let origin: Origin
    /// The base path, beginning and ending with a slash; a request's target is appended to it.
    public let basePath: String
    /// Whether it serves ordinary attempts.
    public let use: Use
    /// How TLS connections to it are made.
    public let tls: TLSSettings
    /// Ranges that may be dialled although they are not public.
    public let allowedAddresses: [AddressRange]
    /// How long after a failure no `failover` rule enters it; zero lets every job try.
    public let cooldown: Duration
    /// Whether nothing but `allowedAddresses` is dialled, since what is sent there may not cross a public network.
    package let isConfined: Bool

    /// When attempts go to an upstream.
    public enum Use: String, CaseIterable, Sendable {
        /// Serves ordinary attempts.
        case always
        /// Serves only attempts a `failover` rule sends to it.
        case failoverOnly = "failover_only"
        /// Takes the place of the first upstream while the network is constrained.
        case whenConstrained = "when_constrained"
    }

    /// An upstream of parts that are known to be right; `Origin.unix` has no URL.
    public convenience init(
        name: String,
        origin: Origin,
        basePath: String = "/",
        use: Use = .always,
        tls: TLSSettings = TLSSettings(),
        allowedAddresses: [AddressRange] = [],
        cooldown: Duration = .zero
    ) {
        self.init(name, origin, basePath, use, tls, allowedAddresses, cooldown, isConfined: false)
    }

    private init(
        _ name: String,
        _ origin: Origin,
        _ basePath: String,
        _ use: Use,
        _ tls: TLSSettings,
        _ allowedAddresses: [AddressRange],
        _ cooldown: Duration,
        isConfined: Bool
    ) {
        self.name = name
        self.origin = origin
        self.basePath = basePath
        self.use = use
        self.tls = tls
        self.allowedAddresses = allowedAddresses
        self.cooldown = cooldown
        self.isConfined = isConfined
    }

    /// The same, where nothing but its `allowedAddresses` is dialled.
    package var confined: Upstream {
        Upstream(name, origin, basePath, use, tls, allowedAddresses, cooldown, isConfined: true)
    }
}

extension Upstream {
    /// An upstream by its URL.
    ///
    /// - Parameters:
    ///   - url: `http` or `https`, a host, and the base path below which requests go; no user name, no query, no
    ///     fragment. A slash is added to the path where it does not end with one.
    ///   - name: stands in the timeline.
    ///   - use: whether it serves ordinary attempts.
    ///   - tls: how TLS connections to it are made.
    ///   - allowedAddresses: ranges that may be dialled although they are not public; `127.0.0.0/8` for a server on
    ///     this machine.
    ///   - cooldown: how long after a failure no failover enters it.
    /// - Throws: what is wrong with the URL, or with a range.
    public convenience init(
        _ url: String,
        name: String = "upstream",
        use: Use = .always,
        tls: TLSSettings = TLSSettings(),
        allowedAddresses: [String] = [],
        cooldown: Duration = .zero
    ) throws(Refusal) {
        let parsed = try UpstreamURL(parsing: url)
        guard parsed.query == nil else {
            throw Refusal("a query may not stand in an upstream's URL", hint: "remove it")
        }
        var ranges: [AddressRange] = []
        for text in allowedAddresses { ranges.append(try AddressRange(parsing: text)) }
        self.init(
            name: name,
            origin: parsed.origin,
            basePath: parsed.path.hasSuffix("/") ? parsed.path : parsed.path + "/",
            use: use,
            tls: tls,
            allowedAddresses: ranges,
            cooldown: cooldown
        )
    }
}

/// Scheme and authority: the unit to which credentials, connections and trust are bound.
public enum Origin: Hashable, Sendable {
    /// `host` is a registered name in lower case, or an address without brackets.
    case tcp(host: String, port: UInt16, isTLS: Bool)
    /// A Unix socket, by its path.
    case unix(path: String)

    /// The value of the `Host` field.
    public var hostField: String {
        switch self {
        case .tcp(let host, let port, let isTLS):
            let name = host.contains(":") ? "[\(host)]" : host
            return port == (isTLS ? 443 : 80) ? name : "\(name):\(port)"
        case .unix: return "localhost"
        }
    }

    /// For messages: `https://host:port` or `unix:/path`.
    public var text: String {
        switch self {
        case .tcp(_, _, let isTLS): "\(isTLS ? "https" : "http")://\(hostField)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// How a TLS connection to an upstream is made; verification cannot be turned off.
public struct TLSSettings: Hashable, Sendable {
    /// PEM file with the only authorities to trust; nil trusts the system's.
    public var authorityFile: String?
    /// Client certificate chain and key, PEM.
    public var clientCertificate: SecretReference?
    /// The key of the client certificate, PEM.
    public var clientKey: SecretReference?
    /// Keys the upstream's chain must hold one of; nil trusts every verified chain.
    public var pins: PublicKeyPins?

    /// Trusts the system's authorities and shows no certificate.
    public init() {}
}

extension Upstream: Equatable {
    /// Whether both are described alike.
    public static func == (left: Upstream, right: Upstream) -> Bool {
        left.name == right.name && left.origin == right.origin && left.basePath == right.basePath
            && left.use == right.use && left.tls == right.tls
            && left.allowedAddresses == right.allowedAddresses && left.cooldown == right.cooldown
            && left.isConfined == right.isConfined
    }
}
