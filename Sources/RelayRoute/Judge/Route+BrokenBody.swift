package import RelayBase

extension Route {
    /// Whether anything would still be done about an answer of that status whose body breaks off; if nothing is, its
    /// caller may have it as it comes.
    package func mendsBrokenBody(of status: Status) -> Bool {
        if !policy.quickRecovery.isEmpty { return true }
        guard !policy.recovery.isEmpty else { return false }
        // A kind of the route's own may be what a rule names.
        guard policy.errorTypes.isEmpty else { return true }
        return policy.recovery.contains { rule in
            Route.breaks.contains { kind in
                rule.on.matches(Failure(kind, sent: .unknown, "", status: status), isExhausted: true)
            }
        }
    }

    /// The failures that an answer may meet after its head.
    private static let breaks: [FailureKind] = [
        .httpResponseIncomplete, .httpResponseTimeout, .httpResponseContentCoding, .httpProtocolError,
        .connectionReadTimeout, .connectionWriteTimeout, .connectionTerminated, .tlsAlertReceived,
    ]
}
