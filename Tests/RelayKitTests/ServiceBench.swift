import RelayKit
import RelayTestSupport

/// A service with everything under the test's control.
struct ServiceBench {
    let time: VirtualTime
    let transport: ScriptedTransport
    let service: RelayService

    init(
        _ steps: [ScriptedTransport.Step],
        policy change: (inout RoutePolicy) -> Void = { _ in },
        mode: VirtualTime.Mode = .jumping,
        preparation: [any PreparationStrategy] = [],
        observers: [any AttemptObserver] = [],
        credentials: [CredentialDefinition] = [],
        secrets: [SecretReference: Secret] = [:],
        answer: (@Sendable (OutboundRequest) -> ScriptedTransport.Step)? = nil
    ) throws {
        time = VirtualTime(mode)
        transport =
            answer.map { [time] in ScriptedTransport(time: time, answer: $0) }
            ?? ScriptedTransport(steps, time: time)
        var policy = RoutePolicy(upstreams: [
            try Upstream("https://one.example/v1", name: "one"),
            try Upstream("https://two.example/", name: "two", use: .failoverOnly),
        ])
        change(&policy)
        service = try RelayService(
            policy,
            name: "test",
            transport: transport,
            time: time,
            entropy: SeededEntropy(),
            credentials: credentials,
            secrets: secrets,
            preparation: preparation,
            observers: observers
        )
    }
}
