public import RelayBase
public import RelayKit
public import RelayRoute
@_exported public import RelayTransport

extension RelayService {
    /// Makes a service that sends over sockets: TCP, TLS and Unix.
    ///
    /// - Parameters:
    ///   - policy: where requests go and what happens to them.
    ///   - name: stands in messages and contexts.
    ///   - credentials: what `policy.authentication` names.
    ///   - secrets: what references of credentials and client certificates stand for.
    ///   - preparation: steps before every request, in order.
    ///   - observers: told about every job, in order.
    ///   - decoder: reads values where a request names no decoder; nil leaves it to RelayFoundation's.
    ///   - encoder: writes the values of `Content.json` where that names no encoder; nil leaves it to RelayFoundation's.
    ///   - isConstrained: whether upstreams for a constrained network are to be used; asked before every attempt.
    /// - Throws: why the policy cannot hold what it promises.
    public convenience init(
        _ policy: RoutePolicy,
        name: String = "service",
        credentials: [CredentialDefinition] = [],
        secrets: [SecretReference: Secret] = [:],
        preparation: [any PreparationStrategy] = [],
        observers: [any AttemptObserver] = [],
        decoder: (any ContentDecoder)? = nil,
        encoder: (any ContentEncoder)? = nil,
        isConstrained: @escaping @Sendable () -> Bool = { false }
    ) throws(Refusal) {
        try self.init(
            policy,
            name: name,
            transport: SocketTransport(secrets: { secrets[$0] }),
            time: MachineTime(),
            entropy: MachineEntropy(),
            credentials: credentials,
            secrets: secrets,
            preparation: preparation,
            observers: observers,
            decoder: decoder,
            encoder: encoder,
            isConstrained: isConstrained
        )
    }
}
