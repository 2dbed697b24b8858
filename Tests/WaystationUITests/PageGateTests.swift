import RelayBase
import RelayHTTP
import RelayRoute
import Testing

@testable import WaystationUI

/// The head of a request as the port gets it; nil where the parser refuses it before the gate is asked.
private func head(_ line: String, _ fields: [String]) throws -> RequestHead {
    var parser = RequestHeadParser()
    let text = "\(line) HTTP/1.1\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    guard case .head(let head, _) = try parser.parse(Array(text.utf8).span) else { throw Unfinished() }
    return head
}

private struct Unfinished: Error {}

@Suite("The callers that get through the port of waystation ui")
struct PageGateTests {
    private static let start = Instant(nanoseconds: 5)
    private static let own = "Host: w1.localhost:8311"
    /// Stands for the cookie of a browser that came by a link.
    private static let session = "Cookie: a=b; waystation-8311=SESSION"

    /// A browser that is in, and what it sends as its cookie.
    private static func entered(
        _ gate: inout PageGate,
        at now: Instant = start,
        _ more: [String] = []
    ) throws -> String {
        let token = try #require(gate.link(at: now).split(separator: "=").last)
        let request = try head("GET /?token=\(token)", [own] + more)
        guard case .welcome(let cookie, _) = gate.decide(request, at: now) else { throw Unfinished() }
        return "Cookie: a=b; " + cookie.prefix { $0 != ";" }
    }

    private func decide(_ line: String, _ fields: [String]) throws -> PageGate.Decision {
        var gate = PageGate(port: 8311, name: "w1.localhost")
        let cookie = try Self.entered(&gate)
        return gate.decide(try head(line, fields.map { $0 == Self.session ? cookie : $0 }), at: Self.start)
    }

    @Test(
        "The page's own requests pass",
        arguments: [
            ("GET /ui/", [own, session]), ("GET /ui", [own, session]), ("GET /ui/page.js", [own, session]),
            ("HEAD /v1/status", [own, session]),
            (
                "GET /v1/jobs?route=a",
                ["Host: W1.localhost:8311", session, "Origin: http://w1.localhost:8311"]
            ),
            (
                "POST /v1/jobs/actions",
                [own, session, "Origin: http://w1.localhost:8311", "Sec-Fetch-Site: same-origin"]
            ),
            ("DELETE /v1/jobs/x", [own, session, "Origin: http://w1.localhost:8311"]),
            ("GET /ui/", ["Host: W1.LOCALHOST:8311", session, "Sec-Fetch-Site: none"]),
        ]
    )
    func passes(line: String, fields: [String]) throws {
        #expect(try decide(line, fields) == .pass)
    }

    @Test("The session leads from the root to the page")
    func root() throws { #expect(try decide("GET /", [Self.own, Self.session]) == .page) }

    @Test(
        "Everything else is refused, and told why",
        arguments: [
            // Names that a page of somebody else may have led here.
            ("GET /v1/status", ["Host: evil.example:8311", session], 403, "Host"),
            ("GET /v1/status", ["Host: evil.localhost:8311", session], 403, "Host"),
            ("GET /v1/status", ["Host: w1.localhost", session], 403, "Host"),
            ("GET /v1/status", ["Host: w1.localhost:8312", session], 403, "Host"),
            ("GET /v1/status", ["Host: localhost:8311", session], 403, "Host"),
            ("GET /v1/status", ["Host: 127.0.0.1:8311", session], 403, "Host"),
            ("GET /v1/status", ["Host: w1.localhost.evil.example:8311", session], 403, "Host"),
            ("GET /v1/status", ["Host: [::1]:8311", session], 403, "Host"),
            ("GET /v1/status", ["Host: 2130706433:8311", session], 403, "Host"),
            // Pages of others.
            ("GET /v1/status", [own, session, "Origin: null"], 403, "another page"),
            ("GET /v1/status", [own, session, "Origin: http://127.0.0.1:9"], 403, "another page"),
            ("GET /v1/status", [own, session, "Origin: https://w1.localhost:8311"], 403, "another page"),
            ("GET /v1/status", [own, session, "Origin: http://localhost:8311"], 403, "another page"),
            (
                "GET /v1/status",
                [own, session, "Origin: http://w1.localhost:8311", "Origin: http://evil.example"], 403,
                "another page"
            ),
            ("POST /v1/reload", [own, session], 403, "another page"),
            ("POST /v1/reload", [own, session, "Origin: null"], 403, "another page"),
            ("PUT /v1/constrained", [own, session, "Origin: http://evil.example"], 403, "another page"),
            ("DELETE /v1/jobs/x", [own, session], 403, "another page"),
            ("GET /ui/", [own, session, "Sec-Fetch-Site: cross-site"], 403, "another page"),
            ("GET /ui/page.js", [own, session, "Sec-Fetch-Site: same-site"], 403, "another page"),
            (
                "POST /v1/reload",
                [own, session, "Origin: http://w1.localhost:8311", "Sec-Fetch-Site: none"], 403,
                "another page"
            ),
            // No session, or none of this command.
            ("GET /", [own], 403, "open the link"), ("GET /ui/", [own], 403, "open the link"),
            (
                "GET /v1/status", [own, "Cookie: waystation-8311=" + String(repeating: "0", count: 64)], 403,
                "open the link"
            ),
            ("GET /v1/status", [own, "Cookie: waystation-8311="], 403, "open the link"),
            ("GET /?token=", [own], 403, "used already, or is none"),
            ("GET /?token=abc", [own], 403, "used already, or is none"),
            // Nothing but the page and what it reads.
            ("GET /r/billing/charges", [own, session], 404, "nothing else"),
            ("GET /v1", [own, session], 404, "nothing else"),
            ("GET /uix", [own, session], 404, "nothing else"),
            ("GET /metrics", [own, session], 404, "nothing else"),
            ("GET /favicon.ico", [own, session], 404, "nothing else"),
            ("GET /v1/../r/billing", [own, session], 400, "no plain path"),
            ("GET /v1/%2e%2e/r/billing", [own, session], 400, "no plain path"),
            ("GET /ui//page.js", [own, session], 400, "no plain path"),
            ("GET //evil.example/", [own, session], 400, "no plain path"),
            ("GET http://evil.example/v1/status", [own, session], 400, "no plain path"),
            ("CONNECT evil.example:443", [own, session], 405, "GET, HEAD"),
            ("OPTIONS /v1/status", [own, session], 405, "GET, HEAD"),
            ("TRACE /v1/status", [own, session], 405, "GET, HEAD"),
            (
                "POST /v1/jobs",
                [
                    own, session, "Origin: http://w1.localhost:8311", "Content-Length: 1",
                    "Expect: 100-continue",
                ],
                417, "at once"
            ),
        ] as [(String, [String], UInt16, String)]
    )
    func refused(line: String, fields: [String], status: UInt16, word: String) throws {
        guard case .refuse(let got, let sentence) = try decide(line, fields) else {
            Issue.record("\(line) \(fields) was let in")
            return
        }
        #expect(got.rawValue == status && sentence.contains(word), "\(got.rawValue) \(sentence)")
    }

    @Test("A link lets one browser in, once, within a minute")
    func link() throws {
        var gate = PageGate(port: 8311, name: "w1.localhost")
        let link = gate.link(at: Self.start)
        let token = try #require(link.split(separator: "=").last)
        #expect(link == "http://w1.localhost:8311/?token=\(token)" && token.utf8.count == 64)
        let line = "GET /?token=\(token)"
        // A page elsewhere that has it may not use it up beside itself.
        for mode in [
            [], ["Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"],
            ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
        ] {
            let fields = [Self.own, "Sec-Fetch-Site: cross-site"] + mode
            guard case .refuse(403, _) = gate.decide(try head(line, fields), at: Self.start) else {
                return #expect(Bool(false), "another page came in by the link: \(mode)")
            }
        }
        guard case .welcome(let cookie, false) = gate.decide(try head(line, [Self.own]), at: Self.start)
        else {
            return #expect(Bool(false), "the link was not good")
        }
        let words = cookie.split(separator: "; ").map(String.init)
        #expect(words.dropFirst() == ["Path=/", "HttpOnly", "SameSite=Strict"])
        #expect(words[0].wholeMatch(of: /waystation-8311=[0-9a-f]{64}/) != nil)
        guard case .refuse(403, let again) = gate.decide(try head(line, [Self.own]), at: Self.start) else {
            return #expect(Bool(false), "the link was good twice")
        }
        #expect(again.contains("used already"))
        // A browser that is in may load it again.
        #expect(gate.decide(try head(line, [Self.own, "Cookie: " + words[0]]), at: Self.start) == .page)
        for wrong in [words[0].dropLast(), words[0].dropFirst("waystation-8311=".count)] {
            guard
                case .refuse(403, _) = gate.decide(
                    try head("GET /ui/", [Self.own, "Cookie: " + wrong]),
                    at: Self.start
                )
            else { return #expect(Bool(false), "half a session was good") }
        }
    }

    @Test("A link may be followed from a file, in a window of its own")
    func file() throws {
        var gate = PageGate(port: 8311, name: "w1.localhost")
        _ = try Self.entered(
            &gate,
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
        )
        // The page itself may not be opened so.
        let line = "GET /ui/"
        let fields = [
            Self.own, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
        ]
        guard case .refuse(403, _) = gate.decide(try head(line, fields), at: Self.start) else {
            return #expect(Bool(false), "another page opened the page")
        }
    }

    @Test("Each run has a name of its own; the number alone has the browser forget what was there")
    func names() throws {
        let names = Set((0..<20).map { _ in PageGate.name() })
        #expect(
            names.count == 20 && names.allSatisfy { $0.wholeMatch(of: /w[0-9a-f]{16}\.localhost/) != nil }
        )
        var gate = PageGate(port: 8311, name: nil)
        let link = gate.link(at: Self.start)
        #expect(link.hasPrefix("http://127.0.0.1:8311/?token="))
        let line = "GET /" + link.drop { $0 != "?" }
        guard case .refuse(403, _) = gate.decide(try head(line, ["Host: localhost:8311"]), at: Self.start)
        else {
            return #expect(Bool(false), "another name came in")
        }
        guard case .welcome(_, true) = gate.decide(try head(line, ["Host: 127.0.0.1:8311"]), at: Self.start)
        else {
            return #expect(Bool(false), "the link was not good")
        }
        #expect(PageGate(port: 80, name: nil).host == "127.0.0.1")
    }

    @Test("Each browser has a session of its own, which ends when it is idle or there are too many")
    func sessions() throws {
        var gate = PageGate(port: 8311, name: "w1.localhost")
        let (first, second) = (try Self.entered(&gate), try Self.entered(&gate))
        #expect(first != second)
        func isIn(_ cookie: String, after span: Duration) throws -> Bool {
            let request = try head("GET /ui/", [Self.own, cookie])
            let now = Self.start.advanced(by: span)
            let isThere = gate.isIn(request, at: now)
            #expect((gate.decide(request, at: now) == .pass) == isThere)
            return isThere
        }
        let half = PageGate.idle / 2
        #expect(try isIn(first, after: half))
        #expect(try !isIn(second, after: PageGate.idle))
        #expect(try isIn(first, after: PageGate.idle))
        // One that was used lately stays while others come.
        for number in 0..<PageGate.maxSessions {
            let now = Self.start.advanced(by: PageGate.idle + .seconds(number + 1))
            _ = try Self.entered(&gate, at: now)
            #expect(try isIn(first, after: PageGate.idle + .seconds(number + 1)) == true)
        }
        var more = PageGate(port: 8311, name: "w1.localhost")
        let oldest = try Self.entered(&more)
        for _ in 0..<PageGate.maxSessions {
            _ = try Self.entered(&more, at: Self.start.advanced(by: .seconds(1)))
        }
        #expect(
            !more.isIn(try head("GET /ui/", [Self.own, oldest]), at: Self.start.advanced(by: .seconds(1)))
        )
    }

    @Test("A link that is older than a minute is used up, and another takes its place")
    func age() throws {
        var gate = PageGate(port: 8311, name: "w1.localhost")
        let first = try #require(gate.link(at: Self.start).split(separator: "=").last)
        let late = Self.start.advanced(by: PageGate.linkLifetime)
        guard
            case .refuse(403, let text) = gate.decide(try head("GET /?token=\(first)", [Self.own]), at: late)
        else { return #expect(Bool(false), "an old link was good") }
        #expect(text.contains("older than a minute"))
        let second = try #require(gate.link(at: late).split(separator: "=").last)
        let third = try #require(gate.link(at: late).split(separator: "=").last)
        #expect(Set([first, second, third]).count == 3)
        guard case .refuse = gate.decide(try head("GET /?token=\(second)", [Self.own]), at: late) else {
            return #expect(Bool(false), "a link was good after the next")
        }
        guard case .welcome = gate.decide(try head("GET /?token=\(third)", [Self.own]), at: late) else {
            return #expect(Bool(false), "the newest link was not good")
        }
    }

    @Test("Neither cookie nor credential nor anything of the connection goes on to the daemon")
    func forwarded() throws {
        let head = try head(
            "GET /v1/status",
            [
                Self.own, Self.session, "Authorization: Bearer x", "Connection: keep-alive", "TE: trailers",
                "Origin: http://w1.localhost:8311", "Accept: text/event-stream", "Last-Event-ID: 7",
                "Accept-Encoding: gzip", "If-None-Match: \"a\"", "Waystation-Fallback: off",
                "X-Forwarded-For: 10.0.0.1",
                "User-Agent: b",
            ]
        )
        #expect(
            PageExchange.fields(toDaemon: head).pairs.map { $0.name.lowercased() }.sorted()
                == ["accept", "accept-encoding", "if-none-match", "last-event-id"]
        )
    }

    @Test("An answer of an upstream comes to the browser as nothing that it would run")
    func answers() {
        var fields = HeaderFields()
        for (name, value) in [
            ("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"),
            ("Set-Cookie", "waystation-8311=x"), ("Refresh", "0"),
            ("Content-Security-Policy", "script-src *"), ("Service-Worker-Allowed", "/"), ("Date", "d"),
        ] { fields.append(name, value) }
        let shown = PageExchange.fields(toBrowser: fields, of: "/v1/jobs/x/response", socket: "/tmp/a b")
        #expect(
            shown.values(FieldName(of: "content-security-policy")) == [
                "default-src 'none'; frame-ancestors 'none'; sandbox"
            ]
        )
        #expect(shown[FieldName(of: "x-content-type-options")] == "nosniff")
        let names = shown.pairs.map { $0.name.lowercased() }
        #expect(
            !names.contains("set-cookie") && !names.contains("refresh")
                && !names.contains("service-worker-allowed")
        )
        #expect(!names.contains("waystation-socket"))
        let version = PageExchange.fields(toBrowser: fields, of: "/v1/version", socket: "/tmp/a b")
        #expect(version[FieldName(of: "waystation-socket")] == "%2Ftmp%2Fa%20b")
        let page = PageExchange.fields(toBrowser: fields, of: "/ui/", socket: nil)
        #expect(page[FieldName(of: "content-security-policy")] == "script-src *")
        #expect(page[.contentEncoding] == "gzip" && page[FieldName(of: "vary")] == "Accept-Encoding")
    }
}
