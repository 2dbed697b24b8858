public import RelayCore
import RelayPosix
import Synchronization

extension RelayService {
    /// Makes a service that sends over sockets: TCP, TLS and Unix.
    ///
    /// - Parameters:
    ///   - policy: where requests go and what happens to them.
    ///   - name: stands in messages and contexts.
    ///   - credentials: what `policy.authentication` names.
    ///   - secrets: what references of credentials and client certificates stand for.
    ///   - preparation: steps before every request, in order.
    ///   - observers: told about every job, in order.
    ///   - isConstrained: whether upstreams for a constrained network are to be used; asked before every attempt.
    /// - Throws: why the policy cannot hold what it promises.
    public convenience init(
        _ policy: RoutePolicy,
        name: String = "service",
        credentials: [CredentialDefinition] = [],
        secrets: [SecretReference: Secret] = [:],
        preparation: [any PreparationStrategy] = [],
        observers: [any AttemptObserver] = [],
        isConstrained: @escaping @Sendable () -> Bool = { false }
    ) throws(Refusal) {
        try self.init(
            policy,
            name: name,
            transport: SocketTransport(secrets: { secrets[$0] }),
            time: MachineTime(),
            entropy: MachineEntropy(),
            credentials: credentials,
            secrets: secrets,
            preparation: preparation,
            observers: observers,
            isConstrained: isConstrained
        )
    }
}

/// The machine's clocks.
public final class MachineTime: TimeSource {
    /// The machine's clocks.
    public init() {}

    /// Nanoseconds since boot.
    public func now() -> Instant { Instant(nanoseconds: SystemClock.monotonic()) }

    /// Milliseconds since 1970, UTC.
    public func wallMilliseconds() -> Int64 { SystemClock.wall() / 1_000_000 }

    /// Returns at `deadline`, or throws at once when the task is cancelled.
    public func sleep(until deadline: Instant) async throws(CancellationError) {
        let wait = now().duration(to: deadline)
        guard wait > .zero else {
            if Task.isCancelled { throw CancellationError() }
            return
        }
        do {
            try await Task.sleep(for: wait, tolerance: .zero)
        } catch {
            throw CancellationError()
        }
    }
}

/// Random numbers for jitter and job ids, seeded by the kernel; never for keys.
public final class MachineEntropy: Entropy {
    private let generator = Mutex(FastRandom())

    /// A generator with a seed of its own.
    public init() {}

    /// The next number.
    public func next() -> UInt64 { generator.withLock { $0.next() } }
}
