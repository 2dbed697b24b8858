/// Takes note of what happened. Never waits: a sink that cannot keep up drops and counts.
package protocol EventSink: Sendable {
    func record(_ event: RelayEvent)
}

/// Something an operator may want to know; past tense.
package enum RelayEvent: Sendable {
    case attemptFailed(JobContext, Attempt)
    /// The job succeeded after at least one failed attempt.
    case recovered(JobContext, attempts: [Attempt])
    /// The relay answered in the upstream's stead.
    case fallbackServed(JobContext, source: CannedResponse.Source, rule: String, attempts: [Attempt])
    case jobFailed(JobContext, Failure, attempts: [Attempt])
    case credentialRefreshed(credential: String, expiresIn: Duration?)
    case credentialFailed(credential: String, detail: String)
}

/// Who asked for what; the fields every record about a job carries.
package struct JobContext: Sendable {
    package var id: JobID
    package var route: String
    package var method: Method
    /// The path without its query.
    package var path: String
    package var maxAttempts: Int
    package var client: ClientIdentity?

    package init(
        id: JobID, route: String, method: Method, path: String, maxAttempts: Int, client: ClientIdentity?
    ) {
        self.id = id
        self.route = route
        self.method = method
        self.path = path
        self.maxAttempts = maxAttempts
        self.client = client
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
