import RelayHTTP
import Testing

@Suite("A body")
struct BodyDecoderTests {
    static let chunked: [(text: String, body: String)] = [
        ("0\r\n\r\n", ""),
        ("000\r\n\r\n", ""),
        ("3\r\nabc\r\n0\r\n\r\n", "abc"),
        ("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"),
        ("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        ("0000000000000003\r\nabc\r\n0\r\n\r\n", "abc"),
        ("4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"),
        ("3;name\r\nabc\r\n0\r\n\r\n", "abc"),
        ("3;name=value;q=\"a b\"\r\nabc\r\n0;last\r\n\r\n", "abc"),
        ("3;\r\nabc\r\n0\r\n\r\n", "abc"),
        ("3\r\nabc\r\n0\r\nA: b\r\nC:\r\n\r\n", "abc"),
        ("0\r\nContent-Length: 5\r\nHost: x\r\n\r\n", ""),
    ]

    @Test(
        "in chunks comes out whole, without its trailers or a byte beyond",
        arguments: chunked,
        [1, 2, 3, 7, .max]
    )
    func decodesChunks(_ row: (text: String, body: String), size: Int) {
        let bytes = latin1(row.text)
        let result = decode(bytes + latin1("GET /next"), .chunked, size: size)
        #expect(
            result == Decoded(body: latin1(row.body), consumed: bytes.count, isComplete: true, fault: nil)
        )
    }

    static let malformedChunks: [(text: String, fault: HTTPParseError.Code)] = [
        ("\r\nabc\r\n", .badChunkSize),
        ("\n", .badChunkSize),
        (";x\r\n", .badChunkSize),
        (" 3\r\nabc\r\n", .badChunkSize),
        ("3 \r\nabc\r\n", .badChunkSize),
        ("3\t\r\nabc\r\n", .badChunkSize),
        ("3 ;x\r\nabc\r\n", .badChunkSize),
        ("+3\r\nabc\r\n", .badChunkSize),
        ("-3\r\nabc\r\n", .badChunkSize),
        ("0x3\r\nabc\r\n", .badChunkSize),
        ("g\r\n", .badChunkSize),
        ("3_0\r\n", .badChunkSize),
        ("3,\r\nabc\r\n", .badChunkSize),
        ("8000000000000000\r\n", .badChunkSize),
        ("ffffffffffffffff\r\n", .badChunkSize),
        ("10000000000000000\r\n", .badChunkSize),
        ("00000000000000003\r\nabc\r\n", .badChunkSize),
        ("3\nabc\r\n", .bareLineFeed),
        ("3\rabc\r\n", .bareCarriageReturn),
        ("3\r\r\nabc\r\n", .bareCarriageReturn),
        ("3;a\nabc\r\n", .bareLineFeed),
        ("3;a\rabc\r\n", .bareCarriageReturn),
        ("3;a\u{0}\r\nabc\r\n", .badChunkExtension),
        ("3;a\u{7F}\r\nabc\r\n", .badChunkExtension),
        ("3\r\nabcd\r\n", .badChunkEnd),
        ("3\r\nabc\n0\r\n\r\n", .badChunkEnd),
        ("3\r\nabc0\r\n\r\n", .badChunkEnd),
        ("3\r\nabc\rx", .badChunkEnd),
        ("3\r\nabc\r\n\r\n", .badChunkSize),
        ("0\n\r\n", .bareLineFeed),
        ("0\r\n\n", .bareLineFeed),
        ("0\r\n\rx", .bareCarriageReturn),
        ("0\r\n A: b\r\n\r\n", .badTrailer),
        ("0\r\nA\r\n\r\n", .badTrailer),
        ("0\r\nA : b\r\n\r\n", .badTrailer),
        ("0\r\n: b\r\n\r\n", .badTrailer),
        ("0\r\nA: b\r\n c\r\n\r\n", .badTrailer),
        ("0\r\nA: \u{0}\r\n\r\n", .badTrailer),
        ("0\r\nA: b\n\r\n", .bareLineFeed),
        ("0\r\nA: b\rC: d\r\n\r\n", .bareCarriageReturn),
    ]

    @Test("in malformed chunks is refused, in whatever pieces", arguments: malformedChunks, [1, 2, 5, .max])
    func refusesChunks(_ row: (text: String, fault: HTTPParseError.Code), size: Int) {
        let result = decode(latin1(row.text), .chunked, size: size)
        #expect(result.fault == row.fault && !result.isComplete)
    }

    @Test("cannot hide its size in extensions or trailers")
    func boundsOverhead() {
        var limits = HTTPLimits()
        limits.chunkExtensions = 4
        limits.trailers = 8
        #expect(decode(latin1("1;ab\r\nx\r\n1;cd\r\ny\r\n0\r\n\r\n"), .chunked, limits: limits).isComplete)
        #expect(
            decode(latin1("1;ab\r\nx\r\n1;cde\r\ny\r\n0\r\n\r\n"), .chunked, limits: limits).fault
                == .chunkExtensionsTooLarge
        )
        #expect(decode(latin1("0\r\nA: 34\r\n\r\n"), .chunked, limits: limits).isComplete)
        #expect(
            decode(latin1("0\r\nA: 3456789\r\n\r\n"), .chunked, limits: limits).fault == .trailersTooLarge
        )
    }

    @Test("of a stated length takes so many bytes and no more", arguments: [1, 2, .max])
    func counts(size: Int) {
        let result = decode(latin1("hello, next"), .length(5), size: size)
        #expect(result == Decoded(body: latin1("hello"), consumed: 5, isComplete: true, fault: nil))
        #expect(decode([], .length(0), size: size).isComplete)
        #expect(decode(latin1("x"), .none, size: size) == Decoded(isComplete: true))
        #expect(!decode(latin1("hello"), .length(UInt64.max), size: size).isComplete)
    }

    @Test("is whole at the connection's end only when its framing says so")
    func closing() throws {
        var open = BodyDecoder(framing: .untilClose)
        var output: [UInt8] = []
        let step = try open.decode([1, 2].span, into: &output)
        #expect(step.consumed == 2 && !step.isComplete && output == [1, 2])
        let isWhole = open.connectionClosed()
        #expect(isWhole && open.isComplete)

        var counted = BodyDecoder(framing: .length(3))
        _ = try counted.decode([1, 2].span, into: &output)
        let isCut = !counted.connectionClosed()
        #expect(isCut)
        _ = try counted.decode([3].span, into: &output)
        let isCounted = counted.connectionClosed()
        #expect(isCounted)

        var chunked = BodyDecoder(framing: .chunked)
        _ = try chunked.decode(latin1("0\r\n").span, into: &output)
        let lacksEnd = !chunked.connectionClosed()
        #expect(lacksEnd)
        _ = try chunked.decode(latin1("\r\n").span, into: &output)
        let isEnded = chunked.connectionClosed()
        #expect(isEnded)
    }

    @Test("can be passed on from where it stands, without a copy")
    func takesInPlace() throws {
        var counted = BodyDecoder(framing: .length(5))
        let taken = [counted.take(3), counted.take(3), counted.take(3)]
        #expect(taken == [3, 2, 0] && counted.isComplete)
        var open = BodyDecoder(framing: .untilClose)
        let all = open.take(3)
        #expect(all == 3)
        var chunked = BodyDecoder(framing: .chunked)
        let unknown = chunked.take(3)
        #expect(unknown == nil)

        let bytes = latin1("2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n")
        var position = 0
        var runs: [Range<Int>] = []
        while !chunked.isComplete {
            let run = try chunked.next(bytes.span, from: position)
            if !run.isEmpty { runs.append(run) }
            position = run.upperBound
        }
        #expect(runs == [3..<5, 10..<13] && position == bytes.count)
    }
}
