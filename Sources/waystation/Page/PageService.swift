import Glibc
import RelayClient
import RelayCore
import RelayHTTP
import RelayPosix
import Synchronization

/// The loopback port of `waystation ui`: a thread for each connection, and not more of them than a browser needs.
final class PageService: Sendable {
    let client: RelayClient
    /// The socket, where a command has to be told of it.
    let socketToName: String?
    let port: UInt16
    private let listener: FileDescriptor
    private let gate: Mutex<PageGate>
    private let open = Mutex(0)
    private let neighbours: PageNeighbours

    private static let maxConnections = 32

    init(
        _ client: RelayClient,
        port: UInt16,
        socketToName: String?,
        neighbours: PageNeighbours = PageNeighbours()
    ) throws(CommandFailure) {
        do throws(PosixError) {
            listener = try Listener.tcp(IPAddress(v4: 0x7F00_0001), port: port)
        } catch {
            throw CommandFailure(
                .failed,
                "cannot listen on 127.0.0.1:\(port): \(error)",
                advice: "Name another port, or leave --port away, which takes any that is free."
            )
        }
        guard case .ip(_, let bound)? = Socket.localAddress(listener.raw) else {
            throw CommandFailure(.failed, "cannot tell the port that was taken on 127.0.0.1")
        }
        self.client = client
        self.socketToName = socketToName
        self.port = bound
        gate = Mutex(PageGate(port: bound))
        self.neighbours = neighbours
    }

    func link() -> String { gate.withLock { $0.link(at: PageService.now) } }

    func decide(_ head: RequestHead) -> PageGate.Decision {
        gate.withLock { $0.decide(head, at: PageService.now) }
    }

    /// Takes connections for as long as the process lives.
    func run() {
        while true {
            var entry = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&entry, 1, -1)
            switch Socket.accept(listener.raw) {
            case .wouldBlock: continue
            // Out of descriptors or memory, which others may give back.
            case .failed: _ = poll(nil, 0, 100)
            case .connection(let socket): take(socket.release())
            }
        }
    }

    private func take(_ raw: Int32) {
        // Before it counts: what others open takes no place from those who may.
        if let stranger = neighbours.stranger(at: raw) {
            return PageService.turnAway(raw, "403 Forbidden", stranger)
        }
        let isRoom = open.withLock { open in
            guard open < PageService.maxConnections else { return false }
            open += 1
            return true
        }
        guard isRoom else { return PageService.turnAway(raw, "503 Service Unavailable", PageService.full) }
        do throws(PosixError) {
            try startDetachedThread("page") { [self] in
                Socket.setNoDelay(raw)
                var connection = PageConnection(FileDescriptor(raw), self)
                connection.serve()
                open.withLock { $0 -= 1 }
            }
        } catch {
            open.withLock { $0 -= 1 }
            PageService.turnAway(raw, "503 Service Unavailable", PageService.full)
        }
    }

    private static let full = "as many connections are open as may be; close pages that are open twice"

    private static func turnAway(_ raw: Int32, _ status: String, _ sentence: String) {
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
