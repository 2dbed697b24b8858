package import RelayBase
package import RelayRoute

/// The world as one relay sees it.
package final class RelayPorts: Sendable {
    package let transport: any Transport
    /// The same where it can do without a task; nil where it cannot.
    let promptTransport: (any PromptTransport)?
    package let time: any TimeSource
    /// The same where a wait can do without a task; nil where it cannot.
    let promptTime: (any PromptTime)?
    package let entropy: any Entropy
    package let sink: any EventSink
    /// Starts work that outlives the task that asked for it, on the same executor.
    package let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    /// Runs work there that waits for nothing, after whatever runs there now; called on any thread.
    package let execute: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Whether the network is constrained now; asked before every attempt, so it must answer at once.
    package let isConstrained: @Sendable () -> Bool
    /// The treatment of the job on a constrained network by the configuration in force, which may be a later one than its
    /// own.
    package let presentUse: @Sendable (JobContext) -> ConstrainedUse
    /// Whether who runs the relay ends its requests now, which their callers have not given up.
    package let isStopping: @Sendable () -> Bool
    /// Signs messages of routes that say so; nil where no route can.
    package let signer: (any MessageSigner)?
    /// Nil bounds nothing: a program's own answers are its own to bound.
    package let memory: MemoryAccount?
    /// Where the loop of the relay counts; 0 is everybody's.
    package let shard: Int

    package init(
        transport: any Transport,
        time: any TimeSource,
        entropy: any Entropy,
        sink: any EventSink,
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>,
        execute: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil,
        isConstrained: @escaping @Sendable () -> Bool = { false },
        presentUse: @escaping @Sendable (JobContext) -> ConstrainedUse = { $0.constrainedUse },
        isStopping: @escaping @Sendable () -> Bool = { false },
        signer: (any MessageSigner)? = nil,
        memory: MemoryAccount? = nil,
        shard: Int = 0
    ) {
        self.transport = transport
        promptTransport = transport as? any PromptTransport
        self.time = time
        promptTime = time as? any PromptTime
        self.entropy = entropy
        self.sink = sink
        self.start = start
        self.execute = execute ?? { work in _ = start { work() } }
        self.isConstrained = isConstrained
        self.presentUse = presentUse
        self.isStopping = isStopping
        self.signer = signer
        self.memory = memory
        self.shard = shard
    }
}

extension RelayPorts {
    func isConstrained(for route: Route) -> Bool { route.constrainedUpstream != nil && isConstrained() }

    func isConstrained(for context: JobContext) -> Bool { context.mindsNetwork && isConstrained() }

    /// Where the first attempt of a request, or of a durable job's run, would go now.
    package func firstUpstream(of route: Route) -> Upstream {
        route.policy.upstreams[route.firstUpstreamIndex(isConstrained: isConstrained(for: route))]
    }
}

extension Route {
    /// The place of the upstream that requests begin with: while the network is constrained the lighter one, where
    /// there is one.
    func firstUpstreamIndex(isConstrained: Bool) -> Int { isConstrained ? constrainedUpstream ?? 0 : 0 }
}
