package import RelayBase
package import RelayCore
package import RelayJSON
package import RelayJobs
package import RelayRoute

/// A route with two upstreams; tests change its policy.
package func makeRoute(_ change: (inout RoutePolicy) -> Void = { _ in }) -> Route {
    var policy = RoutePolicy(upstreams: [
        Upstream(name: "one", origin: .tcp(host: "one.example", port: 443, isTLS: true), basePath: "/api/"),
        Upstream(
            name: "two",
            origin: .tcp(host: "two.example", port: 443, isTLS: true),
            use: .failoverOnly
        ),
    ])
    change(&policy)
    return Route(name: "test", policy: policy)
}

package func rule(_ name: String, _ on: [String], _ action: RecoveryRule.Action) -> RecoveryRule {
    RecoveryRule(name: name, on: FailureMatcher(on.compactMap(FailureMatcher.token)), action: action)
}

package func retry(
    _ maxAttempts: Int = 3,
    wait: Duration = .milliseconds(100),
    methods: RepeatableMethods = .idempotentOrKeyed,
    maxRetryAfter: Duration = .seconds(60)
) -> RecoveryRule.Action {
    var policy = RetryPolicy()
    policy.maxAttempts = maxAttempts
    policy.backoff = Backoff(schedule: .constant(wait), jitter: .none)
    policy.methods = methods
    policy.maxRetryAfter = maxRetryAfter
    return .retry(policy)
}

package func placeholder(_ body: String = "{}") -> RecoveryRule.Action {
    .respond(
        CannedResponse(source: .placeholder, status: 200, fields: [], body: Array(body.utf8))
    )
}

package func pointer(_ text: String) -> JSONPointer {
    guard let pointer = try? JSONPointer(parsing: text) else {
        preconditionFailure("a bad pointer in a test")
    }
    return pointer
}

/// One relay with everything under the test's control.
package struct Bench {
    package let time: VirtualTime
    package let transport: ScriptedTransport
    package let sink = RecordingSink()
    package let vault: CredentialVault
    package private(set) var relay: Relay

    package init(
        _ steps: [ScriptedTransport.Step],
        mode: VirtualTime.Mode = .jumping,
        credentials: [CredentialDefinition] = [],
        secrets: [SecretReference: Secret] = [:],
        signer: (any MessageSigner)? = nil,
        isStopping: Bool = false,
        time clock: VirtualTime? = nil,
        answer: (@Sendable (OutboundRequest) -> ScriptedTransport.Step)? = nil
    ) {
        time = clock ?? VirtualTime(mode)
        transport =
            answer.map { [time] in ScriptedTransport(time: time, answer: $0) }
            ?? ScriptedTransport(steps, time: time)
        vault = CredentialVault(credentials, secrets: secrets)
        relay = Relay(
            ports: RelayPorts(
                transport: PromptOver(transport),
                time: PromptClock(time),
                entropy: SeededEntropy(),
                sink: sink,
                start: { work in Task { await work() } },
                isStopping: { isStopping },
                signer: signer
            )
        )
    }

    /// The same with another transport.
    package func over(_ transport: any Transport, memory: MemoryAccount? = nil) -> Bench {
        var bench = self
        bench.relay = Relay(
            ports: RelayPorts(
                transport: transport,
                time: time,
                entropy: SeededEntropy(),
                sink: sink,
                start: { work in Task { await work() } },
                memory: memory
            )
        )
        return bench
    }

    /// One run of a durable job.
    package func deliver(
        _ method: Method = .get,
        on route: Route,
        _ history: JobHistory = JobHistory(),
        fields: HeaderFields = HeaderFields(),
        body: Body = .empty,
        options: JobOptions = JobOptions(),
        memory: RouteMemory = RouteMemory()
    ) async -> Delivery {
        let context = JobContext(
            id: JobID(milliseconds: 1, random: (2, 3)),
            route: route,
            method: method,
            target: "x",
            options: options,
            client: nil,
            memory: memory,
            history: history
        )
        return await relay.deliver(
            HTTPRequest(method: method, target: "x", fields: fields, body: body),
            context: context,
            vault: vault
        )
    }

    package func perform(
        _ method: Method = .get,
        _ target: String = "x",
        on route: Route,
        fields: HeaderFields = HeaderFields(),
        body: Body = .empty,
        options: JobOptions = JobOptions(),
        memory: RouteMemory = RouteMemory(),
        since began: Instant? = nil
    ) async -> Outcome {
        let context = JobContext(
            id: JobID(milliseconds: 1, random: (2, 3)),
            route: route,
            method: method,
            target: target,
            options: options,
            client: nil,
            memory: memory
        )
        return await relay.performPromptly(
            HTTPRequest(method: method, target: target, fields: fields, body: body),
            context: context,
            vault: vault,
            since: began
        )
    }
}

extension Outcome {
    package var status: UInt16? { answer?.status.rawValue }

    /// Of a success, or what stands in for one.
    package var source: AnswerSource? { failure == nil ? report.source : nil }

    package var accepted: HTTPResponse? { failure == nil ? answer : nil }

    package var text: String? {
        guard case .bytes(let bytes)? = accepted?.body else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
