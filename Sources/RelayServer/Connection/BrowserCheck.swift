import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface

/// Keeps web pages off the listeners a browser can reach.
///
/// A page may send requests to a loopback port, and by a name of its own that resolves there it may read the answers.
/// Browsers tell on both: they name the page in `Origin`, and the name in `Host`.
enum BrowserCheck {
    static func check(_ head: RequestHead) throws(Problem) {
        guard !head.fields.contains(.origin) else {
            throw Problem(.notAllowed, "a request with Origin comes from a web page, and none is served here")
        }
        guard let host = head.host else { return }
        guard isLoopback(host) else {
            throw Problem(
                .notAllowed,
                "Host is not a name of this machine's loopback: send localhost or 127.0.0.1"
            )
        }
    }

    /// Whether the host, its port aside, can only mean this machine.
    private static func isLoopback(_ text: String) -> Bool {
        let text = text.lowercased()
        if text == "[::1]" || text.hasPrefix("[::1]:") { return true }
        let host = text.prefix { $0 != ":" }
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { !$0.hasPrefix("+") && UInt8($0) != nil }
    }
}
