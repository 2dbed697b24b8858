package import RelayRoute

extension CredentialState {
    /// How a credential is doing.
    package var meaning: String {
        switch self {
        case .notFetched:
            """
            No request has needed the credential yet.
            Do: No action is needed.
            """
        case .valid:
            """
            There is a token, and no newly fetched one has been refused.
            Do: No action is needed.
            """
        case .refreshing:
            """
            A token is being fetched; the requests that need it wait.
            Do: Wait a moment.
            """
        case .failing:
            """
            The last fetch of a token failed; requests that need one fail, and kept jobs wait.
            Causes: The token endpoint is down or refuses; the secret was replaced.
            Do: See the token endpoint's answer in the last failure; compare token_url, client_id and the secret \
            with what it expects, and reload.
            """
        case .refused:
            """
            An upstream refuses tokens that have just been fetched; refused_by names the routes. The relay fetches \
            none for them for 1 s, then twice as long each time, up to 5 min.
            Causes: The client lacks the right or the scope, the token is for another audience, or the upstream and \
            the token endpoint disagree.
            Do: Compare scopes, audience and account with what the upstream wants; the first request that succeeds \
            clears it.
            """
        }
    }
}
