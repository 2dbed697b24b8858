import Glibc
import RelayBase
import RelayPosix
import RelayRoute
import Testing

@testable import RelayTransport

@Suite("A request without a task leaves the loop's buffer alone", .timeLimit(.minutes(5)))
struct PromptBufferTests {
    @Test("Nothing is read while it is begun, so that who begins it may read on from the loop's buffer")
    func buffer() async throws {
        let server = try ScriptedServer { peer in
            // The answer is there before the request is.
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = peer.drain()
        }
        try await withTransport { transport in
            let loop = transport.loop
            let request = attempt(server.upstream())
            let (isWhole, status) = try await withTaskExecutorPreference(loop) {
                try await begun(request, transport, loop)
            }
            #expect(isWhole && status == 200)
        }
    }

    /// Whether the loop's buffer was still whole when the request was begun, and the answer's status.
    @concurrent
    private func begun(
        _ request: OutboundRequest,
        _ transport: LoopTransport,
        _ loop: EventLoop
    ) async throws -> (Bool, Status?) {
        let state = TransportState(
            loop,
            NameResolver(source: testNames),
            { _ in nil },
            SystemClock.wallSeconds,
            nil
        )
        // Its timer would find it gone.
        defer { state.close() }
        guard case .tcp(_, let port, _) = request.upstream.origin else { return (false, nil) }
        let place = SocketAddress.ip(IPAddress(v4: 0x7F00_0001), port: port)
        let connection = Connection(state.pool(for: request.upstream), loop: loop)
        switch Socket.connect(to: place) {
        case .connected(let socket): try loop.add(connection, socket)
        case .underway(let socket): try loop.add(connection, socket)
        case .failed(let errno): throw PosixError("connect", errno)
        }
        connection.phase = .idle
        var entry = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&entry, 1, 60_000) == 1)
        connection.isReadable = true
        var isWhole = false
        let status: Status? = await withCheckedContinuation { continuation in
            unsafe loop.scratch.initializeMemory(as: UInt8.self, repeating: 0xA5)
            let receiver = Told { result in
                guard case .answer(let inbound) = result else { return continuation.resume(returning: nil) }
                continuation.resume(returning: inbound.response.status)
            }
            connection.begin(request, .receiver(receiver, transport, request))
            isWhole = unsafe loop.scratch.allSatisfy { $0 == 0xA5 }
        }
        return (isWhole, status)
    }
}

private final class Told: AnswerReceiver {
    private let tell: (PromptResult) -> Void

    init(_ tell: @escaping (PromptResult) -> Void) { self.tell = tell }

    func received(_ result: PromptResult) { tell(result) }
}
