import Glibc
import RelayBase
import RelayClient
import RelayPosix
import RelayTestSupport
import Synchronization
import Testing

/// Listens on a Unix socket and answers every connection with the same bytes, after it has seen the request's end.
final class StubRelay: Sendable {
    enum Behaviour: Sendable {
        /// Waits for the end of the head, answers, closes.
        case answer(String)
        /// Answers before it has read anything, then reads on.
        case answerEarly(String)
        /// Reads and says nothing until the client hangs up.
        case silence
        /// Answers each request as it deserves.
        case respond(@Sendable (_ request: String) -> Reply)
    }

    enum Reply: Sendable {
        case close(String)
        /// Goes on with whatever is told later, until the client hangs up.
        case stayOpen(String)
    }

    let path: String
    private let threads: Threads

    init(_ behaviour: Behaviour, name: String = #function) throws {
        let letters = name.filter { $0.isLetter }
        path = "/tmp/waystation-client-\(getpid())-\(letters)-\(UInt32.random(in: 0...UInt32.max)).sock"
        threads = Threads(listener: try Listener.unix(path, mode: 0o600), behaviour: behaviour)
        try startDetachedThread("stub") { [threads] in threads.accept() }
    }

    deinit {
        threads.stop()
        unsafe unlink(path)
        unsafe unlink(path + ".lock")
    }

    /// A client of this relay whose waits between two looks take no time.
    var client: RelayClient {
        let time = VirtualTime()
        var client = RelayClient(socketPath: path)
        client.clock = ClientClock(
            now: { time.now() },
            sleep: { try await time.sleep(until: time.now().advanced(by: $0)) }
        )
        return client
    }

    /// The texts that the clients have sent, by connection.
    var requests: [String] { threads.received.withLock { $0 } }

    /// Returns when so many requests have come.
    func received(_ count: Int) async { await threads.received(count) }

    /// Sends a text over every connection that stays open.
    func tell(_ text: String) { threads.tell(text) }
}

/// The state that the stub's threads share; the threads end when the stub goes.
private final class Threads: Sendable {
    let received = Mutex<[String]>([])
    private let open = Mutex<Set<Int32>>([])
    private let waiters = Mutex<[(count: Int, continuation: CheckedContinuation<Void, Never>)]>([])
    private let isStopped = Atomic<Bool>(false)
    private let listener: FileDescriptor
    private let behaviour: StubRelay.Behaviour

    init(listener: consuming FileDescriptor, behaviour: StubRelay.Behaviour) {
        self.listener = listener
        self.behaviour = behaviour
    }

    /// Wakes the accepting thread, which then ends.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        _ = shutdown(listener.raw, Int32(SHUT_RDWR))
    }

    func tell(_ text: String) {
        open.withLock { open in
            for descriptor in open { send(descriptor, text) }
        }
    }

    func accept() {
        // A listener that is shut down is readable for ever, and has nobody to accept.
        while wait(listener.raw, Int16(POLLIN)), !isStopped.load(ordering: .sequentiallyConsistent) {
            switch Socket.accept(listener.raw) {
            case .connection(let socket):
                let descriptor = socket.release()
                try? startDetachedThread("stub") { self.serve(FileDescriptor(descriptor)) }
            case .wouldBlock: continue
            case .failed: return
            }
        }
    }

    private func serve(_ socket: consuming FileDescriptor) {
        let descriptor = socket.raw
        defer { _ = open.withLock { $0.remove(descriptor) } }
        if case .answerEarly(let text) = behaviour { send(descriptor, text) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while wait(descriptor, Int16(POLLIN)) {
            let result = unsafe buffer.withUnsafeMutableBytes { unsafe Socket.receive(descriptor, into: $0) }
            guard case .bytes(let count) = result else { break }
            bytes += buffer[..<count]
            let text = String(decoding: bytes, as: UTF8.self)
            guard Threads.isComplete(text) else { continue }
            switch behaviour {
            case .answerEarly, .silence: continue
            case .answer(let answer):
                received.withLock { $0.append(text) }
                wake()
                return send(descriptor, answer)
            case .respond(let respond):
                received.withLock { $0.append(text) }
                // A test that waits for the request may tell more over its connection.
                defer { wake() }
                switch respond(text) {
                case .close(let answer): return send(descriptor, answer)
                case .stayOpen(let answer):
                    open.withLock { open in
                        send(descriptor, answer)
                        open.insert(descriptor)
                    }
                }
            }
        }
    }

    func received(_ count: Int) async {
        await withCheckedContinuation { continuation in
            waiters.withLock { $0.append((count, continuation)) }
            wake()
        }
    }

    private func wake() {
        let count = received.withLock { $0.count }
        let woken = waiters.withLock { waiters in
            defer { waiters.removeAll { $0.count <= count } }
            return waiters.filter { $0.count <= count }
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    private static func isComplete(_ text: String) -> Bool {
        guard let range = text.firstRange(of: "\r\n\r\n") else { return false }
        let head = text[..<range.lowerBound]
        let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
        return text[range.upperBound...].utf8.count >= length
    }

    private func send(_ descriptor: Int32, _ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let result = Socket.send(descriptor, Array(rest).span)
            if case .wouldBlock = result {
                guard wait(descriptor, Int16(POLLOUT)) else { return }
                continue
            }
            guard case .bytes(let count) = result else { return }
            rest = rest.dropFirst(count)
        }
    }
}

private func wait(_ descriptor: Int32, _ events: Int16) -> Bool {
    var entry = pollfd(fd: descriptor, events: events, revents: 0)
    return unsafe poll(&entry, 1, 30_000) > 0 && entry.revents & Int16(POLLNVAL) == 0
}
