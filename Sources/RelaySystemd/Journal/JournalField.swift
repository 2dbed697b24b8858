/// The name of a record's field: upper-case letters, digits and underscores, not beginning with an underscore
/// (the journal silently drops others).
package struct JournalField: Hashable, Sendable {
    package let name: String

    private init(_ name: String) { self.name = name }

    package static let route = JournalField("ROUTE")
    package static let jobID = JournalField("JOB_ID")
    /// Counted from 1.
    package static let attempt = JournalField("ATTEMPT")
    package static let maxAttempts = JournalField("MAX_ATTEMPTS")
    package static let failureKind = JournalField("FAILURE_KIND")
    package static let httpStatus = JournalField("HTTP_STATUS")
    package static let httpMethod = JournalField("HTTP_METHOD")
    /// The path without its query.
    package static let urlPath = JournalField("URL_PATH")
    package static let upstream = JournalField("UPSTREAM")
    package static let upstreamAddress = JournalField("UPSTREAM_ADDR")
    /// The rule that decided what came next.
    package static let rule = JournalField("RULE")
    /// The step that follows the attempt: `retry`, `failover` and so on.
    package static let recovery = JournalField("RECOVERY")
    /// The wait before the next attempt, in microseconds.
    package static let nextAttemptMicroseconds = JournalField("NEXT_ATTEMPT_USEC")
    /// How long the request waited for a permit of its route, in microseconds.
    package static let permitWaitMicroseconds = JournalField("PERMIT_WAIT_USEC")
    package static let durationMicroseconds = JournalField("DURATION_USEC")
    /// `never_sent`, `refused`, `unknown` or `answered`.
    package static let sent = JournalField("SENT")
    /// The source of the answer: `upstream`, `fallback`, `placeholder`, `relay`.
    package static let source = JournalField("SOURCE")
    package static let clientUser = JournalField("CLIENT_UID")
    package static let clientProcess = JournalField("CLIENT_PID")
    package static let clientUnit = JournalField("CLIENT_UNIT")
    package static let credential = JournalField("CREDENTIAL")
    /// Seconds until a credential expires.
    package static let expiresInSeconds = JournalField("EXPIRES_IN_SEC")
    package static let configDigest = JournalField("CONFIG_DIGEST")
    package static let configFile = JournalField("CONFIG_FILE")
    /// The cause of the trouble, in words.
    package static let detail = JournalField("DETAIL")
    package static let count = JournalField("COUNT")
    package static let version = JournalField("WAYSTATION_VERSION")
}
