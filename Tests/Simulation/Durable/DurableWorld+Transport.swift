import RelayBase
import RelayRoute
import RelayTestSupport

// Takes what one process sends to the world's upstreams; nothing of it arrives once the process is dead.
extension Confined where Value == DurableWorld {
    func take(
        _ request: OutboundRequest,
        _ port: UInt16,
        by life: Confined<DurableLife>
    ) async throws(Failure) -> InboundResponse {
        guard !life.value.isDead, !Task.isCancelled else {
            throw Failure(.cancelled, sent: .neverSent, "the process is gone, or the run was stopped")
        }
        if port >= Origin.endpointPort { return try await token(Int(port - Origin.endpointPort)) }
        return try await attempt(request, Int(port - Origin.upstreamPort), life)
    }

    private func attempt(
        _ request: OutboundRequest,
        _ upstream: Int,
        _ life: Confined<DurableLife>
    ) async throws(Failure) -> InboundResponse {
        let began = value.timeline.now
        let patience = request.deadline.nanoseconds - began
        let (reply, after) = value.upstreams[upstream].reply(now: began, patience: patience)
        let flight = await value.sent(request, by: life.value)
        let isOver = await pause(until: began + after)
        guard !life.value.isDead, isOver else {
            value.checker.landed(flight, .stopped)
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        if flight.isQuestion { return try value.answered(reply, flight) }
        switch reply {
        case .fails(let kind, let sent):
            value.checker.landed(flight, sent == .neverSent ? .never : .unknown)
            throw Failure(kind, sent: sent, "simulated")
        case .answers(let status, let retryAfter):
            let isRefused = status.class == .clientError || status == 503 && retryAfter != nil
            let failed: DurableFacts.Landing = isRefused ? .failed : .answered
            value.checker.landed(flight, status.class == .success ? .success : failed)
            return InboundResponse(status, retryAfter.map { [("Retry-After", "\($0)")] } ?? [])
        }
    }

    private func token(_ credential: Int) async throws(Failure) -> InboundResponse {
        let isWell = value.isWell(credential)
        guard await pause(until: value.timeline.now + value.draw.time(2...300)) else {
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        value.tokens += 1
        guard isWell else { return InboundResponse(value.draw.pick([400, 503])) }
        let text = #"{"access_token":"t\#(value.tokens)","expires_in":3600}"#
        return InboundResponse(200, [], .bytes(Array(text.utf8)))
    }
}

extension DurableWorld {
    /// How late an upstream shows what it did, at the most, in nanoseconds.
    private static let delay: Int64 = 1_000_000_000

    /// The answer to the question what became of a job: the truth, or neither.
    fileprivate func answered(
        _ reply: DurableUpstream.Reply,
        _ flight: DurableFlight
    ) throws(Failure) -> InboundResponse {
        checker.landed(flight, .asked)
        switch reply {
        case .fails(let kind, let sent): throw Failure(kind, sent: sent, "simulated")
        case .answers(let status, let retryAfter):
            guard status.class == .success else {
                let fields = retryAfter.map { [("Retry-After", "\($0)")] } ?? []
                return InboundResponse(status == 404 ? 500 : status, fields)
            }
        }
        let job = flight.job
        let isFound = job.acts.contains { $0 <= timeline.now - DurableWorld.delay }
        (job.isFound, job.isAbsent) = (isFound, !isFound)
        checker.note(isFound ? "found" : "absent")
        return InboundResponse(isFound ? 200 : 404)
    }
}
