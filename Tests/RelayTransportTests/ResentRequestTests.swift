import RelayBase
import RelayRoute
import RelayTransport
import Synchronization
import Testing

@Suite("A kept connection that the peer closes as it is used", .timeLimit(.minutes(5)))
struct ResentRequestTests {
    /// How the first connection ends once the second request is there.
    enum End: CaseIterable {
        case close
        case reset

        func happen(to peer: Peer) {
            switch self {
            case .close: peer.close()
            case .reset: peer.reset()
            }
        }
    }

    private static func request(
        _ server: ScriptedServer,
        _ method: Method,
        _ body: Body = .empty,
        isRepeatable: Bool
    ) -> OutboundRequest {
        attempt(server.upstream(), method, body: body, isRepeatable: isRepeatable)
    }

    /// Answers once, takes another request and ends.
    private static func endsOnSecond(_ end: End, before: String = "") -> @Sendable (Peer) -> Void {
        { peer in
            guard peer.readRequest() != nil, peer.answer("one"), peer.readRequest() != nil else { return }
            if !before.isEmpty { peer.write(before) }
            end.happen(to: peer)
        }
    }

    @Test(
        "A request that may be repeated goes out once more on a fresh connection, and says so",
        arguments: End.allCases,
        [Body.empty, .bytes([1, 2, 3]), .bytes([UInt8](repeating: 7, count: 300_000))]
    )
    func resent(end: End, body: Body) async throws {
        let server = try ScriptedServer(scripts: [Self.endsOnSecond(end), echo])
        try await withTransport { transport in
            let first = try await transport.send(Self.request(server, .get, isRepeatable: true))
            #expect(!first.exchange.wasResent)
            let second = try await transport.send(Self.request(server, .put, body, isRepeatable: true))
            #expect(second.response.status == 200)
            #expect(second.exchange.wasResent)
            #expect(!second.exchange.wasReused)
            let content = try await body.collect(limit: .max)
            #expect(try await second.response.body.collect(limit: .max) == content)
            let third = try await transport.send(Self.request(server, .get, isRepeatable: true))
            #expect(!third.exchange.wasResent)
        }
        #expect(server.connections == 2)
    }

    @Test("A request that may not be repeated is sent once, its outcome unknown", arguments: End.allCases)
    func never(end: End) async throws {
        let server = try ScriptedServer(scripts: [Self.endsOnSecond(end), echo])
        try await withTransport { transport in
            _ = try await transport.send(Self.request(server, .get, isRepeatable: true))
            let failure = await transport.failure(
                of: Self.request(server, .post, .bytes([1]), isRepeatable: false)
            )
            #expect(failure?.kind == .connectionTerminated && failure?.sent == .unknown)
            #expect(failure?.exchange?.wasResent == false)
        }
        #expect(server.connections == 1)
    }

    @Test("A body that was streamed and is gone is not sent again")
    func streamed() async throws {
        let server = try ScriptedServer(scripts: [Self.endsOnSecond(.close), echo])
        try await withTransport { transport in
            _ = try await transport.send(Self.request(server, .get, isRepeatable: true))
            let body = Body.stream(Pieces([[1, 2, 3]]))
            let failure = await transport.failure(of: Self.request(server, .put, body, isRepeatable: true))
            #expect(failure?.sent == .unknown)
        }
        #expect(server.connections == 1)
    }

    @Test(
        "Once a byte of an answer came, nothing is sent again",
        arguments: ["H", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 100 Continue\r\n\r\n", "\r\n"]
    )
    func begun(before: String) async throws {
        let server = try ScriptedServer(scripts: [Self.endsOnSecond(.close, before: before), echo])
        try await withTransport { transport in
            _ = try await transport.send(Self.request(server, .get, isRepeatable: true))
            let failure = await transport.failure(of: Self.request(server, .get, isRepeatable: true))
            #expect(failure?.exchange?.wasResent == false)
        }
        #expect(server.connections == 1)
    }

    @Test("It goes out once more, not more often, and stays unknown", arguments: 0..<2)
    func once(stage: Int) async throws {
        let server = try ScriptedServer(scripts: [
            Self.endsOnSecond(.close),
            { peer in if stage == 1 { _ = peer.readRequest() } },
        ])
        try await withTransport { transport in
            _ = try await transport.send(Self.request(server, .get, isRepeatable: true))
            let failure = await transport.failure(of: Self.request(server, .get, isRepeatable: true))
            #expect(failure?.kind == .connectionTerminated && failure?.sent == .unknown)
            #expect(failure?.exchange?.wasResent == true)
        }
        #expect(server.connections == 2)
    }

    /// Counts what is to go on record, and keeps it or not.
    private final class Log: AttemptLog {
        let fails: Bool
        let isTaken: Bool
        let count = Mutex(0)

        init(fails: Bool = false, isTaken: Bool = false) { (self.fails, self.isTaken) = (fails, isTaken) }

        /// Whether it is still this node's once the second sending is on record.
        var maySend: Bool { !isTaken || count.withLock { $0 == 0 } }

        func begin(_ attempt: Attempt, after earlier: ArraySlice<Attempt>) async throws(Failure) -> Bool {
            true
        }

        func resend() async throws(Failure) {
            count.withLock { $0 += 1 }
            if fails { throw Failure(.attemptUnrecorded, sent: .neverSent, "the disk is full") }
        }
    }

    @Test(
        "A kept job's second sending goes on record first, and is none where it cannot",
        arguments: [true, false]
    )
    func recorded(fails: Bool) async throws {
        let server = try ScriptedServer(scripts: [Self.endsOnSecond(.close), echo])
        let log = Log(fails: fails)
        try await withTransport { transport in
            let request = attempt(server.upstream(), .put, body: .bytes([1]), isRepeatable: true, log: log)
            _ = try await transport.send(request)
            #expect(log.count.withLock(\.self) == 0)
            do {
                #expect(try await transport.send(request).exchange.wasResent && !fails)
            } catch let failure as Failure {
                #expect(fails && failure.kind == .connectionTerminated && failure.sent == .unknown)
            }
        }
        #expect(log.count.withLock(\.self) == 1)
        #expect(server.connections == (fails ? 1 : 2))
    }

    @Test("A job that is taken away before its second sending was sent once, and says how that ended")
    func taken() async throws {
        let server = try ScriptedServer(scripts: [Self.endsOnSecond(.close), echo])
        let log = Log(isTaken: true)
        try await withTransport { transport in
            let request = attempt(server.upstream(), .put, body: .bytes([1]), isRepeatable: true, log: log)
            _ = try await transport.send(request)
            let failure = await transport.failure(of: request)
            #expect(failure?.kind == .connectionTerminated && failure?.sent == .unknown)
            #expect(failure?.exchange?.wasResent == false)
        }
        #expect(log.count.withLock(\.self) == 1)
    }

    @Test("A second sending for which there is no connection was none, and leaves the outcome unknown")
    func refused() async throws {
        let server = try ScriptedServer(scripts: [Self.endsOnSecond(.close)])
        try await withTransport { transport in
            _ = try await transport.send(Self.request(server, .get, isRepeatable: true))
            server.stopListening()
            let failure = await transport.failure(of: Self.request(server, .get, isRepeatable: true))
            #expect(failure?.kind == .connectionRefused && failure?.sent == .unknown)
            #expect(failure?.exchange?.wasResent == false)
        }
    }

    @Test("A fresh connection that is closed unanswered is no kept one")
    func fresh() async throws {
        let server = try ScriptedServer { peer in _ = peer.readRequest() }
        try await withTransport { transport in
            let failure = await transport.failure(of: Self.request(server, .get, isRepeatable: true))
            #expect(failure?.exchange?.wasResent == false)
        }
        #expect(server.connections == 1)
    }

    @Test("Where all kept connections are closed the second sending takes none of them")
    func manyKept() async throws {
        let arrived = Mutex(0)
        let together = Gate()
        let server = try ScriptedServer { peer in
            guard peer.number < 8 else { return echo(peer) }
            guard peer.readRequest() != nil else { return }
            if arrived.withLock({
                $0 += 1
                return $0 == 8
            }) {
                together.open()
            }
            together.block()
            guard peer.answer("one") else { return }
            _ = peer.readRequest()
        }
        try await withTransport { transport in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        _ = try await transport.send(Self.request(server, .get, isRepeatable: true))
                    }
                }
                try await group.waitForAll()
            }
            for _ in 0..<4 {
                let answer = try await transport.send(Self.request(server, .get, isRepeatable: true))
                #expect(answer.response.status == 200)
            }
        }
    }

    @Test("The second sending ends with the attempt's deadline")
    func deadline() async throws {
        try await withTransport { transport in
            try await doubling { time in
                let hasSecond = Gate()
                let server = try ScriptedServer(scripts: [
                    Self.endsOnSecond(.close),
                    { peer in
                        hasSecond.open()
                        _ = peer.drain()
                    },
                ])
                _ = try await transport.send(Self.request(server, .get, isRepeatable: true))
                let failure = await transport.failure(
                    of: attempt(server.upstream(), .get, deadline: time, isRepeatable: true)
                )
                guard failure?.exchange?.wasResent == true else { return false }
                #expect(failure?.kind == .httpResponseTimeout && failure?.sent == .unknown)
                await hasSecond.wait()
                #expect(server.connections == 2)
                return true
            }
        }
    }
}
