import RelayBase
import RelayTestSupport

/// A token endpoint: slow, failing, rotating, lying.
final class SimulatedEndpoint {
    private enum Phase: Int, CaseIterable { case healthy, slow, down, garbage }

    struct Reply {
        enum Kind {
            case fails(FailureKind)
            case answers(UInt16, String, isStream: Bool, breaks: Bool, grant: Grant?)
        }

        var after: Int64
        var kind: Kind
        var coverage: Coverage
    }

    struct Grant {
        let generation: Int
        /// Seconds; nil when the endpoint does not say.
        let lifetime: Int64?
        /// The number of the refresh token it gives, where it rotates them.
        let refreshToken: Int?
    }

    private var draw: SplitMix64
    private var phase = Phase.healthy
    private var until: Int64 = 0
    private let credential: Int
    private let rotates: Bool
    /// Whether a planted bug has the answer tell a longer lifetime than the token has.
    private var lengthens = false
    private let shortest: Int

    init(seed: UInt64, credential: Int) {
        draw = SplitMix64(seed: seed)
        self.credential = credential
        rotates = draw.chance(60)
        shortest = draw.pick([1, 1, 2])
    }

    static func token(_ credential: Int, _ generation: Int) -> String { "~t\(credential).\(generation)" }
    static func refreshToken(_ credential: Int, _ number: Int) -> String { "rt-\(credential)-\(number)-" }

    /// `generation` and `refreshToken` are the next numbers.
    func reply(now: Int64, timeout: Int64, generation: Int, refreshToken: Int, lengthens: Bool) -> Reply {
        self.lengthens = lengthens
        while now >= until {
            phase = Phase.allCases[draw.weighted([54, 22, 12, 12])]
            until = max(until, now - 1_000_000_000) + draw.time(100...(phase == .healthy ? 4_000 : 1_500))
        }
        switch phase {
        case .healthy: return good(draw.time(5...200), generation, refreshToken, .tokenGiven)
        case .slow:
            let after = draw.chance(15) ? timeout : draw.time(200...2_500)
            return good(after, generation, refreshToken, .tokenSlow)
        case .down:
            if draw.chance(40) {
                return Reply(
                    after: draw.time(0...50),
                    kind: .fails(draw.pick([.connectionRefused, .connectionTerminated, .dnsError])),
                    coverage: .tokenDown
                )
            }
            let status: UInt16 = draw.pick([400, 401, 429, 500, 503, 302, 600, 199])
            return answer(draw.time(5...200), status, #"{"error":"invalid_grant"}"#, .tokenDown)
        case .garbage: return garbage()
        }
    }

    private func good(_ after: Int64, _ generation: Int, _ number: Int, _ coverage: Coverage) -> Reply {
        let lifetime: Int64? =
            draw.chance(10) ? nil : Int64(draw.pick([shortest, shortest, shortest, 3, 8, 3_600]))
        var body = #"{"access_token":"\#(SimulatedEndpoint.token(credential, generation))""#
        let told = lifetime.map { lengthens ? $0 * 3 : $0 }
        if let told { body += draw.chance(80) ? #","expires_in":\#(told)"# : #","expires_in":"\#(told)""# }
        if draw.chance(50) { body += #","token_type":"bEarer""# }
        var rotated: Int?
        if rotates, draw.chance(70) {
            rotated = number
            body += #","refresh_token":"\#(SimulatedEndpoint.refreshToken(credential, number))""#
        }
        body += "}"
        let isStream = draw.chance(30)
        let breaks = isStream && draw.chance(15)
        let grant = breaks ? nil : Grant(generation: generation, lifetime: lifetime, refreshToken: rotated)
        let kind = Reply.Kind.answers(200, body, isStream: isStream, breaks: breaks, grant: grant)
        return Reply(after: after, kind: kind, coverage: breaks ? .tokenBroken : coverage)
    }

    private func garbage() -> Reply {
        let bodies = [
            "", "{", "null", "[]", "<html>", #"{"access_token":""}"#, #"{"access_token":7}"#,
            #"{"token":"x"}"#,
            #"{"access_token":"a b"}"#, #"{"access_token":"a\r\nX: y"}"#, #"{"access_token":"é"}"#,
            #"{"access_token":["x"]}"#, #"{"access_token":"x","token_type":"mac"}"#,
            #"{"access_token":"x","access_token":"y"}"#, #"{"access_token":"x"} x"#,
            #"{"access_token":"\#(String(repeating: "x", count: 17_000))"}"#,
            #"{"access_token":"x","rest":"\#(String(repeating: "x", count: 66_000))"}"#,
        ]
        return answer(draw.time(5...200), 200, draw.pick(bodies), .tokenGarbage)
    }

    private func answer(_ after: Int64, _ status: UInt16, _ body: String, _ coverage: Coverage) -> Reply {
        Reply(
            after: after,
            kind: .answers(status, body, isStream: draw.chance(30), breaks: false, grant: nil),
            coverage: coverage
        )
    }
}
