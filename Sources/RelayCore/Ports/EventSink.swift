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
    /// A run of a durable job ended it.
    case durableEnded(DurableEnd)
    /// A durable job waited for its delivery until its time ran out.
    case durableExpired(JobID, route: String)
    /// A durable job ended in the store, without a run of it saying so.
    case durableEndedUnsent(EndedJob)
    /// So many more ended like that before anybody could be told.
    case durableEndsUntold(Int)
    /// A body found no room in the job store, for the first time in a while.
    case bodyFoundNoRoom(route: String)
    /// Somebody acted on many durable jobs at once.
    case jobsChanged(JobsChange)
    case routePaused(route: String, RoutePause)
    case routeResumed(route: String)
    /// The relay itself refused a request.
    case requestRefused(RefusedRequest)
    case credentialRefreshed(credential: String, expiresIn: Duration?)
    case credentialFailed(credential: String, detail: String)
}

/// A request that never became a job.
package struct RefusedRequest: Sendable {
    /// Nil of one for the API.
    package var route: String?
    package var method: Method
    /// Below the route, without its query; a whole one of the API's.
    package var path: String
    package var client: ClientIdentity?
    package var status: Status
    /// The problem's code.
    package var code: String
    package var detail: String

    package init(
        route: String?,
        method: Method,
        path: String,
        client: ClientIdentity?,
        status: Status,
        code: String,
        detail: String
    ) {
        self.route = route
        self.method = method
        self.path = path
        self.client = client
        self.status = status
        self.code = code
        self.detail = detail
    }
}

/// How a durable job came to its end.
package struct DurableEnd: Sendable {
    package var context: JobContext
    package var state: JobState
    package var reason: EndReason?
    /// Nil when it succeeded.
    package var failure: Failure?
    /// Of its last run.
    package var attempts: [Attempt]
    /// Of its whole life.
    package var attemptCount: Int

    package init(
        _ context: JobContext,
        _ state: JobState,
        reason: EndReason?,
        failure: Failure?,
        attempts: [Attempt],
        attemptCount: Int
    ) {
        self.context = context
        self.state = state
        self.reason = reason
        self.failure = failure
        self.attempts = attempts
        self.attemptCount = attemptCount
    }
}

/// What a bulk action did.
package struct JobsChange: Sendable {
    /// Who asked for it; nil when the kernel has no name for them.
    package var user: UInt32?
    package var action: JobAction
    package var filter: JobFilter
    package var changed: Int
    /// Running jobs that were asked to end.
    package var asked: Int

    package init(user: UInt32?, action: JobAction, filter: JobFilter, changed: Int, asked: Int) {
        self.user = user
        self.action = action
        self.filter = filter
        self.changed = changed
        self.asked = asked
    }
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
    /// Nil for every job that is not durable.
    package let history: JobHistory?

    package init(
        id: JobID,
        route: Route,
        method: Method,
        target: String,
        options: JobOptions,
        client: ClientIdentity?,
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
        self.memory = memory
        self.hooks = hooks
        self.history = history
    }

    /// The path without its query: a query may hold what is nobody's business.
    package var path: String { "/" + target.prefix { $0 != "?" } }

    package var maxAttempts: Int { route.maxAttempts(options, isDurable: history != nil) }
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
