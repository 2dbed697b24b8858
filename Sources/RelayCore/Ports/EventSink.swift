/// Takes note of what happened.
///
/// It never waits: a sink that cannot keep up drops and counts.
package protocol EventSink: AnyObject, Sendable {
    func record(_ event: RelayEvent)
}

/// Something an operator may want to know; past tense.
package enum RelayEvent: Sendable {
    case attemptFailed(JobContext, Attempt)
    /// The job succeeded after at least one failed attempt.
    case recovered(JobContext, attempts: [Attempt])
    /// The relay answered in the upstream's stead.
    case fallbackServed(JobContext, source: CannedResponse.Source, rule: String, attempts: [Attempt])
    /// A failure reached the caller of a route that never fails.
    case neverFailsBreached(JobContext, Failure)
    /// The upstream's chain held none of the pinned keys, which only report.
    case pinsMissed(JobContext, Exchange)
    case jobFailed(JobContext, Failure, attempts: [Attempt])
    case credentialRefreshed(credential: String, expiresIn: Duration?)
    case credentialFailed(credential: String, detail: String)
}

/// Who asked for what; the fields every record about a job carries.
package final class JobContext: Sendable {
    package let id: JobID
    package let route: Route
    package let method: Method
    /// Below the route, with query, without leading slash.
    package let target: String
    package let options: JobOptions
    package let client: ClientIdentity?
    package let memory: RouteMemory
    /// Nil for every job of the daemon.
    package let hooks: (any JobHooks)?

    package init(
        id: JobID,
        route: Route,
        method: Method,
        target: String,
        options: JobOptions,
        client: ClientIdentity?,
        memory: RouteMemory = RouteMemory(),
        hooks: (any JobHooks)? = nil
    ) {
        self.id = id
        self.route = route
        self.method = method
        self.target = target
        self.options = options
        self.client = client
        self.memory = memory
        self.hooks = hooks
    }

    /// The path without its query: a query may hold what is nobody's business.
    package var path: String { "/" + target.prefix { $0 != "?" } }

    package var maxAttempts: Int {
        options.maxAttempts.map { min($0, route.policy.maxAttempts) } ?? route.policy.maxAttempts
    }
}

/// The process at the other end of the socket, as the kernel named it.
package final class ClientIdentity: Sendable {
    package let user: UInt32
    package let group: UInt32
    package let process: Int32
    /// Primary and supplementary groups.
    package let groups: [UInt32]
    /// The systemd unit of the process; nil when it has none.
    package let unit: String?

    package init(user: UInt32, group: UInt32, process: Int32, groups: [UInt32], unit: String?) {
        self.user = user
        self.group = group
        self.process = process
        self.groups = groups
        self.unit = unit
    }
}
