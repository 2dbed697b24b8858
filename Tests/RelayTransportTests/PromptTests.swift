import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Testing

@Suite("Requests that are sent without a task", .timeLimit(.minutes(5)))
struct PromptTests {
    /// Takes a request on a connection that answered one before, and ends it.
    private static func endsOnSecond(_ end: ResentRequestTests.End) -> @Sendable (Peer) -> Void {
        { peer in
            guard peer.readRequest() != nil, peer.answer("one"), peer.readRequest() != nil else { return }
            end.happen(to: peer)
        }
    }

    @Test("A request that may not be sent is refused on the spot, and nothing is dialled for it")
    func refused() async throws {
        let server = try ScriptedServer(scripts: [echo])
        try await withTransport { transport in
            for wrong in [
                attempt(server.upstream(), .connect), attempt(server.upstream(), .get, "/a b"),
                attempt(server.upstream(), deadline: .zero),
            ] {
                let failure = await transport.failure(of: wrong)
                guard case .refused(let told) = await transport.prompt(wrong) else {
                    return #expect(Bool(false), "\(wrong) was sent")
                }
                #expect(told.kind == failure?.kind && told.sent == .neverSent)
                #expect(told.detail == failure?.detail)
            }
        }
        #expect(server.connections == 0)
    }

    @Test("A receiver that is told an answer may use the connection at once")
    func again() async throws {
        let server = try ScriptedServer(scripts: [echo])
        try await withTransport { transport in
            _ = try await transport.send(attempt(server.upstream()))
            let answers = await withCheckedContinuation { continuation in
                transport.loop.execute {
                    var chain: Receiver?
                    var count = 0
                    let receiver = Receiver { result in
                        guard case .answer = result, count < 1_000 else {
                            chain = nil
                            return continuation.resume(returning: count)
                        }
                        count += 1
                        if let chain { _ = try? transport.sendNow(attempt(server.upstream()), chain) }
                    }
                    chain = receiver
                    receiver.hasReturned = true
                    _ = try? transport.sendNow(attempt(server.upstream()), receiver)
                }
            }
            #expect(answers == 1_000)
        }
        #expect(server.connections == 1)
    }

    @Test(
        "A connection that was gone is told as such, and what may be repeated goes out once more",
        arguments: ResentRequestTests.End.allCases,
        [true, false]
    )
    func gone(end: ResentRequestTests.End, isRepeatable: Bool) async throws {
        let server = try ScriptedServer(scripts: [Self.endsOnSecond(end), echo])
        try await withTransport { transport in
            _ = try await transport.send(attempt(server.upstream()))
            let request = attempt(server.upstream(), .put, body: .bytes([7]), isRepeatable: isRepeatable)
            let result = await transport.prompt(request)
            guard case .told(.gone(let again)) = result else { return #expect(Bool(false), "\(result)") }
            do throws(Failure) {
                let inbound = try await withTaskExecutorPreference(transport.loop) {
                    () async throws(Failure) in try await again()
                }
                #expect(isRepeatable && inbound.exchange.wasResent && inbound.response.body.bytes == [7])
            } catch {
                #expect(!isRepeatable && error.kind == .connectionTerminated && error.sent == .unknown)
            }
        }
    }

    @Test("A cancellation is told, closes the connection, and harms no later request when it comes late")
    func cancelled() async throws {
        let server = try ScriptedServer(scripts: [
            { peer in
                guard peer.readRequest() != nil, peer.answer("one") else { return }
                _ = peer.drain()
            }, echo,
        ])
        try await withTransport { transport in
            _ = try await transport.send(attempt(server.upstream()))
            let result = await transport.prompt(attempt(server.upstream()), cancels: .atOnce)
            guard case .told(.failure(let failure)) = result else {
                return #expect(Bool(false), "\(result)")
            }
            #expect(failure.kind == .cancelled && failure.sent == .unknown)
            _ = try await transport.send(attempt(server.upstream()))
            for _ in 0..<2 {
                let late = await transport.prompt(attempt(server.upstream()), cancels: .late)
                guard case .told(.answer) = late else { return #expect(Bool(false), "\(late)") }
            }
        }
        #expect(server.connections == 2)
    }

    @Test("A deadline that passes is told")
    func deadline() async throws {
        let server = try ScriptedServer(scripts: [
            { peer in
                guard peer.readRequest() != nil, peer.answer("one") else { return }
                _ = peer.drain()
            }
        ])
        try await withTransport { transport in
            try await doubling { time in
                _ = try? await transport.send(attempt(server.upstream()))
                let result = await transport.prompt(attempt(server.upstream(), deadline: time))
                guard case .told(.failure(let failure)) = result, failure.sent == .unknown else {
                    return false
                }
                #expect(failure.kind == .httpResponseTimeout)
                return true
            }
        }
    }
}

extension Body {
    fileprivate var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
