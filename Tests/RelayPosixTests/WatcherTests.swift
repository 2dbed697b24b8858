import CLinux
import Glibc
import RelayPosix
import RelayTestSupport
import Testing

@Suite("Watchers", .timeLimit(.minutes(5)))
struct WatcherTests {
    @Test("A watcher that another's callback removes in the same batch is not called any more")
    func removalInsideCallback() async throws {
        let loop = try EventLoop.start(name: "test")
        let calls = await withCheckedContinuation { continuation in
            loop.execute {
                let first = Pair(loop: loop)
                let second = Pair(loop: loop)
                first.partner = second
                second.partner = first
                // Both are ready before the loop looks, so both events come in one batch.
                first.poke()
                second.poke()
                loop.afterBatch {
                    loop.afterBatch {
                        loop.afterBatch { continuation.resume(returning: first.calls + second.calls) }
                    }
                }
            }
        }
        #expect(calls == 1)
        loop.stop()
    }

    @Test("A late event of a closed descriptor never reaches the next owner of its number")
    func generations() async throws {
        let loop = try EventLoop.start(name: "test")
        let calls = await withCheckedContinuation { continuation in
            loop.execute {
                let victim = Pair(loop: loop)
                let killer = Pair(loop: loop)
                let heir = Heir(loop: loop)
                killer.partner = victim
                killer.poke()
                victim.poke()
                killer.afterwards = {
                    // The freed number is the lowest there is: the heir gets it while the victim's event
                    // waits.
                    var ends: [Int32] = [0, 0]
                    unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
                    try? loop.add(heir, FileDescriptor(ends[0]))
                    heir.other = ends[1]
                }
                victim.afterwards = killer.afterwards
                victim.partner = killer
                loop.afterBatch {
                    loop.afterBatch { loop.afterBatch { continuation.resume(returning: heir.calls) } }
                }
            }
        }
        #expect(calls == 0)
        loop.stop()
    }

    @Test("A stream watcher hears of each change, and of the end")
    func streamEvents() async throws {
        let loop = try EventLoop.start(name: "test")
        let seen = await withCheckedContinuation { continuation in
            loop.execute {
                let reader = Reader(loop: loop) { continuation.resume(returning: $0) }
                var ends: [Int32] = [0, 0]
                unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
                try? loop.add(reader, FileDescriptor(ends[0]))
                let writer = FileDescriptor(ends[1])
                _ = Socket.send(writer.raw, [1, 2, 3].span)
            }
        }
        #expect(seen == [1, 2, 3])
        loop.stop()
    }

    @Test("A listener that others hold too is not heard of any more once it is removed, whoever still calls")
    func sharedListener() async throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/a.sock"
        let kept = try Listener.unix(path, mode: 0o600)
        let copy = dup(kept.raw)
        guard case .connected = Socket.connect(to: .unix(path: path)) else {
            Issue.record("nobody listens")
            return
        }
        let loop = try EventLoop.start(name: "test")
        // Of a tenth of a second with nothing to do: the turn that ends it and some for luck, not one after the other.
        let turns = await withCheckedContinuation { continuation in
            loop.execute {
                let watcher = Silent(loop: loop)
                watcher.isShared = true
                try? loop.add(watcher, FileDescriptor(copy), .readable)
                loop.remove(watcher)
                let before = loop.heartbeat
                let timer = LoopTimer { continuation.resume(returning: loop.heartbeat - before) }
                loop.schedule(timer, at: loop.now + 100_000_000)
            }
        }
        #expect(turns < 10)
        loop.stop()
        _ = kept
    }
}

private final class Silent: Watcher {
    override func ready(_ events: Events) {}
}

/// One end of a socket pair, registered; the other end makes it ready.
private final class Pair: Watcher {
    var partner: Pair?
    var calls = 0
    var afterwards: () -> Void = {}
    private var other: Int32 = -1

    override init(loop: EventLoop) {
        super.init(loop: loop)
        var ends: [Int32] = [0, 0]
        unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        try? loop.add(self, FileDescriptor(ends[0]))
        other = ends[1]
    }

    deinit { _ = close(other) }

    func poke() { _ = Socket.send(other, [1].span) }

    override func ready(_ events: Events) {
        calls += 1
        let partner = partner
        self.partner = nil
        partner?.partner = nil
        if let partner { loop.remove(partner) }
        loop.remove(self)
        afterwards()
    }
}

private final class Heir: Watcher {
    var calls = 0
    var other: Int32 = -1

    deinit { _ = close(other) }

    override func ready(_ events: Events) { calls += 1 }
}

private final class Reader: Watcher {
    private var bytes: [UInt8] = []
    private let done: ([UInt8]) -> Void

    init(loop: EventLoop, done: @escaping ([UInt8]) -> Void) {
        self.done = done
        super.init(loop: loop)
    }

    override func ready(_ events: Events) {
        while true {
            switch unsafe Socket.receive(descriptor, into: loop.scratch) {
            case .bytes(let count): unsafe bytes += loop.scratch[..<count]
            case .wouldBlock: return
            case .end, .failed:
                loop.remove(self)
                return done(bytes)
            }
        }
    }
}
