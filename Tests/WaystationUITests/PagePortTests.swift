import Glibc
import RelayClient
import RelayPosix
import Testing

@testable import WaystationUI
@testable import waystation

@Suite(
    "The port of waystation ui takes HTTP and nothing that looks like it",
    .serialized,
    .timeLimit(.minutes(1))
)
struct PagePortTests {
    private static let name = PageGate.name()
    /// One that has no daemon behind it; its thread ends with the tests.
    private static let service: PageService? = {
        let client = RelayClient(socketPath: "/nonexistent/control.sock")
        let service = try? PageService(client, port: 0, name: name, socketToName: nil) {
            CommandFailure($0, socketPath: client.socketPath).reason
        }
        guard let service else { return nil }
        try? startDetachedThread("ui") { service.run() }
        return service
    }()

    /// Everything that is answered until the port closes, or for a second.
    private func ask(_ text: String) throws -> String {
        let port = try #require(Self.service?.port)
        guard case .underway(let socket) = Socket.connect(to: .ip(IPAddress(v4: 0x7F00_0001), port: port))
        else {
            return "not connected"
        }
        var entry = pollfd(fd: socket.raw, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, 10_000)
        #expect(writeAll(Array(text.utf8), to: socket.raw))
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            entry = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, 10_000) > 0 else {
                return "no end: " + String(decoding: answer, as: UTF8.self)
            }
            let result = unsafe piece.withUnsafeMutableBytes { unsafe Socket.receive(socket.raw, into: $0) }
            guard case .bytes(let count) = result else { return String(decoding: answer, as: UTF8.self) }
            answer += piece[..<count]
        }
    }

    /// A request with the name of the port, and the session of whoever opened a link.
    private func request(_ line: String, _ fields: [String] = [], _ body: String = "") throws -> String {
        let port = try #require(Self.service?.port)
        return "\(line) HTTP/1.1\r\nHost: \(Self.name):\(port)\r\n" + fields.map { $0 + "\r\n" }.joined()
            + "\r\n" + body
    }

    private func session() throws -> String {
        let link = try #require(Self.service?.link())
        let path = link.drop { $0 != "?" }
        let answer = try ask(request("GET /\(path)"))
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("\r\nRefresh: 0; url=/ui/\r\n"))
        let cookie = try #require(answer.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") })
        return "Cookie: " + cookie.dropFirst("Set-Cookie: ".count).prefix { $0 != ";" }
    }

    @Test("A link is exchanged for a session, and a daemon that is away is told of, with what to do")
    func away() throws {
        let answer = try ask(request("GET /v1/status", [session(), "Connection: close"]))
        #expect(answer.hasPrefix("HTTP/1.1 502 ") && answer.contains(#""code":"daemon_away""#), "\(answer)")
        #expect(answer.contains("there is no such socket") && answer.contains("systemctl status waystationd"))
    }

    @Test("The names of users are told to a session alone, and without the daemon")
    func names() throws {
        let target = "GET /ui/users?ids=0,4294967295"
        let answer = try ask(request(target, [session(), "Connection: close"]))
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix(#"{"0":"root"}"#), "\(answer)")
        #expect(try ask(request(target, ["Connection: close"])).hasPrefix("HTTP/1.1 403 "))
    }

    @Test("Two requests of a connection are two requests")
    func pipelined() throws {
        let cookie = try session()
        let answer = try ask(
            request("GET /v1/status", [cookie]) + request("GET /v1/routes", [cookie, "Connection: close"])
        )
        #expect(answer.split(separator: "HTTP/1.1 502 ").count == 2, "\(answer)")
    }

    @Test(
        "A message that is no plain request is refused, and nothing behind it is looked at",
        arguments: [
            ("GET /ui/ HTTP/1.1\r\n\r\n", "400"), ("GET /ui/ HTTP/1.0\r\n\r\n", "403"),
            ("GET /ui/ HTTP/2.0\r\n\r\n", "505"), ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", "400"),
            ("GET /ui/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
            ("GET /ui/ HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n", "431"),
            ("GET /ui/?\(String(repeating: "x", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n", "414"),
            (
                "POST /v1/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "400"
            ),
            ("POST /v1/reload HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "400"),
            ("POST /v1/reload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n", "400"),
            ("POST /v1/reload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "501"),
            ("GET /ui/ HTTP/1.1\nHost: a\n\n", "400"),
            ("GET /ui/ HTTP/1.1\r\nHost: a\r\n\r\nGET /ui/ HTTP/1.1\r\nHost: a\r\n\r\n", "403"),
        ]
    )
    func refused(text: String, status: String) throws {
        let answer = try ask(text)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        #expect(answer.split(separator: "Connection: close").count == 2, "\(answer)")
        #expect(answer.contains("\r\nConnection: close\r\n") && answer.contains("waystation ui: "))
    }

    @Test("Cookies of others may take 60 KiB; more of them are named in the refusal")
    func cookies() throws {
        let session = try session()
        let many = session + (0..<15).map { "; c\($0)=" + String(repeating: "x", count: 4_090) }.joined()
        #expect(try ask(request("GET /ui/", [many, "Connection: close"])).hasPrefix("HTTP/1.1 502 "))
        let answer = try ask(request("GET /ui/", [many + "; d=" + String(repeating: "x", count: 4_090)]))
        #expect(answer.hasPrefix("HTTP/1.1 431 ") && answer.contains("delete the cookies"), "\(answer)")
    }

    @Test("A caller that sends on and on after a refusal is not listened to for longer than a second")
    func endless() throws {
        let port = try #require(Self.service?.port)
        guard case .underway(let socket) = Socket.connect(to: .ip(IPAddress(v4: 0x7F00_0001), port: port))
        else {
            return #expect(Bool(false))
        }
        let piece = [UInt8](repeating: 0x78, count: 65_536)
        var entry = pollfd(fd: socket.raw, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, 10_000)
        #expect(
            writeAll(
                Array("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n".utf8),
                to: socket.raw
            )
        )
        // Where it is listened to for ever, the time of the suite ends this.
        while true {
            if case .failed = Socket.send(socket.raw, piece.span) { return }
            _ = unsafe poll(&entry, 1, 10_000)
        }
    }

    @Test("A body has its bounds, however it is framed")
    func bodies() throws {
        let port = try #require(Self.service?.port)
        let fields = [try session(), "Origin: http://\(Self.name):\(port)"]
        let large = String(repeating: "x", count: 1_048_577)
        let counted = try ask(
            request("POST /v1/jobs", fields + ["Content-Length: \(large.utf8.count)"], large)
        )
        #expect(counted.hasPrefix("HTTP/1.1 413 "), "\(counted)")
        let chunk = String(large.utf8.count, radix: 16) + "\r\n\(large)\r\n0\r\n\r\n"
        let chunked = try ask(request("POST /v1/jobs", fields + ["Transfer-Encoding: chunked"], chunk))
        #expect(chunked.hasPrefix("HTTP/1.1 413 "), "\(chunked)")
        let broken = try ask(request("POST /v1/jobs", fields + ["Transfer-Encoding: chunked"], "zz\r\n"))
        #expect(broken.hasPrefix("HTTP/1.1 400 "), "\(broken)")
    }
}
