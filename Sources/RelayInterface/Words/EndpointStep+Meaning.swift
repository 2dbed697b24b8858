/// A thing that a first request to an endpoint meets, in the order in which it does.
package enum EndpointStep: String, CaseIterable, Sendable {
    case name, rules, connect, tls, pins, token, request

    /// The step of a look at the endpoints (`check --online`).
    package var meaning: String {
        switch self {
        case .name:
            """
            The name of the endpoint is looked up.
            Causes: A name that is misspelt; a resolver that does not answer.
            Do: Ask the resolver of this machine: getent ahosts NAME
            """
        case .rules:
            """
            The addresses are held against the rules about addresses that may be dialled.
            Causes: A name that leads to an address of this machine or of a private network.
            Do: Name the addresses in allow_addresses where they are meant.
            """
        case .connect:
            """
            A connection is made.
            Causes: Nobody listens; a firewall; an endpoint that is too slow for timeouts.connect.
            Do: See the detail; try from the same machine.
            """
        case .tls:
            """
            The handshake of TLS: protocol, chain, host and expiry, and the relay's own certificate.
            Causes: A chain that this machine does not trust; a certificate of another name; one that has expired.
            Do: See the detail; name the authority in tls.ca_file where it is your own.
            """
        case .pins:
            """
            The keys of the chain are held against those that are pinned.
            Causes: A key that was changed; somebody in between.
            Do: Ask who runs the endpoint, and add the new key to tls.pins.
            """
        case .token:
            """
            A token is asked for, once for each credential.
            Causes: A secret that is wrong; a token endpoint that refuses or is down.
            Do: See the detail, and the credential of the configuration.
            """
        case .request:
            """
            The harmless request that the route's key check names is sent.
            Causes: A path that is not there; a credential that has no right to it.
            Do: See the detail, and the key check of the route.
            """
        }
    }
}

/// The result of a step, and of an endpoint: the worst of its steps.
package enum EndpointResult: String, CaseIterable, Sendable {
    case ok, warning, failed
    /// There was no time to begin.
    case notSeen = "not_seen"
    /// Not done, for a reason that is no fault.
    case skipped

    /// The result of a look at the endpoints (`check --online`).
    package var meaning: String {
        switch self {
        case .ok:
            """
            The step went as a request needs it.
            Do: No action is needed.
            """
        case .warning:
            """
            Requests get through, and something will not hold or is not as it should be.
            Do: See the detail and the advice; with --strict it counts as a fault.
            """
        case .failed:
            """
            No request would get through.
            Do: See the detail and the advice.
            """
        case .notSeen:
            """
            There was no time to begin, which says nothing of the endpoint.
            Do: Give it more time: --timeout
            """
        case .skipped:
            """
            It was left out for a reason that is no fault, which the detail tells.
            Do: No action is needed.
            """
        }
    }
}
