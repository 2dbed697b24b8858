import RelayBase
import RelayCore
import RelayRoute
import RelayTestSupport

/// One upstream service and the faults it goes through.
final class SimulatedUpstream {
    private enum Phase: Int, CaseIterable {
        case healthy, down, flapping, slow, throttled, refusing, documents, broken, strange, moved
    }

    private var draw: SplitMix64
    private var phase = Phase.healthy
    private var until: Int64 = 0
    /// The kind of an outage: an index of `outage`.
    private var down = 0
    private var period: Int64 = 200_000_000

    private let index: Int

    init(_ index: Int, seed: UInt64) {
        self.index = index
        draw = SplitMix64(seed: seed)
    }

    struct Asked {
        let now: Int64
        let method: Method
        let connect: Int64
        let attempt: Int64
        /// Whether its credential is one the upstream takes; nil when it carries none.
        let isAuthorised: Bool?
        let wallSeconds: Int64
    }

    /// Whether the next phase revokes every token.
    private(set) var revokes = false

    func reply(_ asked: Asked) -> Reply {
        advance(asked.now)
        var reply = faulty(asked)
        if case .answers(var answer) = reply.kind {
            if asked.isAuthorised == false { answer = refusal() }
            let forbidsContent = answer.status < 200 || answer.status == 204 || answer.status == 304
            if asked.method == .head || forbidsContent {
                answer.document = .empty
                answer.flow = Flow()
            }
            reply.kind = .answers(answer)
        }
        return reply
    }

    func takeRevocation() -> Bool {
        defer { revokes = false }
        return revokes
    }

    private func advance(_ now: Int64) {
        while now >= until {
            phase = Phase.allCases[draw.weighted([34, 10, 8, 8, 10, 8, 8, 8, 6, 6])]
            until = max(until, now - 1_000_000_000) + draw.time(500...(phase == .healthy ? 12_000 : 5_000))
            down = draw.below(7)
            period = draw.time(50...600)
            if phase == .refusing { revokes = draw.chance(60) }
        }
    }

    private func faulty(_ asked: Asked) -> Reply {
        switch phase {
        case .healthy: healthy(draw.chance(95))
        case .down: outage(asked)
        case .flapping: asked.now / period % 2 == 0 ? healthy(true) : outage(asked)
        case .slow:
            draw.chance(30)
                ? healthy(true) : slow(asked, Answer(status: 200, document: .ok, flow: flow()))
        case .throttled: throttled(asked)
        case .refusing:
            draw.chance(50) ? Reply(after: draw.time(1...60), kind: .answers(refusal())) : healthy(true)
        case .documents:
            reply(answer([200, 200, 200, 201, 202, 400, 500], Document.allCases, json: 80), 2...140)
        case .broken: broken(asked)
        case .strange: strange()
        case .moved: moved()
        }
    }

    private func answer(_ statuses: [UInt16], _ documents: [Document], json percent: Int? = nil) -> Answer {
        let (status, document) = (draw.pick(statuses), draw.pick(documents))
        let isJSON = percent.map { draw.chance($0) } ?? true
        return Answer(status: status, document: document, isJSON: isJSON, flow: flow())
    }

    private func reply(_ answer: Answer, _ milliseconds: ClosedRange<Int>) -> Reply {
        Reply(after: draw.time(milliseconds), kind: .answers(answer))
    }

    private func fails(_ kind: FailureKind, _ sent: Sent, _ milliseconds: ClosedRange<Int>) -> Reply {
        Reply(after: draw.time(milliseconds), kind: .fails(kind, sent))
    }

    private func refusal() -> Answer {
        let (status, document): (UInt16, Document) = (
            draw.chance(90) ? 401 : 403, draw.pick([.error, .empty])
        )
        return Answer(status: status, document: document, flow: flow())
    }

    private func healthy(_ isWell: Bool) -> Reply {
        var answer = Answer(status: 200, document: .ok, flow: flow())
        if !isWell {
            answer.status = draw.pick([201, 204, 302, 304, 400, 404, 404, 409, 410, 422, 500])
            answer.document = draw.pick([.ok, .error, .empty])
        }
        return reply(answer, draw.chance(80) ? 2...140 : 100...900)
    }

    private func outage(_ asked: Asked) -> Reply {
        var after = draw.time(0...5)
        switch down {
        case 0: return Reply(after: after, kind: .fails(.connectionRefused, .neverSent))
        case 1:
            after = draw.time(1...80)
            return Reply(after: after, kind: .fails(draw.chance(80) ? .dnsError : .dnsTimeout, .neverSent))
        case 2: return Reply(after: asked.connect, kind: .fails(.connectionTimeout, .neverSent))
        case 3: return fails(.connectionTerminated, .unknown, 1...80)
        case 4:
            after = draw.time(1...100)
            let answer = answer([500, 502, 503, 504], [.notJSON, .error, .empty, .large], json: 50)
            return Reply(after: after, kind: .answers(answer))
        case 5: return Reply(after: 3_600_000_000_000, kind: .fails(.connectionTerminated, .unknown))
        default:
            let kind: FailureKind = draw.chance(50) ? .tlsCertificateError : .tlsProtocolError
            return Reply(after: after, kind: .fails(kind, .neverSent))
        }
    }

    private func slow(_ asked: Asked, _ answer: Answer) -> Reply {
        // Half, all, and one and a half of what the attempt may take; often to the nanosecond.
        let exact = asked.attempt * Int64(draw.pick([1, 2, 2, 3])) / 2
        return Reply(after: draw.chance(40) ? exact : draw.time(200...4_000), kind: .answers(answer))
    }

    private func throttled(_ asked: Asked) -> Reply {
        if draw.chance(25) { return healthy(true) }
        var answer = answer([429, 429, 503, 503, 500, 404], [.error, .empty])
        if draw.chance(85) { answer.retryAfter = .draw(&draw, wallSeconds: asked.wallSeconds) }
        return reply(answer, 1...40)
    }

    private func broken(_ asked: Asked) -> Reply {
        switch draw.below(10) {
        case 0: return fails(.httpResponseHeaderSectionSize, .answered, 1...50)
        case 1: return fails(.httpProtocolError, .unknown, 1...50)
        case 2: return fails(.httpResponseIncomplete, .unknown, 1...50)
        case 3: return fails(.connectionWriteTimeout, .unknown, 1...50)
        default: break
        }
        var answer = Answer(
            status: draw.pick([200, 200, 503, 400]),
            document: draw.pick([.ok, .large, .error])
        )
        answer.flow = Flow(
            isStream: true,
            isAnnounced: draw.chance(50),
            pieces: draw.number(1...6),
            gap: draw.chance(20) ? draw.pick([asked.attempt / 2, 7_500_000_000]) : draw.time(0...120)
        )
        if draw.chance(60) { answer.flow.breaksAfter = draw.below(answer.flow.pieces) }
        return reply(answer, 2...140)
    }

    private func strange() -> Reply {
        if draw.chance(40) { return healthy(true) }
        let statuses: [UInt16] = [
            100, 101, 102, 103, 199, 600, 601, 999, 0, 299, 300, 301, 307, 399, 499, 599,
        ]
        return reply(answer(statuses, [.ok, .error, .empty]), 2...60)
    }

    private func moved() -> Reply {
        if draw.chance(25) { return healthy(true) }
        var answer = answer([301, 302, 303, 303, 307, 307, 308], [.empty, .notJSON])
        let name = "t\(draw.below(12))"
        let origin = "u\(index).example:\(Origin.upstreamPort + UInt16(index))"
        let same = [
            "/api/\(name)", name, "./x/../\(name)", "//\(origin)/api/\(name)",
            "HTTPS://\(origin)/api/\(name)#x",
        ]
        let other = [
            "https://elsewhere.example/api/\(name)", "http://\(origin)/api/\(name)",
            "//u\(index).example/\(name)", "https:\(name)",
        ]
        if draw.chance(80) {
            answer.location = Answer.Location(text: draw.pick(same), target: "/api/\(name)")
        } else if draw.chance(70) {
            answer.location = Answer.Location(text: draw.pick(other), target: nil)
        }
        return reply(answer, 1...40)
    }

    private func flow() -> Flow {
        guard draw.chance(35) else { return Flow() }
        return Flow(
            isStream: true,
            isAnnounced: draw.chance(60),
            pieces: draw.number(1...3),
            gap: draw.chance(50) ? 0 : draw.time(0...20)
        )
    }
}
