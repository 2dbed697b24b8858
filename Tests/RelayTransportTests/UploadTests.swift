import RelayBase
import RelayPosix
import RelayRoute
import RelayTestSupport
import RelayTransport
import Testing

@Suite("Request bodies", .timeLimit(.minutes(5)))
struct UploadTests {
    @Test(
        "Bodies of every size arrive whole, from memory and as a stream, with and without a length",
        arguments: [
            0, 1, 1_024, 16_384, 16_385, 300_000, 3_145_728,
        ]
    )
    func arriveWhole(size: Int) async throws {
        let server = try ScriptedServer(echo)
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let pieces = stride(from: 0, to: size, by: 65_536).map { Array(bytes[$0..<min(size, $0 + 65_536)]) }
        try await withTransport { transport in
            let upstream = server.upstream()
            let bodies: [Body] = [
                .bytes(bytes), .stream(Pieces(pieces, length: UInt64(size))), .stream(Pieces(pieces)),
            ]
            for body in bodies {
                let answer = try await transport.send(attempt(upstream, .post, body: body))
                #expect(try await answer.response.body.collect(limit: size) == bytes)
            }
        }
        #expect(server.connections == 1)
    }

    /// Made anew for each run: what was read of a stream is gone.
    private static let framings: [(method: Method, body: @Sendable () -> Body, expected: String)] = [
        (.get, { .empty }, ""), (.delete, { .empty }, ""), (.post, { .empty }, "content-length: 0"),
        (.put, { .bytes([]) }, "content-length: 0"), (.post, { .bytes([1, 2]) }, "content-length: 2"),
        (.get, { .bytes([1, 2]) }, "content-length: 2"),
        (.post, { .stream(Pieces([[1, 2]], length: 2)) }, "content-length: 2"),
        (.post, { .stream(Pieces([[1, 2]])) }, "transfer-encoding: chunked"),
    ]

    @Test("Framing is announced as it is: length, chunks or nothing, and Host once", arguments: framings)
    func framing(method: Method, body: @Sendable () -> Body, expected: String) async throws {
        let server = try ScriptedServer { peer in
            while let (head, _) = peer.readRequest() { peer.answer(head) }
        }
        try await withTransport { transport in
            // A field that could contradict the transport's own framing is not passed on; all others are.
            let request = attempt(
                server.upstream(),
                method,
                "/a?b=c",
                body: body(),
                fields: [
                    ("Host", "evil.test"), ("Content-Length", "77"), ("Transfer-Encoding", "chunked"),
                    ("Connection", "close"), ("X-Kept", "yes"), ("x-kept", "twice"),
                ]
            )
            let answer = try await transport.send(request)
            let text = String(decoding: try await answer.response.body.collect(limit: 10_000), as: UTF8.self)
            let lines = text.split(separator: "\r\n").map(String.init)
            #expect(lines.first == "\(method.rawValue) /a?b=c HTTP/1.1")
            let framing = lines.filter {
                let line = $0.lowercased()
                return line.hasPrefix("content-length") || line.hasPrefix("transfer-encoding")
            }
            #expect(framing.map { $0.lowercased() } == (expected.isEmpty ? [] : [expected]))
            #expect(lines.filter { $0.hasPrefix("Host:") } == ["Host: 127.0.0.1:\(server.port)"])
            #expect(lines.filter { $0.lowercased().hasPrefix("x-kept") } == ["X-Kept: yes", "x-kept: twice"])
            #expect(!lines.contains { $0.lowercased().hasPrefix("connection") })
        }
    }

    @Test("An upstream that does not read holds the source back")
    func backpressure() async throws {
        let mayRead = Gate()
        let server = try ScriptedServer { peer in
            _ = peer.readHead()
            mayRead.block()
            peer.answer("done")
            _ = peer.drain()
        }
        let source = Pieces([[UInt8](repeating: 7, count: 65_536)], endless: true)
        try await withTransport { transport in
            let task = Task {
                try await transport.send(attempt(server.upstream(), .post, body: .stream(source)))
            }
            // A hundred turns of the loop without a piece: the socket is full and the source waits.
            var (seen, quiet) = (0, 0)
            while quiet < 100 {
                await turn(transport.loop)
                quiet = seen > 0 && seen == source.taken ? quiet + 1 : 0
                seen = source.taken
            }
            #expect(source.taken < 1_000)
            task.cancel()
            _ = try? await task.value
            #expect(source.wasCancelled)
        }
        mayRead.open()
    }

    @Test(
        "An answer that comes while the body is still going out is delivered, and the rest is not sent",
        arguments: [
            "413 Content Too Large", "401 Unauthorized", "302 Found",
        ]
    )
    func earlyAnswer(status: String) async throws {
        let server = try ScriptedServer(scripts: [
            { peer in
                _ = peer.readHead()
                peer.answer("no", status: status)
                _ = peer.drain()
            }, echo,
        ])
        try await withTransport { transport in
            let upstream = server.upstream()
            let source = Pieces([[UInt8](repeating: 7, count: 65_536)], endless: true)
            let answer = try await transport.send(attempt(upstream, .post, body: .stream(source)))
            #expect(answer.response.status.rawValue == UInt16(status.prefix(3)))
            #expect(try await answer.response.body.collect(limit: 10) == Array("no".utf8))
            #expect(source.wasCancelled)
            let next = try await transport.send(attempt(upstream))
            #expect(!next.exchange.wasReused)
        }
        #expect(server.connections == 2)
    }

    @Test("An answer that comes while the source is silent is delivered at once")
    func earlyAnswerToSilence() async throws {
        let server = try ScriptedServer { peer in
            _ = peer.readHead()
            peer.answer("no", status: "403 Forbidden")
            _ = peer.drain()
        }
        try await withTransport { transport in
            let answer = try await transport.send(
                attempt(server.upstream(), .post, body: .stream(Silence()))
            )
            #expect(answer.response.status == 403)
        }
    }

    @Test("An answer given before the connection is slammed shut is found although writing fails")
    func answerBeforeClose() async throws {
        let server = try ScriptedServer { peer in
            _ = peer.readHead()
            peer.answer("no", status: "413 Content Too Large", fields: "Connection: close\r\n")
        }
        try await withTransport { transport in
            // Whether the answer outruns the reset that follows unread bytes is the network's choice; a hang
            // or a wrong verdict is not.
            let large = [UInt8](repeating: 0, count: 16 * 1_048_576)
            do throws(Failure) {
                let answer = try await transport.send(attempt(server.upstream(), .post, body: .bytes(large)))
                #expect(answer.response.status == 413)
            } catch {
                #expect(error.kind == .connectionTerminated)
                #expect(error.sent == .unknown)
            }
        }
    }

    @Test("A success that begins while the body is going out lets both go on")
    func fullDuplex() async throws {
        let server = try ScriptedServer { peer in
            _ = peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
            guard let body = peer.readBytes(300_000) else { return }
            peer.write(body)
            _ = peer.drain()
        }
        try await withTransport { transport in
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
            let source = Pieces([bytes], length: 300_000)
            let answer = try await transport.send(attempt(server.upstream(), .post, body: .stream(source)))
            #expect(try await answer.response.body.collect(limit: 300_000) == bytes)
        }
    }

    private static let broken: [(source: @Sendable () -> any BodySource, kind: FailureKind)] = [
        ({ Pieces([[1, 2, 3]], length: 2) }, .preparation),
        ({ Pieces([[1, 2, 3]], length: 4) }, .preparation),
        ({ Broken() }, .clientGone),
    ]

    @Test(
        "A source that is longer or shorter than it said, or fails, ends the attempt by name",
        arguments: broken
    )
    func brokenSource(source: @Sendable () -> any BodySource, kind: FailureKind) async throws {
        let server = try ScriptedServer { peer in _ = peer.drain() }
        try await withTransport { transport in
            let failure = await transport.failure(
                of: attempt(server.upstream(), .post, body: .stream(source()))
            )
            #expect(failure?.kind == kind && failure?.sent == .unknown)
        }
    }

    @Test("A Unix-socket upstream is served like any other", arguments: [3, 1_000_000])
    func unixUpstream(size: Int) async throws {
        let folder = TemporaryFolder()
        let server = try ScriptedServer(path: folder.path + "/up.sock", echo)
        try await withTransport { transport in
            let upstream = server.upstream()
            let bytes = [UInt8](repeating: 9, count: size)
            for _ in 0..<3 {
                let answer = try await transport.send(attempt(upstream, .post, body: .bytes(bytes)))
                #expect(try await answer.response.body.collect(limit: size) == bytes)
            }
        }
        #expect(server.connections == 1)
    }
}

/// A body whose sender goes away after the first piece.
private final class Broken: BodySource {
    let length: UInt64? = nil
    let wasRead = false
    private let first = PieceQueue([[1, 2, 3]], false)

    func next() async throws(Failure) -> [UInt8]? {
        if let piece = first.next() { return piece }
        throw Failure(.clientGone, sent: .neverSent, "the client went away")
    }

    func cancel() {}
}
