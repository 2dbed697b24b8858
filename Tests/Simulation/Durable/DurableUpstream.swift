import RelayBase
import RelayTestSupport

/// One upstream of durable jobs and the faults it goes through, from seconds to hours.
final class DurableUpstream {
    private enum Phase: Int, CaseIterable {
        case healthy, down, silent, unreachable, throttled, refusing, mixed
    }

    enum Reply {
        case answers(Status, retryAfter: Int?)
        case fails(FailureKind, Sent)
    }

    private var draw: SplitMix64
    private var phase = Phase.healthy
    private var until: Int64 = 0
    /// From now on it does what it is asked.
    var isHealed = false

    init(seed: UInt64) { draw = SplitMix64(seed: seed) }

    /// The reply to an attempt that has `patience` nanoseconds, and after how many of them it comes.
    func reply(now: Int64, patience: Int64) -> (reply: Reply, after: Int64) {
        if isHealed { return (.answers(200, retryAfter: nil), draw.time(1...50)) }
        if now >= until {
            phase = Phase.allCases[draw.weighted([40, 14, 8, 8, 8, 10, 12])]
            until = now + draw.time(1_000...draw.pick([5_000, 60_000, 600_000, 7_200_000]))
        }
        let after = draw.time(1...draw.pick([20, 200, 1_500, 9_000]))
        guard after < patience else { return (.fails(.httpResponseTimeout, .unknown), patience) }
        return (reply(), after)
    }

    private func reply() -> Reply {
        switch phase {
        case .healthy: return draw.chance(95) ? good : odd
        case .down: return .answers(draw.pick([500, 502, 503]), retryAfter: nil)
        case .silent: return draw.chance(20) ? good : .fails(.httpResponseIncomplete, .unknown)
        case .unreachable: return .fails(draw.pick([.connectionRefused, .dnsError]), .neverSent)
        case .throttled: return .answers(429, retryAfter: draw.pick([1, 20, 900]))
        case .refusing: return odd
        case .mixed:
            switch draw.below(4) {
            case 0: return good
            case 1: return .fails(.connectionTerminated, .unknown)
            case 2: return .fails(.connectionRefused, .neverSent)
            default: return .answers(503, retryAfter: draw.pick([nil, 5]))
            }
        }
    }

    private var good: Reply { .answers(draw.pick([200, 201, 204]), retryAfter: nil) }
    private var odd: Reply { .answers(draw.pick([400, 401, 401, 404, 410, 422, 423]), retryAfter: nil) }
}
