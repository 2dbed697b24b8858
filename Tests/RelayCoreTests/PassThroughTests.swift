import Foundation
import RelayBase
import RelayCore
import RelayJSON
import RelayRoute
import RelayTestSupport
import Testing

@Suite("Which routes' requests are passed through")
struct PassThroughTests {
    /// Every setting of a route, and what passing its requests through makes of it.
    ///
    /// A new setting is not in it: whoever adds one decides here, and in `PassThroughPolicy`.
    private static let settings: [String: String] = [
        "summary": "said of the route alone",
        "upstreams": "the first is sent to; while the network is constrained one for that: ordinary",
        "authentication": "its line is among the route's own",
        "timeouts": "attempt, total and idle bound the exchange; connect is the ordinary path's",
        "concurrency": "a free permit is taken",
        "traffic": "asked for leave, and told; with a rate: ordinary",
        "closed": "ordinary", "callers": "asked for each caller",
        "maxAttempts": "one attempt is always allowed",
        "request": "headers and query compiled; wrap: ordinary",
        "idempotency": "a generated key is among the route's own lines; a caller's: ordinary",
        "prepare": "among the route's own lines",
        "apiError": "looked for in the content",
        "quickRecovery": "for failures, which are promoted",
        "success": "statuses by the judge's verdicts, the rest in the content",
        "response": "looked for in the content; unwrap and what keeps: ordinary",
        "errorTypes": "for failures, which are promoted",
        "recovery": "for failures, which are promoted; rules that keep: ordinary",
        "deliversLater": "for kept jobs",
        "limits": "smaller than a plain head, or decoding: ordinary",
        "delivery": "durable: ordinary",
        "signing": "ordinary",
        "allowsPlainHTTP": "for services of programs",
        "constrained": "ordinary while the network is constrained",
        "lightRequest": "for a constrained network, which makes it ordinary",
        "neverFails": "for failures, which are promoted",
        "verifications": "ordinary",
        "followings": "ordinary",
        "hedgings": "ordinary; kept jobs are never hedged",
    ]

    /// The same of the parts of those that are compiled, or make an ordinary request by one part alone.
    private static let parts: [String: [String: String]] = [
        "timeouts": [
            "connect": "the ordinary path's, which dials", "attempt": "bounds the exchange",
            "idle": "bounds it", "minRate": "bounds it", "total": "bounds it",
        ],
        "request": [
            "setFields": "among the route's own lines", "removeFields": "left out",
            "wrap": "ordinary", "allowsEmptySegments": "a path with one is ordinary",
            "query": "behind the target", "propagation": "left out or passed on by the names",
        ],
        "idempotency": [
            "header": "left out or refused by its name", "generates": "among the route's own lines",
            "forwards": "a caller's key is ordinary, and a kept job's that is left out or renamed",
            "window": "for kept jobs",
        ],
        "success": [
            "statuses": "the judge's verdicts", "contentTypes": "asked of each answer",
            "require": "asked of its content", "fail": "asked of its content",
            "inspectLimit": "larger content that comes in pieces is ordinary",
        ],
        "response": [
            "unwrap": "ordinary", "expectsJSON": "asked of the content", "empty": "asked of the content",
            "redirects": "a redirect that is followed is promoted", "keepsLastGood": "ordinary",
            "locationPrefix": "an answer with such a field is promoted", "stream": "ordinary",
        ],
        "limits": [
            "head": "smaller than a plain head: ordinary",
            "fieldCount": "smaller than a plain head: ordinary",
            "body": "bounds what is looked into", "expansion": "for content that is decoded",
            "decodesContent": "ordinary",
        ],
        "delivery": [
            "mode": "durable: ordinary", "expiresAfter": "for kept jobs", "ordering": "for kept jobs",
            "maxAttempts": "for kept jobs", "keepsRequests": "for kept jobs",
            "keepsResponses": "for kept jobs", "told": "for kept jobs",
        ],
    ]

    @Test("Each setting of a route has its place in what is passed through")
    func everySetting() throws {
        let settings = Array(Mirror(reflecting: makeRoute().policy).children)
        #expect(Set(settings.compactMap(\.label)) == Set(Self.settings.keys))
        for (name, parts) in Self.parts {
            let setting = try #require(settings.first { $0.label == name })
            let labels = Mirror(reflecting: setting.value).children.compactMap(\.label)
            #expect(Set(labels) == Set(parts.keys), "\(name)")
        }
    }

    @Test(
        "Content that comes by pieces is passed on as it comes, unless all of it is needed first",
        arguments: [
            ("nothing", 10, true, false), ("nothing", 1_000_000, true, false),
            ("a rule", 10, false, true), ("a rule", 262_144, false, true), ("a rule", 262_145, true, false),
            ("a rule for a status", 10, true, false), ("content types", 10, false, false),
            ("JSON", 10, false, true), ("JSON", 2_001, false, false),
        ]
    )
    func pieces(route name: String, length: Int, passes: Bool, collects: Bool) throws {
        let route = makeRoute { policy in
            switch name {
            case "a rule": policy.recovery = [rule("again", ["connection"], retry(3))]
            case "a rule for a status": policy.recovery = [rule("again", ["503"], retry(3))]
            case "content types": policy.success.contentTypes = ["text/plain"]
            case "JSON":
                policy.response.expectsJSON = true
                policy.success.inspectLimit = 2_000
            default: break
            }
        }
        let policy = try #require(PassThroughPolicy(route, []))
        #expect(policy.passesPieces(200, length: length) == passes)
        #expect(policy.collects(200, length: length) == collects)
    }

    @Test("Content in chunks is passed on as it comes wherever it need not be looked into")
    func chunks() throws {
        let plain = try #require(
            PassThroughPolicy(
                makeRoute { $0.recovery = [rule("again", ["connection"], retry(3))] },
                []
            )
        )
        let inspecting = try #require(
            PassThroughPolicy(makeRoute { $0.response.expectsJSON = true }, [])
        )
        #expect(plain.passesPieces(200, length: nil))
        #expect(!inspecting.passesPieces(200, length: nil))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let reason: OrdinaryReason?
        /// Whether its kept jobs' deliveries are passed through all the same.
        var deliversPlainly = false
        let change: @Sendable (inout RoutePolicy) -> Void
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "nothing", reason: nil) { _ in },
        Case(name: "a rule", reason: nil) { $0.recovery = [rule("again", ["503"], retry(3))] },
        Case(name: "a set field", reason: nil) { $0.request.setFields = [("X-Tenant", "7")] },
        Case(name: "a set Host", reason: .edits) { $0.request.setFields = [("hOst", "x")] },
        Case(name: "a generated key", reason: nil) { $0.idempotency.generates = true },
        Case(name: "parameters", reason: nil) { $0.request.query = RouteQuery([("a", .text("b"))]) },
        Case(name: "an unread secret", reason: .edits) {
            $0.request.query = RouteQuery([("a", .reference(.credential("none")))])
        },
        Case(name: "wrap", reason: .preparation) { $0.request.wrap = JSONPointer(tokens: ["data"]) },
        Case(name: "content types", reason: nil) { $0.success.contentTypes = ["application/json"] },
        Case(name: "decoding", reason: .content) { $0.limits.decodesContent = true },
        Case(name: "stale answers", reason: .keeping) {
            $0.recovery = [rule("old", ["any"], .respondStale)]
        },
        Case(name: "durable", reason: .keeping, deliversPlainly: true) { $0.delivery.mode = .durable },
        Case(name: "small heads", reason: .limits) { $0.limits.head = 8_192 },
        Case(name: "a rate", reason: .limits) {
            $0.traffic.rateLimit = RateLimitSettings(maxRequests: 10, per: .seconds(1), burst: 3)
        },
    ]

    @Test("A route whose requests need more than to be passed on has a reason for it", arguments: cases)
    func reasons(_ one: Case) {
        let route = makeRoute { one.change(&$0) }
        #expect(PassThroughPolicy.reason(route) == one.reason)
        let ofDeliveries = one.deliversPlainly ? nil : one.reason
        #expect(PassThroughPolicy.reason(route, isKept: true) == ofDeliveries)
        #expect((PassThroughPolicy(route, []) == nil) == (ofDeliveries != nil))
    }

    @Test("A route's document names each reason that a route may have, and no other")
    func reasonsOfRoutes() {
        #expect(Set(Self.cases.compactMap(\.reason)) == Set(OrdinaryReason.ofRoutes))
    }

    @Test(
        "An answer is passed on where the judge takes it whatever else it says",
        arguments: [
            (200, true, true), (204, true, true), (304, false, true), (302, false, false),
            (404, false, false),
            (503, false, false), (99, false, false), (600, false, false), (999, false, false),
        ]
    )
    func verdicts(status: Int, usual: Bool, conditional: Bool) throws {
        let policy = try #require(PassThroughPolicy(makeRoute(), []))
        #expect(policy.takes(status, PassThroughPolicy.usual) == usual)
        #expect(policy.takes(status, PassThroughPolicy.conditional) == conditional)
    }

    @Test("Where the id and the moment stand in a route's own lines each request has its own")
    func lines() {
        let probe = JobID(milliseconds: 1, random: (2, 3))
        var fields = HeaderFields()
        fields.append("X-Job", "a \(probe) b")
        fields.append("X-Now", String(decoding: IMFDate.format(20_000_000_007), as: UTF8.self))
        fields.append("X-Fixed", "c")
        var lines = PassThroughLines(fields, probe: probe, wallSeconds: 20_000_000_007) { fields in
            var buffer = OutputBuffer()
            for name in ["X-Job", "X-Now", "X-Fixed"] {
                buffer.append(
                    text: "\(name): \(FieldName(name).flatMap { fields.values($0).first } ?? "")\r\n"
                )
            }
            return buffer.bytes
        }
        #expect(lines.gaps.map(\.offset) == [9, 46])
        #expect(lines.gaps.map(\.gap) == [.jobID, .now])
        lines.wipe()
        #expect(lines.bytes.allSatisfy { $0 == 0 })
    }

    @Test(
        "A credential is at hand while it is in force to the end of an attempt and nothing is due",
        arguments: [(0, true), (3529, true), (3535, false), (3541, false), (3700, false)] as [(Int64, Bool)]
    )
    func credential(second: Int64, isThere: Bool) {
        func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }
        var machine = CredentialMachine(refreshBeforeExpiry: .seconds(0), failureCooldown: .seconds(1))
        _ = machine.tokenWanted(refused: nil, now: at(0))
        #expect(machine.calmToken(at(0), until: at(10)) == nil)
        _ = machine.refreshed(Secret("a"), expiresIn: .seconds(3540), now: at(0))
        #expect((machine.calmToken(at(second), until: at(second + 10)) != nil) == isThere)
    }

    @Test("The page of the pass-through has a line for each reason, in their words and order")
    func page() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "Sources/RelayCore/RelayCore.docc/PassThrough.md"),
            encoding: .utf8
        )
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let reasons =
            OrdinaryReason.allCases.map { ($0.rawValue, $0.sentence) }
            + PromotionReason.allCases.map { ($0.rawValue, $0.sentence) }
        #expect(lines == reasons.map { "| `\($0.0)` | \($0.1) |" })
    }
}
