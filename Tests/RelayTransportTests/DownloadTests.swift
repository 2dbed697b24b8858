import CZlib
import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Testing

@Suite("Response bodies", .timeLimit(.minutes(5)))
struct DownloadTests {
    @Test(
        "Heads that have no body have none, whatever they announce",
        arguments: [
            (Method.head, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
            (.head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            (.get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n"),
            (.get, "HTTP/1.1 204 No Content\r\n\r\n"),
            (.get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ]
    )
    func bodyless(method: Method, head: String) async throws {
        let server = try ScriptedServer { peer in while peer.readRequest() != nil { peer.write(head) } }
        try await withTransport { transport in
            let upstream = server.upstream()
            for _ in 0..<3 {
                let response = try await transport.send(attempt(upstream, method)).response
                guard case .empty = response.body else {
                    Issue.record("a body came out")
                    return
                }
            }
        }
        #expect(server.connections == 1)
    }

    @Test("A 204 that announces a body costs the connection, not the answer")
    func announcingNoContent() async throws {
        let server = try ScriptedServer { peer in
            while peer.readRequest() != nil {
                peer.write("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
        try await withTransport { transport in
            let upstream = server.upstream()
            for number in 1...3 {
                let answer = try await transport.send(attempt(upstream))
                #expect(answer.response.status == 204)
                #expect(server.connections == number)
            }
        }
    }

    @Test(
        "Bodies of every framing arrive whole however they are cut",
        arguments: ["length", "chunked", "close"],
        [1, 7, 4_096, 1_000_000]
    )
    func arriveWhole(framing: String, cut: Int) async throws {
        let body = (0..<(cut == 1 ? 300 : 2_000_000 / (cut < 4_096 ? 100 : 1))).map {
            UInt8(truncatingIfNeeded: $0 >> 2)
        }
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            switch framing {
            case "length": peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            case "chunked": peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            default: peer.write("HTTP/1.1 200 OK\r\n\r\n")
            }
            for start in stride(from: 0, to: body.count, by: cut) {
                let piece = Array(body[start..<min(body.count, start + cut)])
                if framing == "chunked" { peer.write(String(piece.count, radix: 16) + "\r\n") }
                peer.write(piece)
                if framing == "chunked" { peer.write("\r\n") }
            }
            if framing == "chunked" { peer.write("0\r\nTrailer: x\r\n\r\n") }
            if framing != "close" { _ = peer.drain() }
        }
        try await withTransport { transport in
            let answer = try await transport.send(attempt(server.upstream()))
            #expect(try await answer.response.body.collect(limit: 4_000_000) == body)
        }
    }

    @Test("A reader that does not read holds the upstream back")
    func backpressure() async throws {
        let isBlocked = Gate()
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            let block = [UInt8](repeating: 1, count: 65_536)
            // Once the sockets are full this thread stays in `write`, and the gate below shut.
            for _ in 0..<1_024 { guard peer.write(block) else { return } }
            isBlocked.open()
        }
        try await withTransport { transport in
            let answer = try await transport.send(attempt(server.upstream()))
            guard case .stream(let source) = answer.response.body else { return }
            var count = 0
            for _ in 0..<20 { count += try await source.next()?.count ?? 0 }
            #expect(count <= 20 * 131_072)
            source.cancel()
            let failure = await #expect(throws: Failure.self) { _ = try await source.next() }
            #expect(failure?.kind == .cancelled)
        }
    }

    @Test("Interim answers are passed over", arguments: [1, 10])
    func interim(count: Int) async throws {
        let server = try ScriptedServer { peer in
            while peer.readRequest() != nil {
                for _ in 0..<count { peer.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") }
                peer.answer("done")
            }
        }
        try await withTransport { transport in
            let answer = try await transport.send(attempt(server.upstream()))
            #expect(answer.response.status == 200)
            #expect(try await answer.response.body.collect(limit: 9) == Array("done".utf8))
        }
    }

    @Test("Fields come through in order, with their case and their repetitions")
    func fields() async throws {
        let server = try ScriptedServer { peer in
            _ = peer.readRequest()
            peer.answer(fields: "Set-Cookie: a=1\r\nset-cookie: b=2\r\nX-Empty:\r\n")
            _ = peer.drain()
        }
        try await withTransport { transport in
            let fields = try await transport.send(attempt(server.upstream())).response.fields
            #expect(fields.pairs.map(\.name) == ["Content-Length", "Set-Cookie", "set-cookie", "X-Empty"])
            #expect(FieldName("set-cookie").map(fields.values) == ["a=1", "b=2"])
        }
    }
}

@Suite("Content coding", .timeLimit(.minutes(5)))
struct ContentCodingTests {
    private static let text = Array(String(repeating: "the quick brown fox ", count: 500).utf8)

    @Test(
        "Coded content is decoded, and its fields go",
        arguments: ["gzip", "x-gzip", "GZIP", "deflate", "raw deflate"],
        [10, 5_000, 900_000]
    )
    func decodes(coding: String, size: Int) async throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }
        let window: Int32 = coding == "deflate" ? 15 : coding == "raw deflate" ? -15 : 31
        let name = coding == "raw deflate" ? "deflate" : coding
        let (answer, fields) = try await fetch(deflated(content, window), name)
        #expect(!fields.contains(.contentEncoding))
        #expect(!fields.contains(.contentLength))
        #expect(answer == content)
    }

    @Test("Several gzip members are one content")
    func members() async throws {
        let twice = deflated(Self.text, 31) + deflated(Self.text, 31)
        let content = try await fetch(twice, "gzip").content
        #expect(content == Self.text + Self.text)
    }

    @Test("Without the wish to decode, and in codings not known, content passes as it is")
    func passes() async throws {
        let coded = deflated(Self.text, 31)
        for (coding, decodes) in [("gzip", false), ("br", true), ("gzip, gzip", true), ("identity", true)] {
            let (content, fields) = try await fetch(coded, coding, decodes: decodes)
            #expect(content == coded)
            #expect(fields[.contentEncoding] == coding)
        }
        let nothing = try await fetch([], "gzip").content
        #expect(nothing.isEmpty)
    }

    @Test(
        "Damaged content is refused by name",
        arguments: ["cut", "first byte", "junk", "zero", "plain", "flipped"]
    )
    func damaged(kind: String) async throws {
        var coded = deflated(Self.text, 31)
        switch kind {
        case "cut": coded.removeLast(5)
        case "first byte": coded = Array(coded.prefix(1))
        case "junk": coded += Array("junk".utf8)
        case "zero": coded.append(0)
        case "plain": coded = Self.text
        default: coded[coded.count / 2] ^= 0xFF
        }
        let bytes = coded
        let failure = await #expect(throws: Failure.self) { _ = try await fetch(bytes, "gzip") }
        #expect(failure?.kind == .httpResponseContentCoding && failure?.sent == .answered)
    }

    @Test(
        "A bomb is stopped by its ratio, small or large, and by the limit of what is collected",
        arguments: [
            4_000_000, 24_000_000,
        ]
    )
    func bomb(size: Int) async throws {
        let coded = deflated([UInt8](repeating: 0, count: size), 31)
        let failure = await #expect(throws: Failure.self) {
            _ = try await fetch(coded, "gzip", limit: 100_000_000)
        }
        #expect(failure?.kind == .httpResponseBodySize)
        let content = (0..<900_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }
        let limited = await #expect(throws: Failure.self) {
            _ = try await fetch(deflated(content, 31), "gzip", limit: 500_000)
        }
        #expect(limited?.kind == .httpResponseBodySize)
    }

    @Test(
        "A body that arrives whole is decoded at once only within the limit",
        arguments: [(4_999, true), (5_000, false), (90_000, false)]
    )
    func decodedLimit(limit: Int, isLarger: Bool) async throws {
        let content = (0..<5_000).map { UInt8(truncatingIfNeeded: $0 / 50) }
        let coded = deflated(content, 31)
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n"
            // One write: a small answer arrives as a whole.
            peer.write(Array(head.utf8) + coded)
            _ = peer.drain()
        }
        try await withTransport { transport in
            var limits = ResponseLimits()
            limits.decodesContent = true
            limits.body = limit
            let body = try await transport.send(attempt(server.upstream(), limits: limits)).response.body
            var isStream = false
            if case .stream = body { isStream = true }
            #expect(isStream == isLarger)
            #expect(try await body.collect(limit: 5_000) == content)
        }
    }

    private func fetch(
        _ bytes: [UInt8],
        _ coding: String,
        decodes: Bool = true,
        limit: Int = 2_000_000
    ) async throws -> (content: [UInt8], fields: HeaderFields) {
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(
                "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(bytes.count)\r\n\r\n"
            )
            peer.write(bytes)
            _ = peer.drain()
        }
        var content: [UInt8] = []
        var fields = HeaderFields()
        try await withTransport { transport in
            var limits = ResponseLimits()
            limits.decodesContent = decodes
            let response = try await transport.send(attempt(server.upstream(), limits: limits)).response
            fields = response.fields
            content = try await response.body.collect(limit: limit)
        }
        return (content, fields)
    }
}

/// Compresses with zlib: window bits 31 for gzip, 15 for zlib, -15 for raw deflate.
private func deflated(_ content: [UInt8], _ window: Int32) -> [UInt8] {
    var stream = unsafe z_stream()
    let size = unsafe Int32(MemoryLayout<z_stream>.size)
    unsafe deflateInit2_(&stream, 6, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    defer { unsafe _ = deflateEnd(&stream) }
    var content = content
    let room = unsafe Int(deflateBound(&stream, UInt(content.count)))
    return unsafe [UInt8](unsafeUninitializedCapacity: room) { output, count in
        unsafe content.withUnsafeMutableBufferPointer { input in
            unsafe stream.next_in = input.baseAddress
            unsafe stream.avail_in = UInt32(input.count)
            unsafe stream.next_out = output.baseAddress
            unsafe stream.avail_out = UInt32(output.count)
            unsafe _ = deflate(&stream, Z_FINISH)
            unsafe count = output.count - Int(stream.avail_out)
        }
    }
}
