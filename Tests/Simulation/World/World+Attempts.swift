import RelayBase
import RelayJobs
import RelayRoute

/// The replies to attempts and to token requests.
extension World {
    func began(_ request: OutboundRequest, job number: Int, upstream: Int) -> Reply {
        let isRefused = Task.isCancelled
        guard checker.jobs.indices.contains(number), let job = checker.jobs[number] else {
            checker.fail(number, "an attempt is sent for a job that has ended")
            return Reply(after: 0, kind: .fails(.cancelled, .neverSent))
        }
        if timeline.now >= request.deadline.nanoseconds {
            checker.fail(job, "an attempt is sent when its time is over")
        }
        checker.sent(job, request, upstream: upstream, isRefused: isRefused)
        if isRefused {
            checker.note(.refusedCancelled)
            return Reply(after: 0, kind: .fails(.httpResponseTimeout, .neverSent))
        }
        if case .stream = request.body { checker.note(.uploadRead) }
        let asked = SimulatedUpstream.Asked(
            now: timeline.now,
            method: request.method,
            connect: request.timeouts.connect.saturatedNanoseconds,
            attempt: request.deadline.nanoseconds - timeline.now,
            isAuthorised: isAuthorised(job),
            wallSeconds: checker.wallSeconds
        )
        let reply = upstreams[upstream].reply(asked)
        if upstreams[upstream].takeRevocation() {
            for index in checker.credentials.indices {
                checker.credentials[index].revoked = checker.credentials[index].given
            }
        }
        return reply
    }

    private func isAuthorised(_ job: JobRecord) -> Bool? {
        guard let index = job.route.credential, credentials[index].isFetched else { return nil }
        let credential = checker.credentials[index]
        guard job.token > 0, job.token < credential.expiries.count else { return false }
        return job.token > credential.revoked && timeline.now < credential.expiries[job.token]
    }

    func asked(_ request: OutboundRequest, credential index: Int) -> SimulatedEndpoint.Reply {
        checker.tokenAsked(index, request)
        let credential = checker.credentials[index]
        let timeout = request.deadline.nanoseconds - timeline.now
        let reply = endpoints[index].reply(
            now: timeline.now,
            timeout: timeout,
            generation: credential.given + 1,
            refreshToken: credential.refreshToken + 1,
            lengthens: plant == .staleToken
        )
        checker.note(reply.after >= timeout ? .tokenTimedOut : reply.coverage)
        return reply
    }
}
