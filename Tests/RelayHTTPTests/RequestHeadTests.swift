import RelayBase
import Testing

@testable import RelayHTTP

@Suite("A request head")
struct RequestHeadTests {
    @Test("is refused with its code and status when it is malformed", arguments: malformedRequests)
    func refusesMalformed(_ row: MalformedHead) {
        let verdict = requestVerdict(row.bytes, ends: [row.bytes.count])
        #expect(verdict == .refused(row.code, status: row.status))
    }

    @Test("gives the same verdict whatever pieces it comes in", arguments: malformedRequests)
    func isIndependentOfPieces(_ row: MalformedHead) {
        let bytes = row.bytes
        let expected = Verdict.refused(row.code, status: row.status)
        #expect(requestVerdict(bytes, ends: 0...bytes.count) == expected)
        // A long row is cut at some places only: cutting 64 KiB at every byte would read four gigabytes.
        for cut in stride(from: 1, to: bytes.count, by: bytes.count > 2_000 ? 997 : 1) {
            #expect(requestVerdict(bytes, ends: [cut, bytes.count]) == expected, "cut at \(cut)")
        }
    }

    static let wellFormed: [(text: String, seen: String)] = [
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / 1.1|none|keeps|Host=h"),
        ("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / 1.1|none|keeps|Host=h"),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / 1.1|none|keeps|Host="),
        ("GET / HTTP/1.1\r\nhost:h:80\r\n\r\n", "GET / 1.1|none|keeps|host=h:80"),
        ("GET / HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n\r\n", "GET / 1.1|none|keeps|Host=[2001:db8::1]:443"),
        ("GET / HTTP/1.1\r\nHost: %2Frun%2Fs.sock\r\n\r\n", "GET / 1.1|none|keeps|Host=%2Frun%2Fs.sock"),
        ("GET / HTTP/1.0\r\n\r\n", "GET / 1.0|none"),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / 1.0|none|Connection=keep-alive"),
        (
            "GET / HTTP/1.1\r\nHost: h\r\nConnection: , CLOSE ,x\r\n\r\n",
            "GET / 1.1|none|Host=h|Connection=, CLOSE ,x"
        ),
        ("GET / HTTP/1.1\r\nHost: h\r\nA:\r\n\r\n", "GET / 1.1|none|keeps|Host=h|A="),
        ("GET / HTTP/1.1\r\nHost: h\r\nA: \t \r\n\r\n", "GET / 1.1|none|keeps|Host=h|A="),
        ("GET / HTTP/1.1\r\nHost: h\r\nA: \t b\tc \t\r\n\r\n", "GET / 1.1|none|keeps|Host=h|A=b\tc"),
        ("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\na: c\r\n\r\n", "GET / 1.1|none|keeps|Host=h|A=b|a=c"),
        ("M-SEARCH * HTTP/1.1\r\nHost: h\r\n\r\n", "M-SEARCH * 1.1|none|keeps|Host=h"),
        ("GET http://h/p?q HTTP/1.1\r\nHost: h\r\n\r\n", "GET http://h/p?q 1.1|none|keeps|Host=h"),
        (
            "POST /r/x?a=%20 HTTP/1.1\r\nHost: h\r\nContent-Length: 9223372036854775807\r\n\r\n",
            "POST /r/x?a=%20 1.1|length 9223372036854775807|keeps|Host=h|Content-Length=9223372036854775807"
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 007 \r\n\r\n",
            "POST / 1.1|length 7|keeps|Host=h|Content-Length=007"
        ),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\nExpect: 100-Continue\r\n\r\n",
            "POST / 1.1|chunked|keeps|continue|Host=h|Transfer-Encoding=Chunked|Expect=100-Continue"
        ),
        (
            "GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n",
            "GET / 1.1|none|keeps|Host=h|Expect=100-continue"
        ),
        (
            "GET / HTTP/1.1\r\nHost: h\r\nConnection: TE, upgrade\r\n\r\n",
            "GET / 1.1|none|keeps|Host=h|Connection=TE, upgrade"
        ),
    ]

    @Test("is read as it was sent, and only it", arguments: wellFormed)
    func readsWellFormed(_ row: (text: String, seen: String)) {
        let bytes = latin1(row.text)
        let followed = bytes + latin1("GET /next")
        let expected = Verdict.head(row.seen, consumed: bytes.count)
        #expect(requestVerdict(followed, ends: [followed.count]) == expected)
        #expect(requestVerdict(bytes, ends: 0...bytes.count) == expected)
        for cut in 0..<bytes.count {
            #expect(requestVerdict(followed, ends: [cut, followed.count]) == expected, "cut at \(cut)")
            #expect(requestVerdict(bytes, ends: [cut]) == .needsMore, "cut at \(cut)")
        }
    }

    @Test("may use every byte of its limits and not one more")
    func limitsAreInclusive() {
        let bytes = latin1("GET /abcdefgh HTTP/1.1\r\nHost: h\r\nAbc: d\r\n\r\n")
        var limits = HTTPLimits()
        limits.head = bytes.count
        limits.target = 9
        limits.method = 3
        limits.fieldCount = 2
        limits.fieldName = 4
        let seen = Verdict.head("GET /abcdefgh 1.1|none|keeps|Host=h|Abc=d", consumed: bytes.count)
        #expect(requestVerdict(bytes, ends: [bytes.count], limits: limits) == seen)
        #expect(requestVerdict(bytes, ends: 0...bytes.count, limits: limits) == seen)

        let tightened: [(WritableKeyPath<HTTPLimits, Int>, Verdict)] = [
            (\.head, .refused(.headTooLarge, status: 431)),
            (\.target, .refused(.targetTooLong, status: 414)),
            (\.method, .refused(.methodTooLong, status: 501)),
            (\.fieldCount, .refused(.tooManyFields, status: 431)),
            (\.fieldName, .refused(.fieldNameTooLong, status: 431)),
        ]
        for (limit, verdict) in tightened {
            var tight = limits
            tight[keyPath: limit] -= 1
            #expect(requestVerdict(bytes, ends: [bytes.count], limits: tight) == verdict)
            #expect(requestVerdict(bytes, ends: 0...bytes.count, limits: tight) == verdict)
        }
    }

    @Test("that fills the limit without ending its first line has too long a target")
    func endlessTarget() {
        let bytes = latin1("GET /" + String(repeating: "a", count: 70_000))
        #expect(requestVerdict(bytes, ends: [bytes.count]) == .refused(.targetTooLong, status: 414))
        #expect(
            requestVerdict(bytes, ends: stride(from: 1, through: 70_000, by: 1))
                == .refused(.targetTooLong, status: 414)
        )
    }

    @Test("leaves the parser ready for the next one")
    func parsesSeveral() throws {
        var parser = RequestHeadParser()
        let first = latin1("POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\n")
        let second = latin1("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
        guard case .head(let one, _) = try parser.parse(first.span) else { throw MissingHead() }
        guard case .head(let two, _) = try parser.parse(second.span) else { throw MissingHead() }
        #expect(one.framing == .length(2) && !one.keepsAlive && one.target == "/1")
        #expect(two.framing == .none && two.keepsAlive && two.target == "/2" && two.host == "h")
    }

    @Test("is explained without a byte of it")
    func explains() {
        var parser = RequestHeadParser()
        let bytes = latin1("GET /secret HTTP/1.1\r\nHost: h\r\nAuthorization : token\r\n\r\n")
        let error = #expect(throws: HTTPParseError.self) { try parser.parse(bytes.span) }
        #expect(error?.message == "line 3 of the head: a field has white space before its colon")
    }

    @Test(
        "fails for reasons that all have a text and a status of their own kind",
        arguments: HTTPParseError.Code.allCases
    )
    func everyCodeIsExplained(_ code: HTTPParseError.Code) {
        #expect(!code.explanation.isEmpty && !code.explanation.hasSuffix("."))
        #expect((400...505).contains(code.status.rawValue))
    }
}

private struct MissingHead: Error {}
