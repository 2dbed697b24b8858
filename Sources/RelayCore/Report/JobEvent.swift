package import RelayBase
package import RelayJobs

/// Something that happened to a job, to a route or to the relay; past tense.
///
/// The code that tells of an event tells the announcer alone; each listener takes up what is its own. Large and
/// rare cases are boxed, so that the event itself is small.
package enum JobEvent: Sendable {
    /// A job is on disk.
    case accepted(JobReport)
    /// An attempt of a kept job is on record and goes out.
    indirect case attemptBegan(JobContext, Attempt)
    /// An attempt failed, and what follows is decided.
    indirect case attemptFailed(JobContext, Attempt)
    /// The upstream was asked what became of an attempt, and what follows is decided.
    indirect case lookedUp(JobContext, Attempt)
    /// The upstream's chain held none of the pinned keys, which only report.
    indirect case pinsMissed(JobContext, Exchange)
    /// A kept job stands elsewhere and is not over.
    case changed(JobReport)
    /// A job is over: told once in each of its lives.
    case ended(JobReport)
    /// Somebody removed a kept job.
    case dropped(JobReport)
    /// Somebody acted on kept jobs; each of them is told of besides.
    indirect case jobsChanged(JobsChange)
    /// A run began, or is over.
    indirect case runChanged(ActionRun)
    /// A body found no room in the job store, for the first time in a while.
    case bodyFoundNoSpace(route: String)
    /// A rule wants the route paused.
    indirect case pauseWanted(route: String, rule: String?, reason: String)
    indirect case routePaused(route: String, RoutePause)
    /// By whom; nil when its time was up, or when the kernel has no name for them.
    indirect case routeResumed(route: String, by: Principal? = nil)
    /// The route has closed as planned, until that second since 1970 UTC; nil when it has opened.
    indirect case routeShut(route: String, until: Int64?)
    /// The breaker of an upstream has opened, stays open or has closed.
    indirect case breakerChanged(route: String, BreakerChange)
    /// The relay itself refused a request.
    indirect case requestRefused(RefusedRequest)
    case credentialRefreshed(credential: String, expiresIn: Duration?)
    case credentialFailed(credential: String, detail: String)
    /// Something that is told as the row of its kind says, with the `detail` of its data.
    indirect case notice(EventKind, String? = nil, OperatorAct? = nil)
    /// Another daemon of the fleet tells of it.
    indirect case elsewhere(SharedEvent)
}

/// Takes note of what happened.
///
/// It never waits: a sink that cannot keep up drops and counts.
package protocol EventSink: AnyObject, Sendable {
    func record(_ event: JobEvent)
}

/// Hears of everything that happens; it never waits, and is called from any thread.
package protocol JobListener: AnyObject, Sendable {
    /// `wall` is the present, in milliseconds since 1970 UTC.
    func heard(_ event: JobEvent, at wall: Int64)
}

/// An act of an operator on a route.
package struct OperatorAct: Sendable {
    /// The user who asked for it; nil when the kernel has no name for them.
    package var by: Principal?
    package var route: String
    /// The act in words, whose subject is the operator.
    package var text: String
    package var upstream: String?
    /// The state of the upstream's breaker, as operators say it.
    package var state: String?
    /// The state before the act.
    package var previous: String?

    package init(
        by: Principal?,
        route: String,
        _ text: String,
        upstream: String? = nil,
        state: String? = nil,
        previous: String? = nil
    ) {
        self.by = by
        self.route = route
        self.text = text
        self.upstream = upstream
        self.state = state
        self.previous = previous
    }
}

extension JobEvent {
    /// As events show it: without a refused request's path, which its caller makes as long as it likes.
    package var shown: JobEvent {
        guard case .requestRefused(var refused) = self else { return self }
        refused.path = ""
        return .requestRefused(refused)
    }
}

/// A request that never became a job.
package struct RefusedRequest: Sendable {
    /// Nil of one for the API, and of one whose path names no route of the configuration.
    package var route: String?
    /// Nil of one whose head could not be read.
    package var method: Method?
    /// Below the route, without its query; a whole one of the API's, and none where no head could be read.
    package var path: String
    package var client: ClientIdentity?
    package var status: Status
    /// The problem's code.
    package var code: String
    package var detail: String

    package init(
        route: String?,
        method: Method?,
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

/// The effect of an action.
package struct JobsChange: Sendable {
    /// The user who asked for it; nil when the kernel has no name for them.
    package var by: Principal?
    package var action: JobAction
    package var filter: JobFilter
    package var changed: Int
    /// Running jobs that were asked to end.
    package var asked: Int

    package init(by: Principal?, action: JobAction, filter: JobFilter, changed: Int, asked: Int) {
        self.by = by
        self.action = action
        self.filter = filter
        self.changed = changed
        self.asked = asked
    }
}
