import RelayBase
import RelayPosix
import RelayRoute

/// The state that one loop's transport keeps between attempts, confined to the loop.
final class TransportState {
    let loop: EventLoop
    let resolver: NameResolver
    /// Seconds since 1970.
    let wallSeconds: @Sendable () -> Int64
    private let secrets: @Sendable (SecretReference) -> Secret?
    private let account: MemoryAccount?
    private var pools: [OriginPool.Key: OriginPool] = [:]
    /// By the identity of an upstream, which is held so that no other can take its place.
    @safe @exclusivity(unchecked)
    private var known: [ObjectIdentifier: (upstream: Upstream, pool: OriginPool)] = [:]
    private var contexts: [TLSSettings: TLSContext] = [:]
    private let output = OutputLoan()
    private var sweeper: LoopTimer?

    /// How often idle connections are looked at, in nanoseconds.
    private static let sweepInterval: Int64 = 15_000_000_000
    /// How long an upstream nobody asks for is remembered, in nanoseconds.
    private static let memory: Int64 = 300_000_000_000

    init(
        _ loop: EventLoop,
        _ resolver: NameResolver,
        _ secrets: @escaping @Sendable (SecretReference) -> Secret?,
        _ wallSeconds: @escaping @Sendable () -> Int64,
        _ account: MemoryAccount?
    ) {
        self.loop = loop
        self.resolver = resolver
        self.secrets = secrets
        self.wallSeconds = wallSeconds
        self.account = account
    }

    func pool(for upstream: Upstream) -> OriginPool {
        if let entry = known[ObjectIdentifier(upstream)] { return entry.pool }
        let key = OriginPool.Key(upstream)
        let pool = pools[key] ?? OriginPool(upstream, output, account)
        pools[key] = pool
        pool.lastUsed = loop.now
        known[ObjectIdentifier(upstream)] = (upstream, pool)
        scheduleSweep()
        return pool
    }

    func context(for settings: TLSSettings) throws(Failure) -> TLSContext {
        if let context = contexts[settings] { return context }
        let context = try TLSContext(settings, secrets: secrets)
        contexts[settings] = context
        return context
    }

    /// Forgets certificates and idle connections, so that new files and secrets are read.
    func forgetAll() {
        contexts = [:]
        for pool in pools.values { pool.close() }
        pools = [:]
        known = [:]
    }

    /// Ends all that is idle; the loop goes on.
    func close() {
        forgetAll()
        if let sweeper { loop.cancel(sweeper) }
        sweeper = nil
    }

    private func scheduleSweep() {
        guard sweeper == nil else { return }
        let timer = LoopTimer { [weak self] in self?.sweep() }
        sweeper = timer
        loop.schedule(timer, at: loop.now + Self.sweepInterval)
    }

    private func sweep() {
        let now = loop.now
        for pool in pools.values { pool.sweep(before: now - OriginPool.idleAge) }
        for (key, pool) in pools where pool.isEmpty && pool.lastUsed <= now - Self.memory {
            pool.close()
            pools[key] = nil
        }
        known = known.filter { pools[$0.value.pool.key] === $0.value.pool }
        sweeper = nil
        if !pools.isEmpty { scheduleSweep() }
    }
}
