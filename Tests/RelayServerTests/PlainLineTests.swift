import RelayBase
import RelayEngine
import RelayHTTP
import RelayJSON
import RelayRoute
import RelayTestSupport
import Testing

@testable import RelayServer

@Suite("Lines of a stream that are read where they stand")
struct PlainLineTests {
    /// The request that a line is written as; nil where it is left to the ordinary reader.
    private func request(_ line: [UInt8]) throws -> [UInt8]? {
        var plain = PlainLine()
        guard plain.read(line.span) else { return nil }
        let bytes = unsafe Array(plain.request.bytes)
        let policy = try #require(PassThroughPolicy(makeRoute(), []))
        let (route, fields) = (plain.route, plain.fields)
        let isTaken = unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress, let head = unsafe PassThroughLine(base, bytes.count),
                head.route == route, head.fields == fields
            else { return false }
            let room = UnsafeMutablePointer<UInt8>.allocate(capacity: 65_536)
            defer { unsafe room.deallocate() }
            let fields = unsafe PassThroughFields(
                base,
                head.fields,
                bytes.count,
                policy.edits,
                isKept: false,
                to: room
            )
            return fields != nil
        }
        return isTaken ? bytes : nil
    }

    private func request(_ line: String) throws -> String? {
        try request(Array(line.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "A plain line is written as the request that it stands for",
        arguments: [
            (#"{"route":"up"}"#, "POST /r/up/ HTTP/1.1\nHost: line\nContent-Length: 0\n\n"),
            (
                #"{"id":"7","route":"up","mode":"sync","request":{"method":"GET","path":"a/b.c?x=1"}}"#,
                "GET /r/up/a/b.c?x=1 HTTP/1.1\nHost: line\nContent-Length: 0\n\n"
            ),
            (
                #"{"request":{"json":{"a":[1,2]},"headers":{"X-B":"c d"},"path":"/p"},"route":"up"}"#,
                "POST /r/up/p HTTP/1.1\nHost: line\nContent-Type: application/json\nX-B: c d\n"
                    + "Content-Length: 11\n\n{\"a\":[1,2]}"
            ),
            (
                #"{"route":"up","request":{"headers":{"X-B":"c"},"json": {"a": "\u0062\n"} }}"#,
                "POST /r/up/ HTTP/1.1\nHost: line\nX-B: c\nContent-Type: application/json\n"
                    + "Content-Length: 11\n\n{\"a\":\"b\\n\"}"
            ),
            (
                #"{"route":"up","request":{"json":"x","headers":{"content-TYPE":"a/b"}}}"#,
                "POST /r/up/ HTTP/1.1\nHost: line\ncontent-TYPE: a/b\nContent-Length: 3\n\n\"x\""
            ),
            (
                #"{"route":"up","request":{"text":"a\tb","query":{"q":"1","r":""},"path":"x?y=2"}}"#,
                "POST /r/up/x?y=2&q=1&r= HTTP/1.1\nHost: line\nContent-Length: 3\n\na\tb"
            ),
        ]
    )
    func written(_ line: String, _ wanted: String) throws {
        #expect(try request(line)?.replacing("\r\n", with: "\n") == wanted)
    }

    @Test(
        "A field that no job may set is left to the reader that says so",
        arguments: Submission.reserved.sorted()
    )
    func reserved(name: String) throws {
        for name in [name, name.uppercased()] {
            #expect(try request(#"{"route":"up","request":{"headers":{"\#(name)":"keep-alive"}}}"#) == nil)
        }
    }

    @Test(
        "A line that says more than what is sent where is left to the ordinary reader",
        arguments: [
            #"{}"#, #"[]"#, #"{"request":{}}"#, #"{"route":""}"#, #"{"route":"up","mode":"async"}"#,
            #"{"route":5}"#,
            #"{"route":"up","options":{}}"#, #"{"route":"up","request":[]}"#, #"{"route":"up/x"}"#,
            #"{"route":"up?x"}"#, #"{"route":"up HTTP/1.1"}"#, #"{"route":"up","id":""}"#,
            #"{"route":"\u0075p"}"#,
            #"{"route":"up","request":{"path":"a b"}}"#, #"{"route":"up","request":{"path":"x HTTP/1.1"}}"#,
            #"{"route":"up","request":{"path":"a//b"}}"#, #"{"route":"up","request":{"path":"../b"}}"#,
            #"{"route":"up","request":{"method":"GET /r/down"}}"#, #"{"route":"up","request":{"method":""}}"#,
            #"{"route":"up","request":{"method":"HEAD"}}"#, #"{"route":"up","request":{"base64":"YQ=="}}"#,
            #"{"route":"up","request":{"text":"a","json":1}}"#, #"{"route":"up","request":{"text":5}}"#,
            #"{"route":"up","request":{"headers":{"X: y":"z"}}}"#,
            #"{"route":"up","request":{"headers":{"X":5}}}"#,
            #"{"route":"up","request":{"headers":{"X":"a","x":"b"}}}"#,
            #"{"route":"up","request":{"headers":{"X":""}}}"#,
            #"{"route":"up","request":{"headers":{"X":"a\r\nY: b"}}}"#,
            #"{"route":"up","request":{"headers":{"X":" a"}}}"#,
            #"{"route":"up","request":{"headers":{"Idempotency-Key":"k"}}}"#,
            #"{"route":"up","request":{"headers":{"Waystation-Timeout":"5s"}}}"#,
            #"{"route":"up","request":{"headers":{"Priority":"u=1"}}}"#,
            #"{"route":"up","request":{"query":{"a":"b c"}}}"#,
            #"{"route":"up"}x"#, #"{"route":"up","route":"up"}"#,
        ]
    )
    func left(line: String) throws {
        #expect(try request(line) == nil)
    }

    @Test("A line that is taken means what the ordinary reader makes of it", arguments: UInt64(0)..<400)
    func agrees(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var line = Array(Self.line(&random).utf8)
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            line[Int.random(in: line.indices, using: &random)] =
                Array("\"\\{}[],: a0/\n?.".utf8)
                .randomElement(using: &random) ?? 0
        }
        guard let request = try request(line) else { return }
        let job = StreamedJob(line)
        let submission = try job.submission.get()
        var parser = RequestHeadParser()
        guard case .head(let head, let consumed) = try parser.parse(request.span) else {
            Issue.record("the request has no head")
            return
        }
        let target = try RelayTarget.parse(head.target)
        #expect(target.route == submission.route && target.remainder == submission.target)
        #expect(head.method == submission.method && !submission.hasEmptySegment)
        #expect(Array(request[consumed...]) == submission.body && submission.isAsynchronous != true)
        let own = head.fields.pairs.filter { !["Host", "Content-Length"].contains($0.name) }
        #expect(own.map(\.name) == submission.fields.pairs.map(\.name))
        #expect(own.map(\.value) == submission.fields.pairs.map(\.value))
    }

    @Test("Most lines that a program writes are taken")
    func most() throws {
        let taken = try (0..<400 as Range<UInt64>).count { seed in
            var random = SplitMix64(seed: seed)
            return try request(Self.line(&random)) != nil
        }
        #expect(taken > 100)
    }

    /// A line of members in any order, most of them plain.
    private static func line(_ random: inout SplitMix64) -> String {
        func some(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        let headers = [
            #""X-A":"1""#, #""x-a":"2""#, #""Content-Type":"a/b""#, #""User-Agent":"é""#, #""B":"c d""#,
        ]
        .filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
        let query = [#""a":"b""#, #""c":"""#, #""d":"e f""#].filter { _ in
            Int.random(in: 0..<4, using: &random) == 0
        }
        let content = some([
            #""json":{"a":[1,{}],"é":"x\ny"}"#, #""json": [1, 2.50]"#, #""text":"a\\b""#, #""json":"\u0041""#,
            #""text":"""#,
        ])
        let request = [
            #""path":"\#(some(["", "/", "a/b", "/a.b?c=d", "x/", "a b"]))""#, content,
            #""headers":{\#(headers.joined(separator: ","))}"#,
            #""query":{\#(query.joined(separator: ", "))}"#,
            #""method":"\#(some(["GET", "PUT", "DELETE", "PATCH", "POST", "OPTIONS"]))""#,
        ].filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
        let members = [
            #""route":"up""#, #""request": {\#(request.joined(separator: ","))}"#, #""id":"a""#,
            #""mode":"sync""#,
        ].shuffled(using: &random)
        return "{\(members.joined(separator: some([",", " , "])))}"
    }
}
