import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport
import RelayTesting

@testable import waystationd

/// The upstream of a night, which does at a moment what it would do whoever asked.
final class NightUpstream: Transport, EventSink {
    private let night: Night
    private let time: ImaginedTime

    init(_ night: Night, _ time: ImaginedTime) { (self.night, self.time) = (night, time) }

    func record(_ event: JobEvent) {}

    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        guard case .bytes(let bytes) = request.body, let number = Int(String(decoding: bytes, as: UTF8.self))
        else { throw Failure(.cancelled, sent: .neverSent, "no job of the night") }
        let moment = time.wallMilliseconds() - Night.begins
        let well = night.callers[number].refusal ?? 200
        switch night.trouble(at: moment) {
        case nil: return try await answer(well, after: 20, request)
        case .answers(let status): return try await answer(status, after: 10, request)
        case .refuses:
            throw Failure(.connectionRefused, sent: .neverSent, "refused")
        case .isSilent:
            try await pause(until: min(time.now().advanced(by: request.timeouts.idle), request.deadline))
            throw Failure(.connectionReadTimeout, sent: .unknown, "silent")
        case .answersSome(let status, let percent):
            var draw = SplitMix64(seed: night.seed ^ UInt64(moment) &* 0xD6E8_FEB8_6659_FD93 ^ UInt64(number))
            return try await answer(draw.chance(percent) ? status : well, after: 20, request)
        case .isSlow(let milliseconds): return try await answer(well, after: milliseconds, request)
        }
    }

    private func answer(
        _ status: Status,
        after milliseconds: Int,
        _ request: OutboundRequest
    ) async throws(Failure) -> InboundResponse {
        try await pause(until: time.now().advanced(by: .milliseconds(milliseconds)))
        return InboundResponse(response: HTTPResponse(status: status), exchange: Exchange())
    }

    private func pause(until end: Instant) async throws(Failure) {
        do { try await time.sleep(until: end) } catch {
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
    }
}
