import RelayBase

/// An answer that must become a named failure.
struct HostileAnswer: Sendable, CustomStringConvertible {
    var name: String
    var bytes: [UInt8]
    var then: Then = .close
    var kind: FailureKind
    var sent: Sent
    var decodes = false

    /// The server's next step once the bytes are out.
    enum Then: Sendable {
        case close
        case reset
        /// Keeps the connection open until the client closes it.
        case hold
        /// Sends `filler` until the client is gone.
        case fill(String)
    }

    var description: String { name }

    /// Whether it ends with a reset, which takes back small segments that were not acknowledged.
    var resets: Bool {
        if case .reset = then { true } else { false }
    }

    static func answer(
        _ name: String,
        _ text: String,
        _ then: Then = .hold,
        _ kind: FailureKind = .httpProtocolError,
        _ sent: Sent = .unknown
    ) -> HostileAnswer {
        HostileAnswer(name: name, bytes: Array(text.utf8), then: then, kind: kind, sent: sent)
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    private static let headSize = FailureKind.httpResponseHeaderSectionSize
    private static let incomplete = FailureKind.httpResponseIncomplete
    private static let bodySize = FailureKind.httpResponseBodySize

    static let statusLines: [HostileAnswer] = [
        answer("nothing", "", .close, .connectionTerminated),
        answer("a reset", "", .reset, .connectionTerminated),
        answer("garbage", "garbage\r\n\r\n"),
        answer("HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n"),
        answer("HTTP/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n"),
        answer("HTTP/0.9", "<html>hello</html>\n"),
        answer("two digits", "HTTP/1.1 20 OK\r\n\r\n"),
        answer("four digits", "HTTP/1.1 2000 OK\r\n\r\n"),
        answer("status 099", "HTTP/1.1 099 X\r\n\r\n"),
        answer("status 600", "HTTP/1.1 600 X\r\n\r\n"),
        answer("status in letters", "HTTP/1.1 abc OK\r\n\r\n"),
        answer("two spaces", "HTTP/1.1  200 OK\r\n\r\n"),
        answer("lower case", "http/1.1 200 OK\r\n\r\n"),
        answer("line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"),
        answer("carriage returns alone", "HTTP/1.1 200 OK\rContent-Length: 0\r\r\n"),
        answer("a zero in the reason", "HTTP/1.1 200 O\0K\r\n\r\n"),
        answer("another protocol's greeting", "SSH-2.0-OpenSSH_9.2\r\n"),
        answer("ICY", "ICY 200 OK\r\n\r\n"),
        HostileAnswer(
            name: "a TLS alert",
            bytes: [0x15, 3, 1, 0, 2, 2, 0x28],
            then: .close,
            kind: .httpProtocolError,
            sent: .unknown
        ),
        answer("101 unasked", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"),
    ]

    static let fields: [HostileAnswer] = [
        answer("a folded field", ok + "A: b\r\n c\r\n\r\n"),
        answer("a field without colon", ok + "hello\r\n\r\n"),
        answer("a space before the colon", ok + "A : b\r\n\r\n"),
        answer("an empty field name", ok + ": b\r\n\r\n"),
        answer("a space in a field name", ok + "A b: c\r\n\r\n"),
        answer("a zero in a value", ok + "A: b\0c\r\n\r\n"),
        answer("a bare CR in a value", ok + "A: b\rc\r\n\r\n"),
        answer("a bare LF in a value", ok + "A: b\nSet-Cookie: c\r\n\r\n"),
        answer("Connection that strips framing", ok + "Connection: close, content-length\r\n\r\n"),
        answer(
            "300 fields",
            ok + String(repeating: "A: b\r\n", count: 300) + "\r\n",
            .hold,
            headSize,
            .answered
        ),
        answer(
            "a head of 70 KiB",
            ok + "A: " + String(repeating: "b", count: 71_680) + "\r\n\r\n",
            .hold,
            headSize,
            .answered
        ),
        answer("an endless head of one line", ok + "A: ", .fill("bbbbbbbbbbbbbbbb"), headSize, .answered),
        answer("an endless head of many lines", ok, .fill("A: bbbbbbbbbbb\r\n"), headSize, .answered),
        answer(
            "a field name of 300 bytes",
            ok + String(repeating: "A", count: 300) + ": b\r\n\r\n",
            .hold,
            headSize,
            .answered
        ),
        answer("a head that is cut", ok + "Content-Le", .close, incomplete),
        answer("a status line that is cut", "HTTP/1.", .close, incomplete),
        answer("a head that is reset", ok + "Content-Le", .reset, .connectionTerminated),
    ]

    static let framing: [HostileAnswer] = [
        answer("two different lengths", ok + "Content-Length: 3\r\nContent-Length: 5\r\n\r\nhello"),
        answer("the same length twice", ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
        answer("a list of lengths", ok + "Content-Length: 5, 5\r\n\r\nhello"),
        answer("a length with a sign", ok + "Content-Length: +5\r\n\r\nhello"),
        answer("a negative length", ok + "Content-Length: -5\r\n\r\nhello"),
        answer("a hexadecimal length", ok + "Content-Length: 0x5\r\n\r\nhello"),
        answer("a length of 20 digits", ok + "Content-Length: 99999999999999999999\r\n\r\nhello"),
        answer("an empty length", ok + "Content-Length: \r\n\r\nhello"),
        answer("a length with a space", ok + "Content-Length: 5 5\r\n\r\nhello"),
        answer("both framings", ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        answer("an unknown transfer coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        answer("chunked twice", ok + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
        answer(
            "two transfer codings",
            ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        answer("nearly chunked", ok + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        answer("identity", ok + "Transfer-Encoding: identity\r\n\r\nhello"),
        answer("chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ]

    static let chunks: [HostileAnswer] = [
        answer("a chunk size of letters", chunked + "zz\r\nhello", .hold, .httpProtocolError, .answered),
        answer("no chunk size", chunked + "\r\nhello", .hold, .httpProtocolError, .answered),
        answer("a negative chunk size", chunked + "-5\r\nhello", .hold, .httpProtocolError, .answered),
        answer("a chunk size with 0x", chunked + "0x5\r\nhello", .hold, .httpProtocolError, .answered),
        answer(
            "a chunk size with a space",
            chunked + "5 \r\nhello\r\n",
            .hold,
            .httpProtocolError,
            .answered
        ),
        answer(
            "a chunk size of 18 digits",
            chunked + "ffffffffffffffffff\r\n",
            .hold,
            .httpProtocolError,
            .answered
        ),
        answer(
            "a negative 64-bit size",
            chunked + "ffffffffffffffff\r\n",
            .hold,
            .httpProtocolError,
            .answered
        ),
        answer(
            "a chunk longer than its size",
            chunked + "5\r\nhelloXX\r\n",
            .hold,
            .httpProtocolError,
            .answered
        ),
        answer("chunk lines with LF", chunked + "5\nhello\n0\n\n", .hold, .httpProtocolError, .answered),
        answer(
            "a control byte in an extension",
            chunked + "5;a=\u{1}\r\nhello\r\n",
            .hold,
            .httpProtocolError,
            .answered
        ),
        answer(
            "an endless extension",
            chunked + "5;",
            .fill("aaaaaaaaaaaaaaaa"),
            .httpProtocolError,
            .answered
        ),
        answer(
            "endless trailers",
            chunked + "0\r\n",
            .fill("A: bbbbbbbbbbb\r\n"),
            .httpProtocolError,
            .answered
        ),
        answer("a bad trailer", chunked + "0\r\nhello\r\n\r\n", .hold, .httpProtocolError, .answered),
        answer("no last chunk", chunked + "5\r\nhello\r\n", .close, incomplete),
        answer("a cut chunk", chunked + "5\r\nhe", .close, incomplete),
        answer("a cut chunk size", chunked + "5", .close, incomplete),
        answer("a reset among chunks", chunked + "5\r\nhello\r\n", .reset, incomplete),
    ]

    static let bodies: [HostileAnswer] = [
        answer("a cut body", ok + "Content-Length: 10\r\n\r\nabc", .close, incomplete),
        answer("no body at all", ok + "Content-Length: 10\r\n\r\n", .close, incomplete),
        answer("a reset body", ok + "Content-Length: 10\r\n\r\nabc", .reset, incomplete),
        answer("an endless body", ok + "\r\n", .fill("aaaaaaaaaaaaaaaa"), bodySize, .answered),
        answer(
            "endless chunks",
            chunked,
            .fill("10\r\naaaaaaaaaaaaaaaa\r\n"),
            bodySize,
            .answered
        ),
        answer(
            "a body announced too large",
            ok + "Content-Length: 9223372036854775807\r\n\r\nabc",
            .hold,
            bodySize,
            .answered
        ),
        answer(
            "1,000 interim answers",
            String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 1_000)
        ),
        answer("interim answers without end", "", .fill("HTTP/1.1 100 Continue\r\n\r\n")),
        answer("an interim answer with a body", "HTTP/1.1 103 X\r\nContent-Length: 5\r\n\r\nhello"),
        answer("only an interim answer", "HTTP/1.1 100 Continue\r\n\r\n", .close, incomplete),
    ]

    static let all = statusLines + fields + framing + chunks + bodies
}
