import RelayKit
import RelayTesting

/// A service of which a test controls everything: the script answers, and waiting takes no time.
func service(
    _ script: ScriptedTransport,
    _ policy: RoutePolicy,
    time: VirtualTime = VirtualTime(),
    credentials: [CredentialDefinition] = [],
    preparation: [any PreparationStrategy] = [],
    observers: [any AttemptObserver] = []
) throws(Refusal) -> RelayService {
    try RelayService(
        policy,
        transport: script,
        time: time,
        entropy: SeededEntropy(),
        credentials: credentials,
        preparation: preparation,
        observers: observers
    )
}
