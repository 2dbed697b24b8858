import RelayBase
import RelayPosix
import RelayServer
import RelayTestSupport
import Testing

@Suite("A stream of jobs that says nothing", .timeLimit(.minutes(5)))
struct StreamIdleTests {
    private static let head =
        "POST /v1/stream HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    private static let job = "26\r\n{\"route\":\"up\",\"request\":{\"path\":\"/\"}}\n\r\n"

    private func limits() -> ServerLimits {
        var limits = ServerLimits()
        limits.streamIdle = .milliseconds(100)
        return limits
    }

    @Test("With no job under way it is told so and ended, and cannot be taken for whole")
    func idle() throws {
        let served = try ServedLoop([], limits: limits())
        let caller = try LoopbackCaller(served.address)
        caller.send(Self.head + "2\r\nx\n\r\n5\r\n{\"rou\r\n")
        let answer = caller.read()
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains("{\"line\":1,\"ok\":false") && answer.contains("invalid_job"))
        #expect(answer.contains("{\"line\":2,\"ok\":false") && answer.contains("request_timeout"))
        #expect(answer.hasSuffix("\r\n(end)") && !answer.contains("\r\n0\r\n"))
    }

    @Test("With a job under way it may be silent for as long as that takes")
    func busy() throws {
        let served = try ServedLoop(
            [.hold, .hold, .answer(200, [], "held"), .answer(200, [], "held")],
            limits: limits()
        )
        let busy = try LoopbackCaller(served.address)
        busy.send(Self.head + Self.job)
        _ = busy.read(until: "\r\n\r\n")
        let last = try LoopbackCaller(served.address)
        last.send(Self.head + Self.job)
        _ = last.read(until: "\r\n\r\n")
        // Streams that begin later end by their idle time: so much has passed.
        for _ in 0..<3 {
            let idle = try LoopbackCaller(served.address)
            idle.send(Self.head)
            let answer = idle.read()
            #expect(answer.contains("request_timeout"))
        }
        served.transport.release()
        let held = busy.read(until: "\n\r\n")
        #expect(held.contains("{\"line\":1,\"ok\":true") && held.contains("\"text\":\"held\""))
        busy.send("2\r\nx\n\r\n")
        let rest = busy.read()
        #expect(rest.contains("{\"line\":2,\"ok\":false") && rest.contains("invalid_job"))
        #expect(rest.contains("{\"line\":3,\"ok\":false") && rest.contains("request_timeout"))
        // The idle time of a stream without another line begins when its job ends.
        let answer = last.read()
        #expect(answer.contains("{\"line\":1,\"ok\":true") && answer.contains("request_timeout"))
    }
}
