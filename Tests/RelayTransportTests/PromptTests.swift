import RelayCore
import RelayPosix
import RelayTransport
import Testing

@Suite("What is sent without a task", .timeLimit(.minutes(5)))
struct PromptTests {
    /// Takes a request on a connection that answered one before, and ends it.
    private static func endsOnSecond(_ end: ResentRequestTests.End) -> @Sendable (Peer) -> Void {
        { peer in
            guard peer.readRequest() != nil, peer.answer("one"), peer.readRequest() != nil else { return }
            end.happen(to: peer)
        }
    }

    @Test("Goes over a kept connection or not at all, and so does what may not be sent")
    func refused() async throws {
        let server = try ScriptedServer(scripts: [echo])
        try await withTransport { transport in
            #expect(await transport.prompt(attempt(server.upstream())) == nil)
            _ = try await transport.send(attempt(server.upstream()))
            #expect(await transport.prompt(attempt(server.upstream(), .connect)) == nil)
            #expect(await transport.prompt(attempt(server.upstream(), .get, "/a b")) == nil)
            #expect(await transport.prompt(attempt(server.upstream(), deadline: .zero)) == nil)
            let result = await transport.prompt(attempt(server.upstream(), .put, body: .bytes([1, 2])))
            guard case .answer(let inbound) = result else { return #expect(Bool(false), "\(result as Any)") }
            #expect(inbound.response.body.bytes == [1, 2] && inbound.exchange.wasReused)
        }
        #expect(server.connections == 1)
    }

    @Test("Who is told an answer may use the connection at once")
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
                        if let chain, transport.sendNow(attempt(server.upstream()), chain) == nil {
                            continuation.resume(returning: -1)
                        }
                    }
                    chain = receiver
                    receiver.hasReturned = true
                    _ = transport.sendNow(attempt(server.upstream()), receiver)
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
            guard case .gone(let again) = result else { return #expect(Bool(false), "\(result as Any)") }
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
            guard case .failure(let failure) = result else { return #expect(Bool(false), "\(result as Any)") }
            #expect(failure.kind == .cancelled && failure.sent == .unknown)
            _ = try await transport.send(attempt(server.upstream()))
            for _ in 0..<2 {
                let late = await transport.prompt(attempt(server.upstream()), cancels: .late)
                guard case .answer = late else { return #expect(Bool(false), "\(late as Any)") }
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
        try await doubling { time in
            try await withTransport { transport in
                _ = try? await transport.send(attempt(server.upstream()))
                guard let result = await transport.prompt(attempt(server.upstream(), deadline: time)) else {
                    return
                }
                guard case .failure(let failure) = result else {
                    return #expect(Bool(false), "\(result)")
                }
                #expect(failure.kind == .httpResponseTimeout && failure.sent == .unknown)
            }
            return true
        }
    }
}

private enum Cancelling {
    case never
    case atOnce
    /// After it has been told.
    case late
}

/// Has to be told after who sends has gone on.
private final class Receiver: AnswerReceiver {
    var hasReturned = false
    private let tell: (PromptResult) -> Void

    init(_ tell: @escaping (PromptResult) -> Void) { self.tell = tell }

    func received(_ result: PromptResult) {
        #expect(hasReturned)
        tell(result)
    }
}

extension LoopTransport {
    /// What came of a request without a task; nil where it was not sent.
    fileprivate func prompt(_ request: OutboundRequest, cancels: Cancelling = .never) async -> PromptResult? {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                var sending: (any Sending)?
                let receiver = Receiver { result in
                    if cancels == .late { sending?.cancel() }
                    continuation.resume(returning: result)
                }
                sending = sendNow(request, receiver)
                receiver.hasReturned = true
                if sending == nil { continuation.resume(returning: nil) }
                if cancels == .atOnce { sending?.cancel() }
            }
        }
    }
}

extension Body {
    fileprivate var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}
