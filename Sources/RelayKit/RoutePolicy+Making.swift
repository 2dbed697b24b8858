public import RelayRoute

extension RoutePolicy {
    /// A policy with one upstream.
    ///
    /// - Parameters:
    ///   - url: where that is; see `Upstream`.
    ///   - allowedAddresses: ranges that may be dialled although they are not public; `127.0.0.0/8` for a server on this
    ///     machine.
    ///   - recovery: what follows a failed attempt; read from the top, none recovers from nothing.
    /// - Throws: what is wrong with the URL, or with a range.
    public init(
        _ url: String,
        allowedAddresses: [String] = [],
        recovery: [RecoveryRule] = []
    ) throws(Refusal) {
        self.init(upstreams: [try Upstream(url, allowedAddresses: allowedAddresses)])
        self.recovery = recovery
    }
}
