package import RelayBase
package import RelayJobs
package import RelayRoute

/// A job's request and its caller; the fields every record about a job carries.
package final class JobContext: Sendable {
    package let id: JobID
    package let route: Route
    package let method: Method
    /// Below the route, with query, without leading slash.
    package let target: String
    package let options: JobOptions
    package let client: ClientIdentity?
    /// The caller's part in what all share; nil for programs, operators and jobs that are kept.
    package let share: CallerShare?
    package let memory: RouteMemory
    /// Nil for every job of the daemon.
    package let hooks: (any JobHooks)?
    /// Nil for every job that is not durable.
    package let history: JobHistory?
    package let way = RequestWayRecord()

    package init(
        id: JobID,
        route: Route,
        method: Method,
        target: String,
        options: JobOptions,
        client: ClientIdentity?,
        share: CallerShare? = nil,
        memory: RouteMemory = RouteMemory(),
        hooks: (any JobHooks)? = nil,
        history: JobHistory? = nil
    ) {
        self.id = id
        self.route = route
        self.method = method
        self.target = target
        self.options = options
        self.client = client
        self.share = share
        self.memory = memory
        self.hooks = hooks
        self.history = history
    }

    /// The path without its query: a query may hold what is nobody's business.
    package var path: String { "/" + target.prefix { $0 != "?" } }

    /// The treatment of its attempts while the network is constrained.
    package var constrainedUse: ConstrainedUse { max(route.policy.constrained, options.constrained) }

    /// Its lighter form for a constrained network.
    package var lightRequest: LightRequest? { options.lightRequest ?? route.policy.lightRequest }

    /// Whether it matters to it that the network is constrained.
    var mindsNetwork: Bool { route.mindsNetwork || options.constrained != .send }

    package var maxAttempts: Int { route.maxAttempts(options, isDurable: history != nil) }
}

extension JobContext {
    /// The class of its request, of whatever size that is.
    package var requestClass: RequestClass {
        RequestClass(method, target: target, contentLength: 0, user: client?.user)
    }

    /// Whether `failure` breaks the promise of a route that never fails: the caller's going away and its `fallback: off` do not.
    package func isBreached(by failure: Failure) -> Bool {
        route.policy.neverFails && options.allowsFallback && !failure.isCallers
    }
}

/// The process at the other end of the socket, as the kernel named it.
package final class ClientIdentity: Sendable {
    package let user: UInt32
    package let process: Int32
    /// The daemon of a fleet on whose machine it is that user.
    package let node: NodeName
    /// Primary and supplementary groups.
    package let groups: [UInt32]
    /// The systemd unit of the process; nil when it has none.
    package let unit: String?

    package init(
        user: UInt32,
        process: Int32,
        groups: [UInt32],
        unit: String?,
        on node: NodeName = .none
    ) {
        self.user = user
        self.node = node
        self.process = process
        self.groups = groups
        self.unit = unit
    }
}
