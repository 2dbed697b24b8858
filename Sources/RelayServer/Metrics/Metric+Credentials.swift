extension Metric {
    package static let credentialState = Metric(
        "waystation_credential_state",
        .gauge,
        ["credential", "state"],
        "1 for the state the credential is in, 0 for the others.",
        do: "failing or refused: waystation status, and the journal of the last hour."
    )
    package static let credentialExpiry = Metric(
        "waystation_credential_expiry_timestamp_seconds",
        .gauge,
        ["credential"],
        "When the token at hand expires; absent without one, or where that is not known.",
        do:
            "It is fetched anew before; when it is not, waystation_credential_refreshes_total tells of failures."
    )
    package static let credentialRefreshes = Metric(
        "waystation_credential_refreshes",
        .counter,
        ["credential", "result"],
        "Fetches of a token that succeeded, and that failed.",
        do: "Failures: the token endpoint is down or refuses; waystation status names the cause."
    )

    package static let routeCredential = Metric(
        "waystation_route_credential_info",
        .gauge,
        ["route", "credential"],
        "Always 1: the credential that the route's attempts carry; absent where they carry none.",
        do: "For finding the routes that a failing credential harms."
    )

    package static let refusedCredential = Metric(
        "waystation_route_credential_refused",
        .gauge,
        ["route", "credential"],
        "1 while upstreams of the route refuse a credential that was just fetched, otherwise 0.",
        do: "For finding the routes that it harms: waystation explain refused."
    )

    static let credentials = [
        routeCredential, refusedCredential, credentialState, credentialExpiry, credentialRefreshes,
    ]
}
