import RelayKit
import RelayTesting

/// A service that the script answers, and on which waiting takes no time.
func scripted(
    _ policy: RoutePolicy,
    _ steps: [ScriptedTransport.Step],
    credentials: [CredentialDefinition] = [],
    preparation: [any PreparationStrategy] = [],
    observers: [any AttemptObserver] = [],
    isConstrained: @escaping @Sendable () -> Bool = { false }
) throws(Refusal) -> (service: RelayService, script: ScriptedTransport, time: VirtualTime) {
    let time = VirtualTime()
    let script = ScriptedTransport(steps, time: time)
    let service = try RelayService(
        policy,
        transport: script,
        time: time,
        entropy: SeededEntropy(),
        credentials: credentials,
        preparation: preparation,
        observers: observers,
        isConstrained: isConstrained
    )
    return (service, script, time)
}
