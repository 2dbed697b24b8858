import RelayBase
import RelayRoute
import RelayTransport
import Testing

@Suite("Hostile answers", .timeLimit(.minutes(5)))
struct HostileAnswerTests {
    @Test(
        "Each becomes its named failure, and the next request on the transport succeeds",
        arguments: HostileAnswer.all
    )
    func becomesFailure(hostile: HostileAnswer) async throws {
        let server = try ScriptedServer(scripts: [play(hostile), echo])
        try await withTransport { transport in
            let upstream = server.upstream()
            var limits = ResponseLimits()
            limits.body = 262_144
            let failure = await #expect(throws: Failure.self) {
                let answer = try await transport.send(attempt(upstream, limits: limits))
                _ = try await answer.response.body.collect(limit: limits.body)
            }
            #expect(failure?.kind == hostile.kind && failure?.sent == hostile.sent)
            let next = try await transport.send(attempt(upstream, .post, body: .bytes([1, 2, 3])))
            #expect(try await next.response.body.collect(limit: 10) == [1, 2, 3])
        }
    }

    @Test("The table is as long as it has to be")
    func size() {
        #expect(HostileAnswer.all.count >= 75)
        #expect(Set(HostileAnswer.all.map(\.name)).count == HostileAnswer.all.count)
    }

    @Test(
        "Split into single bytes they become the same failures",
        arguments: HostileAnswer.all.filter { $0.bytes.count < 200 && !$0.resets }
    )
    func splitBytes(hostile: HostileAnswer) async throws {
        let server = try ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            for byte in hostile.bytes { peer.write([byte]) }
            finish(peer, hostile)
        }
        try await withTransport { transport in
            let failure = await #expect(throws: Failure.self) {
                let answer = try await transport.send(attempt(server.upstream()))
                _ = try await answer.response.body.collect(limit: 65_536)
            }
            #expect(failure?.kind == hostile.kind)
        }
    }
}

private func play(_ hostile: HostileAnswer) -> @Sendable (Peer) -> Void {
    { peer in
        guard peer.readRequest() != nil else { return }
        peer.write(hostile.bytes)
        finish(peer, hostile)
    }
}

private func finish(_ peer: Peer, _ hostile: HostileAnswer) {
    switch hostile.then {
    case .close: break
    case .reset: peer.reset()
    case .hold: _ = peer.drain()
    case .fill(let filler):
        let block = Array(String(repeating: filler, count: 1_024).utf8)
        while peer.write(block) {}
    }
}
