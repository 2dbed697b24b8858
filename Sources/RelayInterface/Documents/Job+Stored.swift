package import RelayBase
package import RelayJobs

extension Job {
    /// A job that is kept on disk, as the store has it; without its attempts and actions.
    package init(_ stored: StoredJob) {
        self.init()
        for member in Job.members { member.fill?(&self, stored) }
    }
}

extension Job.Request {
    init(_ stored: StoredJob) {
        self.init()
        method = stored.record.method.rawValue
        path = "/" + stored.record.target.prefix { $0 != "?" }
        size = Int64(stored.bodyLength)
    }
}

extension Job.UnderWay {
    init?(_ stored: StoredJob) {
        guard stored.state == .running, let begun = stored.begun else { return nil }
        self.init()
        number = stored.attempts + 1
        upstream = begun.upstream
        startedAt = WallTime(milliseconds: begun.beganAt)
        isResent = begun.isResent
    }
}

extension Job.Notice {
    /// That of the last ending of the job.
    init?(_ stored: StoredJob) {
        guard stored.notices > 0 else { return nil }
        self.init()
        let id = stored.record.id
        job = id.notice(stored.notices).description
        isOwed = stored.owesNotice
        if stored.notices > 1 { supersedes = id.notice(stored.notices - 1).description }
    }
}

extension Job.Failure {
    /// The last failure, as far as the store alone tells of it.
    init?(_ stored: StoredJob) {
        guard stored.state != .succeeded, let kind = stored.failureKind else { return nil }
        self.init()
        self.kind = kind.rawValue
        status = stored.failureStatus
        upstream = stored.failureUpstream
    }
}

extension Job.Client {
    package init(_ user: UInt32, process: Int32? = nil, unit: String?, node: NodeName) {
        self.init()
        self.node = node.text
        uid = user
        self.process = process
        self.unit = unit
    }
}

extension Job.Links {
    init(_ stored: StoredJob) {
        self.init(stored.record.id)
        if stored.hasBody { requestBody = Self.path(of: stored.record.id) + "/request/body" }
        if stored.hasAnswerBody { response = Self.path(of: stored.record.id) + "/response" }
    }

    package init(_ id: JobID) {
        self.init()
        own = Self.path(of: id)
        attempts = Self.path(of: id) + "/attempts"
    }

    package static func path(of id: JobID) -> String { "/v1/jobs/\(id)" }
}
