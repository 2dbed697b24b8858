import RelayEngine
import RelayInterface
import Testing

@testable import RelayServer

@Suite("No web page gets through to a listener that a browser can reach")
struct BrowserCheckTests {
    @Test(
        "Names that can only mean this machine are served",
        arguments: [
            "localhost", "LocalHost:8080", "relay.localhost", "a.b.localhost:1", "127.0.0.1", "127.0.0.1:80",
            "127.255.0.9", "[::1]", "[::1]:8080",
        ]
    )
    func served(host: String) throws {
        try BrowserCheck.check(head("/r/up/x", ["Host: \(host)"]))
    }

    @Test("HTTP/1.0 without a name is no browser's")
    func nameless() throws { try BrowserCheck.check(head("/r/up/x", [], version: "1.0")) }

    @Test(
        "Any other name may be a page's own, made to lead here",
        arguments: [
            "example.com", "localhost.example.com", "notlocalhost", "localhost.", "127.0.0.1.example.com",
            "127.0.0.1.", "127.1", "127.0.0.256", "127.0.0", "127..0.1", "0127.0.0.1", "128.0.0.1", "0.0.0.0",
            "2130706433", "0x7f.0.0.1", "[::2]", "[::]", "[::ffff:127.0.0.1]", "127.0.0.+1", "10.0.0.1", "",
        ]
    )
    func foreign(host: String) throws {
        let head = try head("/r/up/x", ["Host: \(host)"])
        #expect(throws: Problem.self) { try BrowserCheck.check(head) }
    }

    @Test(
        "A request that names a page is refused, whatever the page's name",
        arguments: ["null", "http://localhost", ""]
    )
    func page(origin: String) throws {
        let head = try head("/r/up/x", ["Host: localhost", "oRiGiN: \(origin)"])
        let problem = #expect(throws: Problem.self) { try BrowserCheck.check(head) }
        #expect(problem?.code == .notAllowed && problem?.detail.contains("web page") == true)
    }
}
