import Glibc
import RelayPosix
import Synchronization
import Testing

@Suite("Names of a dead name server", .timeLimit(.minutes(5)))
struct DeadNameServerTests {
    @Test("Those of one zone take its share of the threads, and another name is answered at once")
    func oneZone() async throws {
        let names = DeadNames()
        defer { names.release() }
        let resolver = NameResolver(source: names.answer)
        for number in 0..<8 { #expect(resolver.lookUp("n\(number).dead.test") { _ in } == nil) }
        await names.hold(4)
        #expect(try await resolver.addresses(of: "api.healthy.test").count == 1)
        #expect(names.held == 4)
    }

    @Test("Eight zones that never answer leave threads for another name")
    func eightZones() async throws {
        let names = DeadNames()
        defer { names.release() }
        let resolver = NameResolver(source: names.answer)
        for number in 0..<8 { #expect(resolver.lookUp("api.dead\(number).test") { _ in } == nil) }
        await names.hold(8)
        #expect(try await resolver.addresses(of: "api.healthy.test").count == 1)
        #expect(names.held == 8)
    }

    @Test("Without shares they would take every thread: the control")
    func control() async throws {
        let names = DeadNames()
        var limits = NameResolver.Limits()
        limits.threads = 4
        limits.zoneThreads = 4
        let resolver = NameResolver(limits: limits, source: names.answer)
        for number in 0..<8 { #expect(resolver.lookUp("n\(number).dead.test") { _ in } == nil) }
        await names.hold(4)
        #expect(resolver.lookUp("api.healthy.test") { _ in } == nil)
        #expect(names.asked("api.healthy.test") == 0)
        names.release()
        #expect(try await resolver.addresses(of: "api.healthy.test").count == 1)
    }

    @Test("Names that were slow the last time share half of the threads, in however many zones they are")
    func slowNames() async throws {
        let time = TestClock()
        let names = DeadNames(isHolding: false)
        defer { names.release() }
        let resolver = NameResolver(clock: { time.now }, source: names.answer)
        for number in 0..<40 {
            await #expect(throws: NameError.temporary("dead")) {
                try await resolver.addresses(of: "api.dead\(number).test")
            }
        }
        time.now = 2_000_000_000
        names.holdFromNowOn()
        for number in 0..<40 { #expect(resolver.lookUp("api.dead\(number).test") { _ in } == nil) }
        await names.hold(16)
        #expect(try await resolver.addresses(of: "api.healthy.test").count == 1)
        #expect(names.held == 16)
    }

    @Test("Every name has its turn in the end")
    func turns() async throws {
        let names = DeadNames()
        let resolver = NameResolver(source: names.answer)
        let (answers, answered) = AsyncStream<Void>.makeStream()
        for zone in 0..<12 {
            for number in 0..<12 {
                _ = resolver.lookUp("n\(number).dead\(zone).test") { _ in answered.yield() }
            }
        }
        await names.hold(32)
        names.release()
        for await _ in answers.prefix(144) {}
        #expect(names.count == 144)
    }
}

@Suite("Addresses that were right a while ago", .timeLimit(.minutes(5)))
struct OutdatedAddressesTests {
    private static let second: Int64 = 1_000_000_000

    @Test(
        "They stand in for a look-up that fails, for an hour",
        arguments: [(3_599, true), (3_600, false)] as [(Int64, Bool)]
    )
    func failing(second: Int64, standsIn: Bool) async throws {
        let time = TestClock()
        let fails = Mutex(false)
        let resolver = NameResolver(
            clock: { time.now },
            source: { _ in
                fails.withLock { $0 } ? .failure(.temporary("dead")) : .success([IPAddress(v4: 1)])
            }
        )
        _ = try await resolver.addresses(of: "a.test")
        fails.withLock { $0 = true }
        time.now = second * Self.second
        let answer = try? await resolver.addresses(of: "a.test")
        #expect((answer == [IPAddress(v4: 1)]) == standsIn)
        #expect((resolver.outdated("a.test") != nil) == standsIn)
    }

    @Test("A new answer takes their place, and a second later a failed one is tried again")
    func replaced() async throws {
        let time = TestClock()
        let answers = Mutex<[Result<[IPAddress], NameError>]>([
            .success([IPAddress(v4: 1)]), .failure(.failed("broken")), .success([IPAddress(v4: 2)]),
        ])
        let resolver = NameResolver(
            clock: { time.now },
            source: { _ in answers.withLock { $0.removeFirst() } }
        )
        for (second, address) in [(0, 1), (30, 1), (31, 2)] as [(Int64, UInt32)] {
            time.now = second * Self.second
            #expect(try await resolver.addresses(of: "a.test") == [IPAddress(v4: address)])
        }
    }

    @Test("That there is no such name is an answer, and ends them")
    func gone() async throws {
        let time = TestClock()
        let answers = Mutex<[Result<[IPAddress], NameError>]>([
            .success([IPAddress(v4: 1)]), .failure(.notFound),
        ])
        let resolver = NameResolver(
            clock: { time.now },
            source: { _ in answers.withLock { $0.removeFirst() } }
        )
        _ = try await resolver.addresses(of: "a.test")
        time.now = 30 * Self.second
        await #expect(throws: NameError.notFound) { try await resolver.addresses(of: "a.test") }
        #expect(resolver.outdated("a.test") == nil)
    }
}

/// A name service whose names with `dead` in them never answer, until they are let go.
private final class DeadNames: Sendable {
    private struct State {
        var isHolding: Bool
        var isReleased = false
        var held = 0
        var asked: [String: Int] = [:]
        var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state: Mutex<State>
    private let gate = Semaphore()

    init(isHolding: Bool = true) { state = Mutex(State(isHolding: isHolding)) }

    var held: Int { state.withLock { $0.held } }
    var count: Int { state.withLock { $0.asked.values.reduce(0, +) } }

    func asked(_ host: String) -> Int { state.withLock { $0.asked[host] ?? 0 } }

    func holdFromNowOn() { state.withLock { $0.isHolding = true } }

    /// Returns once that many look-ups are held.
    func hold(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held < count { state.waiter = (count, continuation) }
                return state.held >= count
            }
            if isThere { continuation.resume() }
        }
    }

    func release() {
        let held = state.withLock { state in
            state.isReleased = true
            return state.held
        }
        for _ in 0..<held { gate.signal() }
    }

    @Sendable
    func answer(_ host: String) -> Result<[IPAddress], NameError> {
        let (isHeld, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            state.asked[host, default: 0] += 1
            guard host.contains("dead"), state.isHolding, !state.isReleased else { return (false, nil) }
            state.held += 1
            guard let waiter = state.waiter, state.held >= waiter.count else { return (true, nil) }
            state.waiter = nil
            return (true, waiter.continuation)
        }
        waiter?.resume()
        if isHeld { gate.wait() }
        return host.contains("dead") ? .failure(.temporary("dead")) : .success([IPAddress(v4: 0x7F00_0001)])
    }
}

private final class TestClock: Sendable {
    private let nanoseconds = Atomic<Int64>(0)

    var now: Int64 {
        get { nanoseconds.load(ordering: .relaxed) }
        set { nanoseconds.store(newValue, ordering: .relaxed) }
    }
}
