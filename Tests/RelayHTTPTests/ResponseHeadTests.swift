import RelayBase
import RelayHTTP
import Testing

@Suite("A response head")
struct ResponseHeadTests {
    @Test("is refused with its code when it is malformed", arguments: malformedResponses)
    func refusesMalformed(_ row: MalformedHead) {
        guard case .refused(let code, _) = responseVerdict(row.bytes, ends: [row.bytes.count]) else {
            Issue.record("was accepted")
            return
        }
        #expect(code == row.code)
    }

    @Test("gives the same verdict whatever pieces it comes in", arguments: malformedResponses)
    func isIndependentOfPieces(_ row: MalformedHead) {
        let bytes = row.bytes
        let expected = responseVerdict(bytes, ends: [bytes.count])
        #expect(responseVerdict(bytes, ends: 0...bytes.count) == expected)
        for cut in stride(from: 1, to: bytes.count, by: bytes.count > 2_000 ? 997 : 1) {
            #expect(responseVerdict(bytes, ends: [cut, bytes.count]) == expected, "cut at \(cut)")
        }
    }

    static let wellFormed: [(text: String, method: Method, seen: String)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", .get, "200|length 3|keeps|Content-Length=3"),
        ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", .get, "200|length 0|keeps|Content-Length=0"),
        ("HTTP/1.1 200 \u{FC}ber\tok\r\n\r\n", .get, "200|until close"),
        ("HTTP/1.1 200 OK\r\n\r\n", .get, "200|until close"),
        ("HTTP/1.1 200 OK\r\n\r\n", .head, "200|none|keeps"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", .head, "200|none|keeps|Content-Length=9"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .head,
            "200|none|keeps|Transfer-Encoding=chunked"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n", .get,
            "200|chunked|keeps|Transfer-Encoding=CHUNKED"
        ),
        (
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", .get,
            "304|none|keeps|Content-Length=9"
        ),
        ("HTTP/1.1 204 No Content\r\n\r\n", .get, "204|none|keeps"),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", .get, "204|none|keeps|Content-Length=0"),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", .get, "204|none|Content-Length=4"),
        (
            "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", .get,
            "204|none|Transfer-Encoding=chunked"
        ),
        ("HTTP/1.1 100 Continue\r\n\r\n", .post, "100|none|keeps"),
        ("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", .get, "103|none|keeps|Link=</x>"),
        (
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n", .get,
            "200|length 1|Connection=close|Content-Length=1"
        ),
        (
            "HTTP/1.1 200 OK\r\nConnection: Transfer-Encoding\r\nContent-Length: 1\r\n\r\n", .get,
            "200|length 1|keeps|Connection=Transfer-Encoding|Content-Length=1"
        ),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", .get, "200|length 1|Content-Length=1"),
        (
            "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\n", .get,
            "200|length 1|keeps|Content-Length=1|Connection=Keep-Alive"
        ),
        (
            "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", .get,
            "200|until close|Connection=Keep-Alive"
        ),
        ("HTTP/1.1 599 \r\nContent-Length: 1\r\n\r\n", .get, "599|length 1|keeps|Content-Length=1"),
    ]

    @Test("is read as it was sent, and only it", arguments: wellFormed)
    func readsWellFormed(_ row: (text: String, method: Method, seen: String)) {
        let bytes = latin1(row.text)
        let followed = bytes + latin1("body\r\n\r\n")
        let expected = Verdict.head(row.seen, consumed: bytes.count)
        #expect(responseVerdict(followed, ends: [followed.count], method: row.method) == expected)
        #expect(responseVerdict(bytes, ends: 0...bytes.count, method: row.method) == expected)
        for cut in 0..<bytes.count {
            #expect(responseVerdict(followed, ends: [cut, followed.count], method: row.method) == expected)
            #expect(responseVerdict(bytes, ends: [cut], method: row.method) == .needsMore)
        }
    }

    @Test("follows an interim one through the same parser")
    func interimThenFinal() throws {
        var parser = ResponseHeadParser(requestMethod: .get)
        let bytes = latin1(
            "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        )
        guard case .head(let interim, let consumed) = try parser.parse(bytes.span) else {
            Issue.record("no interim head")
            return
        }
        #expect(interim.isInterim && interim.status == 100)
        guard case .head(let final, _) = try parser.parse(bytes.span.extracting(consumed..<bytes.count))
        else {
            Issue.record("no final head")
            return
        }
        #expect(!final.isInterim && final.status == 200 && final.framing == .length(2))
        #expect(final.fields.count == 1)
    }
}
