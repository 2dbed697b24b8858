import RelayBase
import RelayTestSupport

/// One upstream of a route, with the troubles it goes through.
final class TrafficUpstream {
    enum Phase: CaseIterable {
        case healthy, down, unreachable, silent, flapping, slow, narrow, rated, asking, ours, cutting
        case refusing, hinting, partly, partlySilent, partlyAsking, mixed
    }

    private var draw: SplitMix64
    private let phases: [Phase]
    private let isSteady: Bool
    private let isCalm: Bool
    private var phase = Phase.healthy
    private var until: Int64 = 0
    /// Milliseconds that it takes.
    private let usual: Int
    private let most: Int
    private let perSecond: Int
    private let flap: Int64
    private var underWay = 0
    /// When it took the last of what its rate allows.
    private var taken: [Int64] = []
    /// From now on it does what it is asked.
    var isHealed = false

    /// `isCalm` lets nothing go wrong.
    init(seed: UInt64, isCalm: Bool, _ world: inout SplitMix64) {
        draw = SplitMix64(seed: seed)
        usual = world.pick([2, 10, 40, 150])
        most = world.pick([1, 4, 15])
        perSecond = world.pick([5, 20, 50])
        flap = Int64(world.pick([300, 1_000, 3_000])) * 1_000_000
        let troubles = Phase.allCases.dropFirst()
        phases = [.healthy] + (0..<world.number(1...3)).map { _ in world.pick(Array(troubles)) }
        isSteady = world.chance(20) || isCalm
        self.isCalm = isCalm
    }

    func left() { underWay -= 1 }

    /// The reply to an attempt of that job; `wall` is the present in milliseconds since 1970.
    func reply(_ job: TrafficJob, now: Int64, wall: Int64) -> TrafficReply {
        underWay += 1
        if isHealed { return TrafficReply(kind: .good, after: time(usual)) }
        if now >= until {
            phase = isSteady ? .healthy : draw.pick(phases)
            until = now + draw.time(200...draw.pick([2_000, 10_000, 30_000]))
        }
        var at = phase == .mixed ? draw.pick(Phase.allCases.dropLast()) : phase
        let isBad = job.path > 0
        switch at {
        case .partly: at = isBad ? .down : .healthy
        case .partlySilent: at = isBad ? .silent : .healthy
        case .partlyAsking: at = isBad ? .asking : .healthy
        default: break
        }
        return TrafficReply(
            kind: kind(at, job, now, wall),
            after: at == .slow ? time(usual * 10 + 100) : at == .silent ? 1 << 50 : time(usual)
        )
    }

    private func kind(_ phase: Phase, _ job: TrafficJob, _ now: Int64, _ wall: Int64) -> TrafficReply.Kind {
        switch phase {
        case .healthy, .slow, .silent, .mixed, .partly, .partlySilent, .partlyAsking:
            if draw.chance(97) { return .good }
            // Also who is well may say that nothing is left of a limit.
            return isCalm || draw.chance(40) ? plain(404) : asking(200, job, wall)
        case .down: return plain(draw.pick([502, 503, 504]))
        case .refusing: return plain(draw.pick([500, 501, 400, 507]))
        case .unreachable:
            return draw.chance(80)
                ? .fails(.connectionRefused, .neverSent) : .fails(.connectionTerminated, .unknown)
        case .flapping: return now / flap % 2 == 0 ? .good : plain(502)
        case .narrow:
            if underWay <= most { return .good }
            return draw.chance(80) ? plain(503) : asking(503, job, wall)
        case .rated:
            taken.removeAll { $0 <= now - 1_000_000_000 }
            if taken.count < perSecond {
                taken.append(now)
                return .good
            }
            return draw.chance(70) ? plain(429) : asking(429, job, wall)
        case .asking: return asking(draw.pick([429, 503, 503, 403, 200]), job, wall)
        case .hinting: return draw.chance(40) ? asking(200, job, wall) : .good
        case .ours:
            return .fails(draw.pick([.dnsError, .dnsTimeout, .connectionLimitReached]), .neverSent)
        case .cutting: return draw.chance(40) ? .good : .breaksOff
        }
    }

    private func plain(_ status: UInt16) -> TrafficReply.Kind { .answers(status, [], asked: nil) }

    private func asking(_ status: UInt16, _ job: TrafficJob, _ wall: Int64) -> TrafficReply.Kind {
        var (fields, asked) = TrafficPatience.draw(&draw, isRefused: status != 200, wall: wall)
        if draw.chance(25) { fields.append(("X-RateLimit-Resource", job.path < 2 ? "core" : "search")) }
        return .answers(status, fields, asked: asked)
    }

    private func time(_ milliseconds: Int) -> Int64 {
        Int64(max(1, milliseconds)) * Int64(700_000 + draw.below(600_000))
    }
}

extension TrafficReply.Kind {
    static let good = TrafficReply.Kind.answers(200, [], asked: nil)
}
