import RelayBase
import RelayInterface
import RelayJSON
import RelayRoute

/// One job on record as the daemon's program tries it.
struct Trial {
    let job: Job
    /// When it begins, in milliseconds since 1970 UTC.
    let begins: Int64
    /// Upstreams of which others say nothing to it.
    let alone: Set<String>
    /// Those of them that refused its request, and would again.
    let refused: Set<String>
    let doubtful: RecordedLimits.Doubtful
    /// Whether protections that the file has may hold it back, in a way that the others on record do not tell.
    let mayBeHeldBack: Bool
    /// Whether its first attempt came later than it was accepted, so that it may have come then.
    private let wasLate: Bool
    private let own: [String: [JSONValue]]
    private let expires: Int64?
    private let maxAttempts: Int?

    /// Nil where its record has no attempt that says something of an upstream, or its time was over.
    init?(_ job: Job, _ attempts: RecordedAttempts, _ limits: RecordedLimits) {
        guard job.lastFailure?.isPastDeadline != true, !attempts.own(job).isEmpty else { return nil }
        self.init(member: job, attempts, limits)
    }

    /// One that goes beside others; nil where nobody knows when it came.
    init?(member job: Job, _ attempts: RecordedAttempts, _ limits: RecordedLimits) {
        own = attempts.own(job)
        // A document has the last hundred attempts.
        let first = job.attemptCount > job.attempts.count ? nil : job.attempts.first?.startedAt
        guard let begins = (first ?? job.createdAt)?.milliseconds else { return nil }
        (self.job, self.begins) = (job, begins)
        wasLate = job.isDurable && job.createdAt.map { begins - $0.milliseconds > Trial.late } ?? false
        (alone, refused) = (attempts.alone(job), attempts.refused(job))
        doubtful = limits.doubtful(job)
        mayBeHeldBack = attempts.isProtected && !limits.isWhole
        (expires, maxAttempts) = (limits.expires(job), limits.maxAttempts(job))
    }

    /// Milliseconds by which an attempt may be late without having been held back.
    private static let late: Int64 = 1_000

    /// The line that says so; `path` is that of its class where others go beside it, and `isAsked` whether its end matters.
    func line(_ route: String, path: String? = nil, isAsked: Bool = true) -> [UInt8] {
        var json = JSONObjectWriter()
        json.member("route", route)
        json.member("begins", begins)
        json.member("method", job.request.method ?? "POST")
        if job.isDurable { json.member("durable", true) }
        if job.isKeyed == true { json.member("keyed", true) }
        json.member("own", own.json)
        if let path {
            json.member("asked", isAsked)
            json.member("path", path)
        }
        if wasLate { json.member("held_back", true) }
        if !alone.isEmpty {
            json.array("alone") { list in for name in alone.sorted() { list.element(name) } }
        }
        if !refused.isEmpty {
            json.array("refused") { list in for name in refused.sorted() { list.element(name) } }
        }
        if let accepted = job.createdAt { json.member("accepted", accepted.milliseconds) }
        if let expires { json.member("expires", expires) }
        if let maxAttempts { json.member("max_attempts", maxAttempts) }
        return json.bytes
    }
}
