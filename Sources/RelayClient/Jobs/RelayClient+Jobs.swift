public import RelayBase
public import RelayInterface

/// A job the relay has on disk.
public struct SubmittedJob: Hashable, Sendable {
    /// 26 letters and digits.
    public let id: String
    /// Whether the idempotency key was known: the job is an earlier one, and nothing was accepted anew.
    public let isReplayed: Bool
}

extension RelayClient {
    /// Hands a request over for keeping: when this returns, the job survives a loss of power.
    ///
    /// It is delivered at least once, now or when its options say, as the route's configuration says.
    ///
    /// - Parameters:
    ///   - route: the route's name.
    ///   - method: passed on to the upstream.
    ///   - path: path and query below the upstream's base, in which every value that is put in is percent-encoded.
    ///   - fields: passed on to the upstream.
    ///   - body: passed on to the upstream; bytes, `Data` or any other sequence of them.
    ///   - options: how it is to be kept and delivered.
    /// - Returns: the job's id.
    /// - Throws: `refused` when the relay did not accept it. Any error whose `sent` is `unknown`, such as
    ///   `connectionLost`, `timedOut` or a refusal for a store that does not move, leaves open whether it did, which an
    ///   idempotency key makes harmless to try again.
    public func submit(
        route: String,
        method: Method = .post,
        path: RequestPath = "",
        fields: HeaderFields = HeaderFields(),
        body: some Sequence<UInt8> = [],
        options: SubmissionOptions = SubmissionOptions()
    ) async throws(RelayClientError) -> SubmittedJob {
        var fields = fields
        fields.append("Prefer", "respond-async")
        do throws(OptionError) {
            try options.add(to: &fields) { $0.property }
        } catch {
            throw RelayClientError(.invalidRequest, "cannot submit a job: \(error.message)")
        }
        let answer: RelayResponse
        do throws(RelayClientError) {
            answer = try await send(route: route, method: method, path: path, fields: fields, body: body)
        } catch {
            // An answer that cannot be read may have been that it is kept.
            throw error.sent == .answered ? error.afterAnUnknownOne : error
        }
        guard answer.status.class == .success else { throw .refused(answer) }
        guard let id = answer.job else {
            let words = "the relay accepted a job and did not say which"
            throw RelayClientError(.invalidResponse, words, sent: .unknown)
        }
        return SubmittedJob(id: id, isReplayed: answer.fields[.waystationReplayed] == "true")
    }

    /// Looks at a job.
    ///
    /// - Parameter id: all of its 26 letters and digits.
    /// - Returns: the job as it is now.
    /// - Throws: `refused` when there is no such job, or it is somebody else's.
    public func job(_ id: String) async throws(RelayClientError) -> Job {
        try await look(at: id, waiting: nil)
    }

    /// The job as soon as it is over, however it ended.
    ///
    /// A relay that stops meanwhile is waited for; one that is not there to begin with is an error. Takes one of
    /// the client's `maxConcurrentRequests` places most of the time; `outcomes(of:)` needs none for many jobs.
    ///
    /// - Parameters:
    ///   - id: all of its 26 letters and digits.
    ///   - timeout: the longest wait in all.
    /// - Returns: the job; see `Job.state`.
    /// - Throws: `timedOut` when it was not over in time; `refused` when there is no such job.
    public func wait(for id: String, timeout: Duration) async throws(RelayClientError) -> Job {
        let end = clock.now().advanced(by: timeout)
        var pause = ReconnectAllowance(clock)
        while true {
            let left = clock.now().duration(to: end)
            do throws(RelayClientError) {
                let job = try await look(at: id, waiting: max(.zero, min(left, RelayClient.longPoll)))
                if job.state.isOver { return job }
                pause.wasAnswered()
            } catch {
                guard pause.forgives(error) else { throw error }
            }
            let now = clock.now()
            guard now < end else {
                throw RelayClientError(.timedOut, "job \(id) was not over in time")
            }
            try await pause.sleep(atMost: now.duration(to: end))
        }
    }

    /// The answer that a caller would have got by waiting for the job.
    ///
    /// - Parameter id: all of its 26 letters and digits.
    /// - Returns: the upstream's answer, or the route's stand-in for it.
    /// - Throws: `refused` when the job is not over, was never answered, or the answer is no longer kept.
    public func response(of id: String) async throws(RelayClientError) -> RelayResponse {
        let answer = try await request(.get, RelayClient.target(of: id) + "/response")
        guard answer.source != .relay else { throw .refused(answer) }
        return answer
    }

    /// Seconds of one question.
    static let longPoll: Duration = .seconds(50)

    /// The job now, or as soon as it is over or the wait is.
    func look(at id: String, waiting wait: Duration?) async throws(RelayClientError) -> Job {
        var fields = HeaderFields()
        var client = self
        if let wait {
            fields.append("Prefer", "wait=\(wait.components.seconds)")
            client.timeout = wait + max(.seconds(10), timeout)
        }
        let target = try RelayClient.target(of: id)
        let request = try ClientRequest(method: .get, target: target, fields: fields, body: [])
        let answer = try await client.answer(to: request, wait == nil ? .working : .waiting)
        guard answer.status == 200 else { throw .refused(answer) }
        return try Job(answer.body)
    }

    /// The path of a job.
    static func target(of id: String) throws(RelayClientError) -> String {
        let isPlain = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: false
            }
        }
        guard isPlain, id.utf8.count == 26 else {
            throw RelayClientError(.invalidRequest, "cannot look at a job: an id has 26 letters and digits")
        }
        return "/v1/jobs/\(id.uppercased())"
    }
}
