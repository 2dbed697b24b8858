import Glibc
import RelayBase
package import RelayClient
import RelayHTTP
package import RelayPosix
import Synchronization

/// The loopback port of `waystation ui`: a thread for each connection, and not more of them than a browser needs.
package final class PageService: Sendable {
    /// Why the daemon gives no answer, and what may help.
    package typealias Reason = (message: String, advice: String?)

    let client: RelayClient
    /// The socket, where a command has to be told of it.
    let socketToName: String?
    package let port: UInt16
    private let listeners: PageListeners
    private let gate: Mutex<PageGate>
    private let open = Mutex(0)
    private let neighbours: PageNeighbours
    let explain: @Sendable (RelayClientError) -> Reason
    /// Told when a browser came in by a link.
    private let onWelcome: @Sendable () -> Void

    private static let maxConnections = 32

    /// Without a `name` the page is at 127.0.0.1 (`PageGate`).
    package init(
        _ client: RelayClient,
        port: UInt16,
        name: String? = PageGate.name(),
        socketToName: String?,
        neighbours: PageNeighbours = PageNeighbours(),
        explain: @escaping @Sendable (RelayClientError) -> Reason,
        onWelcome: @escaping @Sendable () -> Void = {}
    ) throws(PosixError) {
        listeners = try PageListeners(port: port, isNumeric: name == nil)
        self.client = client
        self.socketToName = socketToName
        self.port = listeners.port
        gate = Mutex(PageGate(port: listeners.port, name: name))
        self.neighbours = neighbours
        self.explain = explain
        self.onWelcome = onWelcome
    }

    package func link() -> String { gate.withLock { $0.link(at: PageService.now) } }

    func decide(_ head: RequestHead) -> PageGate.Decision {
        let decision = gate.withLock { $0.decide(head, at: PageService.now) }
        if case .welcome = decision { onWelcome() }
        return decision
    }

    /// Whether the session of a request is still there, for an answer that goes on for long.
    func isIn(_ head: RequestHead) -> Bool { gate.withLock { $0.isIn(head, at: PageService.now) } }

    /// Takes connections for as long as the process lives.
    package func run() {
        while true {
            let isOut = listeners.accept { take($0) }
            // Out of descriptors or memory, which others may give back.
            if isOut { _ = poll(nil, 0, 100) }
        }
    }

    private func take(_ raw: Int32) {
        // Before it counts: what others open takes no place from those who may.
        if let stranger = neighbours.stranger(at: raw) {
            return PageService.reject(raw, "403 Forbidden", stranger)
        }
        let isRoom = open.withLock { open in
            guard open < PageService.maxConnections else { return false }
            open += 1
            return true
        }
        guard isRoom else { return PageService.reject(raw, "503 Service Unavailable", PageService.full) }
        do throws(PosixError) {
            try startDetachedThread("page") { [self] in
                Socket.setNoDelay(raw)
                var connection = PageConnection(FileDescriptor(raw), self)
                connection.serve()
                open.withLock { $0 -= 1 }
            }
        } catch {
            open.withLock { $0 -= 1 }
            PageService.reject(raw, "503 Service Unavailable", PageService.full)
        }
    }

    private static let full = "as many connections are open as may be; close pages that are open twice"

    private static func reject(_ raw: Int32, _ status: String, _ sentence: String) {
        let socket = FileDescriptor(raw)
        let text = "waystation ui: \(sentence).\n"
        let head =
            "HTTP/1.1 \(status)\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
            + "Content-Length: \(text.utf8.count)\r\n\r\n"
        _ = Socket.send(socket.raw, Array((head + text).utf8).span)
        Socket.finishSending(socket.raw)
    }

    private static var now: Instant { Instant(nanoseconds: SystemClock.monotonic()) }
}
