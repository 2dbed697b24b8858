import RelayBase
import RelayJSON

extension Job {
    /// Reads the document of a job; members that are not known are passed over.
    init(_ document: [UInt8]) throws(RelayClientError) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: document)
        } catch {
            throw RelayClientError(.invalidResponse, "the relay's job is no JSON: \(error.message)")
        }
        guard let id = json["id"]?.string, let state = json["state"]?.string.flatMap(State.init) else {
            throw RelayClientError(
                .invalidResponse,
                "the relay's job has no id, or a state this client does not know"
            )
        }
        self.id = id
        self.state = state
        route = json["route"]?.string ?? ""
        reason = json["reason"]?.string
        end = json["end"]?.string
        outcome = json["outcome"]?.string.flatMap(RelayResponse.Outcome.init)
        status = json["status"]?.status
        method = Method(rawValue: json["request"]?["method"]?.string ?? "")
        path = json["request"]?["path"]?.string ?? ""
        createdAt = json["created_at"]?.moment
        dueAt = json["due_at"]?.moment
        expiresAt = json["expires_at"]?.moment
        finishedAt = json["finished_at"]?.moment
        attempts = (json["attempts"]?.array ?? []).map(Attempt.init)
        attemptCount = json["attempt_count"]?.int.flatMap(Int.init) ?? attempts.count
        maxAttempts = json["max_attempts"]?.int.flatMap(Int.init)
        lastFailure = json["last_failure"].flatMap(Failure.init)
        blocker = json["blocker"].flatMap(Blocker.init)
        client = json["client"].flatMap(Client.init)
        labels = (json["labels"]?.array ?? []).compactMap(\.string)
        version = json["version"]?.int ?? 0
    }
}

extension Job.Attempt {
    fileprivate init(_ json: JSONValue) {
        number = json["number"]?.int.flatMap { Int(exactly: $0) } ?? 0
        upstream = json["upstream"]?.string ?? ""
        address = json["address"]?.string
        startedAt = json["started_at"]?.moment
        duration = json["duration_ms"]?.span ?? .zero
        status = json["status"]?.status
        failure = Job.Failure(json)
        rule = json["rule"]?.string
        next = json["next"]?.string
        wait = json["wait_ms"]?.span
    }
}

extension Job.Failure {
    fileprivate init?(_ json: JSONValue) {
        guard let kind = json["kind"]?.string else { return nil }
        self.kind = kind
        detail = json["detail"]?.string ?? ""
        sent = json["sent"]?.string
        status = json["status"]?.status
    }
}

extension Job.Blocker {
    fileprivate init?(_ json: JSONValue) {
        guard let reason = json["reason"]?.string else { return nil }
        self.reason = reason
        detail = json["detail"]?.string ?? ""
        until = json["until"]?.moment
    }
}

extension Job.Client {
    fileprivate init?(_ json: JSONValue) {
        guard let uid = json["uid"]?.int.flatMap({ UInt32(exactly: $0) }) else { return nil }
        self.uid = uid
        unit = json["unit"]?.string
    }
}

extension JSONValue {
    var status: Status? { int.flatMap { UInt16(exactly: $0) }.map { Status(rawValue: $0) } }
}
