import RelayHTTP
import Testing

@Suite("A relay target")
struct RelayTargetTests {
    static let accepted: [(raw: String, route: String, rest: String)] = [
        ("/r/x", "x", ""),
        ("/r/x/", "x", ""),
        ("/r/x?q=1", "x", "?q=1"),
        ("/r/x/?q=1", "x", "?q=1"),
        ("/r/billing/orders/7?full=1", "billing", "orders/7?full=1"),
        ("/r/billing/orders/", "billing", "orders/"),
        ("/r/a-B_9.z/p", "a-B_9.z", "p"),
        ("/r/x/.well-known/a", "x", ".well-known/a"),
        ("/r/x/.../a", "x", ".../a"),
        ("/r/x/a..b/..c/d..", "x", "a..b/..c/d.."),
        ("/r/x/%2ehidden", "x", "%2ehidden"),
        ("/r/x/caf%C3%A9", "x", "caf%C3%A9"),
        ("/r/x/caf%E9", "x", "caf%E9"),
        ("/r/x/100%25", "x", "100%25"),
        ("/r/x/100%25/a", "x", "100%25/a"),
        ("/r/x/a%20b", "x", "a%20b"),
        ("/r/x/%3F%23", "x", "%3F%23"),
        ("/r/x/user@host:80/a;b=c,d/(e)!$&'*+=~", "x", "user@host:80/a;b=c,d/(e)!$&'*+=~"),
        ("/r/x/[1]|2", "x", "[1]|2"),
        ("/r/x/r?next=//h/../a", "x", "r?next=//h/../a"),
        ("/r/x/a?b?c", "x", "a?b?c"),
        ("/r/x/a?f[a]={1}&t=a%0Ab%2F%5C", "x", "a?f[a]={1}&t=a%0Ab%2F%5C"),
        ("/r/x/a?", "x", "a?"),
        ("/r/x/group%2Fproject/issues", "x", "group%2Fproject/issues"),
        ("/r/x/@scope%2fname", "x", "@scope%2fname"),
        ("/r/x/a%5Cb", "x", "a%5Cb"), ("/r/x/a%252Fb", "x", "a%252Fb"), ("/r/x/%2F", "x", "%2F"),
        ("/r/x/a%2F%2Fb%2f", "x", "a%2F%2Fb%2f"), ("/r/x/a%2f.../b", "x", "a%2f.../b"),
        ("/r/x/a%2f.hidden", "x", "a%2f.hidden"), ("/r/x/%5c%5cserver", "x", "%5c%5cserver"),
        ("/r/x/a?b=..%2F..", "x", "a?b=..%2F.."),
    ]

    @Test("is split into route and rest, undecoded", arguments: accepted)
    func splits(_ row: (raw: String, route: String, rest: String)) throws {
        let target = try RelayTarget.parse(row.raw)
        #expect(target.route == row.route && target.remainder == row.rest)
    }

    @Test(
        "tells of an empty segment, which is the route's to decide about",
        arguments: [
            ("/r/x//a", "/a"), ("/r/x/a//", "a//"), ("/r/x//?q", "/?q"), ("/r/x/;a=1/b", ";a=1/b"),
            ("/r/x/;", ";"), ("/r/x/%3b/b", "%3b/b"), ("/r/x/https://one.example/a", "https://one.example/a"),
        ]
    )
    func emptySegment(raw: String, rest: String) throws {
        let target = try RelayTarget.parse(raw)
        #expect(target.hasEmptySegment)
        #expect(target.remainder == rest)
        #expect(try !RelayTarget.parse("/r/x/a%2F%2Fb/?c=//").hasEmptySegment)
    }

    static let refused: [(raw: String, code: HTTPParseError.Code)] = [
        ("", .badTarget), ("*", .badTarget), ("r/x/a", .badTarget), ("http://evil/r/x/a", .badTarget),
        ("//evil/r/x", .emptySegment), ("/", .unknownPath), ("/r", .unknownPath), ("/r/", .unknownPath),
        ("/R/x/a", .unknownPath), ("/v1/jobs", .unknownPath), ("/rx/a", .unknownPath),
        ("/r/x%41/a", .unknownPath),
        ("/r/x@evil/a", .unknownPath), ("/r/x:80/a", .unknownPath), ("/r/x;a/b", .unknownPath),
        ("/r/?q", .unknownPath),
        ("/r/" + String(repeating: "x", count: 129) + "/a", .unknownPath),
        ("/r//a", .emptySegment), ("/r//", .emptySegment),
        ("/r/./a", .dotSegment), ("/r/../a", .dotSegment), ("/r/x/..", .dotSegment),
        ("/r/x/../y/a", .dotSegment),
        ("/r/x/.", .dotSegment), ("/r/x/./a", .dotSegment), ("/r/x/..?q", .dotSegment),
        ("/r/x/%2e", .dotSegment),
        ("/r/x/%2E%2e/a", .dotSegment), ("/r/x/.%2e/a", .dotSegment), ("/r/x/%2e./a", .dotSegment),
        ("/r/x/%252e%252e/a", .dotSegment), ("/r/x/%25252e%25252E/a", .dotSegment),
        ("/r/x/.%252e/a", .dotSegment),
        ("/r/x/..;/a", .dotSegment), ("/r/x/..;a=b/c", .dotSegment), ("/r/x/%2e%2e%3b/a", .dotSegment),
        ("/r/x/.;", .dotSegment),
        ("/r/x/..%2f..", .dotSegment), ("/r/x/..%2Fa", .dotSegment), ("/r/x/a%2f..", .dotSegment),
        ("/r/x/a%2F../b", .dotSegment), ("/r/x/a%2f%2e%2e%2fb", .dotSegment), ("/r/x/%2F..", .dotSegment),
        ("/r/x/a%2F.%2e%2Fb", .dotSegment), ("/r/x/a%252f..%252fb", .dotSegment),
        ("/r/x/a%25252F%252e%252e", .dotSegment), ("/r/x/a%2f.", .dotSegment), ("/r/x/.%2Fa", .dotSegment),
        ("/r/x/a%5c..", .dotSegment), ("/r/x/..%5Ca", .dotSegment), ("/r/x/a%255c%2e.%5cb", .dotSegment),
        ("/r/x/a%2f..;b%2fc", .dotSegment), ("/r/x/a;b%2f..", .dotSegment), ("/r/x/..;b%2fc", .dotSegment),
        ("/r/x/%2e%2e%3b%2fc", .dotSegment), ("/r/x/a//../b", .dotSegment), ("/r/x//..", .dotSegment),
        ("/r/x/a\\b", .backslash), ("/r/x/..\\..", .backslash), ("/r/x/a%2f\\", .backslash),
        ("/r%2fx/a", .unknownPath), ("/r/x%2fy/a", .unknownPath), ("/r/x%5cy", .unknownPath),
        ("/r%2f../a", .dotSegment), ("/r/x%2f../a", .dotSegment),
        ("/r/x/a%2f%00", .encodedControl), ("/r/x/a%2f%0a", .encodedControl),
        ("/r/x/a%2", .badPercentEncoding), ("/r/x/a%2f%c0%ae%c0%ae", .badPercentEncoding),
        ("/r/x/%00", .encodedControl), ("/r/x/a%0d%0aX:y", .encodedControl), ("/r/x/a%0A", .encodedControl),
        ("/r/x/%09", .encodedControl), ("/r/x/%7F", .encodedControl), ("/r/x/%2500", .encodedControl),
        ("/r/x/a?b=%00", .encodedControl), ("/r/x/a?b=%2500", .encodedControl),
        ("/r/x/%", .badPercentEncoding), ("/r/x/%2", .badPercentEncoding), ("/r/x/%zz", .badPercentEncoding),
        ("/r/x/%2/a", .badPercentEncoding), ("/r/x/%u002e", .badPercentEncoding),
        ("/r/x/a?%", .badPercentEncoding),
        ("/r/x/a?b=%4", .badPercentEncoding), ("/r/x/a%c0%af", .badPercentEncoding),
        ("/r/x/%c0%ae%c0%ae/a", .badPercentEncoding), ("/r/x/%e0%80%af", .badPercentEncoding),
        ("/r/x/%f0%80%80%af", .badPercentEncoding),
        ("/r/x/a#f", .badTarget), ("/r/x/a?q#f", .badTarget), ("/r/x/a b", .badTarget),
        ("/r/x/a\tb", .badTarget),
        ("/r/x/caf\u{E9}", .badTarget), ("/r/x/a?\u{E9}", .badTarget), ("/r/x/\"", .badTarget),
        ("/r/x/<a>", .badTarget),
        ("/r/x/{a}", .badTarget), ("/r/x/a^", .badTarget), ("/r/x/`a`", .badTarget),
        ("/r/x/\u{7F}", .badTarget),
        ("/r/x/a?b=c d", .badTarget), ("/r/x/a?b=\\", .badTarget), ("/r/x/a?<b>", .badTarget),
    ]

    @Test("that two servers could read differently is refused", arguments: refused)
    func refuses(_ row: (raw: String, code: HTTPParseError.Code)) {
        let error = #expect(throws: HTTPParseError.self) { try RelayTarget.parse(row.raw) }
        #expect(error?.code == row.code)
    }

    @Test("keeps its checks when a host names the route")
    func restOfTarget() throws {
        #expect(try RelayTarget.remainder(of: "/a/b?c") == ("a/b?c", false))
        #expect(try RelayTarget.remainder(of: "/") == ("", false))
        #expect(try RelayTarget.remainder(of: "//h") == ("/h", true))
        #expect(throws: HTTPParseError.self) { try RelayTarget.remainder(of: "/a/../b") }
        #expect(throws: HTTPParseError.self) { try RelayTarget.remainder(of: "a") }
    }
}
