import RelayBase
import RelayPosix
import RelayRoute
import RelayTransport
import Synchronization
import Testing

/// A transport on a loop of its own, for the length of `body`.
func withTransport(
    resolver: NameResolver = NameResolver(source: testNames),
    secrets: @escaping @Sendable (SecretReference) -> Secret? = { _ in nil },
    wallSeconds: @escaping @Sendable () -> Int64 = SystemClock.wallSeconds,
    _ body: (LoopTransport) async throws -> Void
) async throws {
    let loop = try EventLoop.start(name: "test")
    let transport = LoopTransport(on: loop, resolver: resolver, secrets: secrets, wallSeconds: wallSeconds)
    do {
        try await body(transport)
    } catch {
        loop.stop()
        throw error
    }
    loop.stop()
}

extension LoopTransport {
    /// The failure of the request, which has to fail.
    func failure(of request: OutboundRequest, at place: SourceLocation = #_sourceLocation) async -> Failure? {
        await #expect(throws: Failure.self, sourceLocation: place) { _ = try await send(request) }
    }
}

/// Returns when the loop has looked at its descriptors once more.
func turn(_ loop: EventLoop) async {
    await loop.spawn { try? await loop.sleep(until: 0) }.value
}

/// Tries with twice the time until `body` says that the time was enough for what it needs done within it.
func doubling(_ body: (Duration) async throws -> Bool) async throws {
    var time = Duration.milliseconds(60)
    while try await !body(time) { time *= 2 }
}

/// Every name in `.test` is this machine, but for those that are made to fail.
@Sendable
func testNames(_ host: String) -> Result<[IPAddress], NameError> {
    if host.hasPrefix("missing") { return .failure(.notFound) }
    if host.hasPrefix("shaky") { return .failure(.temporary("try again")) }
    return .success([IPAddress(v4: 0x7F00_0001)])
}

/// An attempt with generous bounds unless they are what is tested.
func attempt(
    _ upstream: Upstream,
    _ method: Method = .get,
    _ target: String = "/",
    body: Body = .empty,
    fields: [(String, String)] = [],
    deadline: Duration = .seconds(120),
    connect: Duration = .seconds(60),
    idle: Duration = .seconds(90),
    minRate: Int = 0,
    end: TimeBound? = nil,
    limits: ResponseLimits = ResponseLimits(),
    isRepeatable: Bool = false,
    log: (any AttemptLog)? = nil
) -> OutboundRequest {
    var headers = HeaderFields()
    for (name, value) in fields { headers.append(name, value) }
    let now = Instant(nanoseconds: SystemClock.monotonic())
    var timeouts = AttemptTimeouts(connect: connect, idle: idle)
    timeouts.minRate = minRate
    return OutboundRequest(
        upstream: upstream,
        method: method,
        target: target,
        fields: headers,
        addedFields: HeaderFields(),
        body: body,
        deadline: now.advanced(by: deadline),
        timeouts: timeouts,
        limits: limits,
        isRepeatable: isRepeatable,
        timeLimit: nil,
        log: log,
        end: end
    )
}

/// A streamed body made of pieces that are there, or come when a gate opens.
final class Pieces: BodySource {
    let length: UInt64?
    private let state: PieceQueue

    init(_ pieces: [[UInt8]], length: UInt64? = nil, endless: Bool = false) {
        self.length = length
        state = PieceQueue(pieces, endless)
    }

    var wasRead: Bool { state.taken > 0 }
    /// Pieces handed out.
    var taken: Int { state.taken }
    var wasCancelled: Bool { state.wasCancelled }

    func next() async throws(Failure) -> [UInt8]? { state.next() }
    func cancel() { state.cancel() }
}

/// A body that never comes, until it is cancelled.
final class Silence: BodySource {
    let length: UInt64? = nil
    let wasRead = false
    private let gate = Gate()

    func next() async throws(Failure) -> [UInt8]? {
        await gate.wait()
        throw Failure(.clientGone, sent: .neverSent, "given up")
    }

    func cancel() { gate.open() }
}

/// A body whose pieces come one after the other, each after a pause.
final class Slow: BodySource {
    let length: UInt64?
    private let pause: Duration
    private let left: Mutex<Int>
    private let clock = MachineTime()

    init(pause: Duration, count: Int) {
        self.pause = pause
        length = UInt64(count)
        left = Mutex(count)
    }

    var wasRead: Bool { left.withLock { UInt64($0) < length ?? 0 } }

    func next() async throws(Failure) -> [UInt8]? {
        guard left.withLock({ $0 > 0 }) else { return nil }
        try? await clock.sleep(until: clock.now().advanced(by: pause))
        left.withLock { $0 -= 1 }
        return [0x78]
    }

    func cancel() {}
}
