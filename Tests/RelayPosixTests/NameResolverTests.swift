import Glibc
import RelayPosix
import Synchronization
import Testing

@Suite("The name resolver", .timeLimit(.minutes(5)))
struct NameResolverTests {
    @Test("Many who ask for one name cause one look-up, and all get its answer")
    func singleFlight() async throws {
        let names = Names()
        let resolver = NameResolver(source: names.answer)
        let first = Task { try await resolver.addresses(of: "a.test") }
        await names.wasAsked()
        let (answers, answered) = AsyncStream<Int>.makeStream()
        // These come while the only look-up is held up.
        for _ in 0..<50 {
            let answer = resolver.lookUp("a.test") { result in
                answered.yield((try? result.get().count) ?? -1)
            }
            #expect(answer == nil)
        }
        names.release()
        #expect(try await first.value == [IPAddress(v4: 0x7F00_0001)])
        _ = try await resolver.addresses(of: "a.test")
        #expect(names.count == 1)
        let counts = await answers.prefix(50).reduce(into: []) { $0.append($1) }
        #expect(counts == Array(repeating: 1, count: 50))
    }

    @Test("Addresses are remembered for 30 s and failures for 1 s")
    func remembers() async throws {
        let time = Time()
        let names = Names(isOpen: true)
        let resolver = NameResolver(clock: { time.now }, source: names.answer)
        for (second, count) in [(0, 1), (29, 1), (30, 2), (59, 2), (60, 3)] {
            time.now = Int64(second) * 1_000_000_000
            _ = try await resolver.addresses(of: "a.test")
            #expect(names.count == count)
        }
        let before = names.count
        for (millisecond, count) in [(70_000, 1), (70_999, 1), (71_000, 2)] {
            time.now = Int64(millisecond) * 1_000_000
            await #expect(throws: NameError.notFound) { try await resolver.addresses(of: "missing.test") }
            #expect(names.count == before + count)
        }
    }

    @Test("Beyond its queue the resolver refuses instead of growing")
    func boundedQueue() async throws {
        let names = Names()
        var limits = NameResolver.Limits()
        limits.threads = 1
        limits.queue = 2
        let resolver = NameResolver(limits: limits, source: names.answer)
        #expect(resolver.lookUp("a.test") { _ in } == nil)
        await names.wasAsked()
        #expect(resolver.lookUp("b.test") { _ in } == nil)
        #expect(resolver.lookUp("c.test") { _ in } == nil)
        #expect(resolver.lookUp("d.test") { _ in } == .failure(.overloaded))
        names.release()
    }

    @Test("The system knows localhost")
    func system() async throws {
        let addresses = try await NameResolver().addresses(of: "localhost")
        #expect(addresses.contains { $0 == IPAddress("127.0.0.1") || $0 == IPAddress("::1") })
    }
}

/// A name service that counts, and answers once it is let.
private final class Names: Sendable {
    private struct State {
        var count = 0
        var isOpen: Bool
        var asked: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(isOpen: Bool = false) {
        state = Mutex(State(isOpen: isOpen))
    }

    var count: Int { state.withLock { $0.count } }

    func release() {
        state.withLock { $0.isOpen = true }
    }

    func wasAsked() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.count == 0 { state.asked = continuation }
                return state.count > 0
            }
            if isDone { continuation.resume() }
        }
    }

    @Sendable
    func answer(_ host: String) -> Result<[IPAddress], NameError> {
        let asked = state.withLock { state in
            state.count += 1
            defer { state.asked = nil }
            return state.asked
        }
        asked?.resume()
        while !state.withLock({ $0.isOpen }) { sched_yield() }
        return host.hasPrefix("missing") ? .failure(.notFound) : .success([IPAddress(v4: 0x7F00_0001)])
    }
}

private final class Time: Sendable {
    private let nanoseconds = Atomic<Int64>(0)

    var now: Int64 {
        get { nanoseconds.load(ordering: .relaxed) }
        set { nanoseconds.store(newValue, ordering: .relaxed) }
    }
}

extension NameResolver {
    func addresses(of host: String) async throws(NameError) -> [IPAddress] {
        let answer = await withCheckedContinuation { continuation in
            if let answer = lookUp(host, { continuation.resume(returning: $0) }) {
                continuation.resume(returning: answer)
            }
        }
        return try answer.get()
    }
}
