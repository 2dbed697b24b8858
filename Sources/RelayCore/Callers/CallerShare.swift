package import RelayBase
package import RelayRoute
import Synchronization

/// The part that one caller takes of what all share, by all its connections on all loops.
///
/// A quantity without a bound costs a request an addition at its beginning and one at its end.
package final class CallerShare: MemoryShare {
    /// Nil stands for all callers of ports, whom nobody knows.
    package let user: UInt32?
    private let underWay = Atomic<Int>(0)
    private let charged = Atomic<Int>(0)
    private let crowding = Atomic<Int>(0)
    private let pace = Mutex(RateLimitMachine())
    private let tallies = Mutex<[CallerBound: RefusalTally]>([:])

    package init(user: UInt32?) { self.user = user }

    /// Requests under way.
    package var requests: Int { underWay.load(ordering: .relaxed) }
    /// Bytes of bodies in memory and in the spool.
    package var bytes: Int { charged.load(ordering: .relaxed) }
    /// Its connections, where they are nearly all that it may have; otherwise zero.
    package var crowd: Int {
        get { crowding.load(ordering: .relaxed) }
        set { crowding.store(newValue, ordering: .relaxed) }
    }
    /// By the bound: refusals, as long as the caller is known.
    package var refusals: [CallerBound: RefusalTally] { tallies.withLock { $0 } }

    /// Counts one more request, whose end has to be told.
    ///
    /// - Returns: how many there are now.
    package func begin() -> Int { underWay.add(1, ordering: .relaxed).newValue }

    /// Why the last of so many requests may not go on, and when to come again; nil when it may.
    package func refusal(
        _ count: Int,
        _ limits: CallerLimits,
        _ now: Instant
    ) -> (bound: CallerBound, wait: Duration)? {
        if let most = limits.maxRequests, count > most {
            refused(.requests)
            return (.requests, .seconds(1))
        }
        guard let rate = limits.rate, let wait = pass(rate, now) else { return nil }
        return (.rate, wait)
    }

    /// A request that was counted is over.
    package func end() { underWay.subtract(1, ordering: .relaxed) }

    /// Takes a turn by the rate.
    ///
    /// - Returns: nil when it has one now; otherwise when the next one comes.
    package func pass(_ rate: RateLimitSettings, _ now: Instant) -> Duration? {
        let spacing = rate.spacing
        let wait: Duration? = pace.withLock { pace in
            let next = pace.next(spacing, .request, now)
            if next > now { return now.duration(to: next) }
            pace.take(spacing, .request, at: now, now)
            return nil
        }
        if wait != nil { refused(.rate) }
        return wait
    }

    package func refused(_ bound: CallerBound) {
        tallies.withLock { $0[bound, default: RefusalTally()].refused() }
    }

    /// Counts so many bytes more of what it holds, or fewer.
    package func charge(_ bytes: Int) { charged.add(bytes, ordering: .relaxed) }

    /// Whether it has more now than it may; counted as a refusal where it is one.
    package func isOver(_ limits: CallerLimits, isRefused: Bool) -> Bool {
        guard let most = limits.maxBytes, bytes > most else { return false }
        if isRefused { refused(.bytes) }
        return true
    }

    /// The refusals that are to be told of now.
    func takeRefusals(_ now: Instant) -> [(bound: CallerBound, count: Int)] {
        tallies.withLock { tallies in
            CallerBound.allCases.compactMap { bound in
                tallies[bound]?.take(now).map { (bound, $0) }
            }
        }
    }

    /// When there are refusals to tell of.
    var due: Instant? { tallies.withLock { $0.values.compactMap(\.due).min() } }

    /// Whether forgetting the caller would change nothing.
    func isIdle(_ now: Instant) -> Bool {
        requests == 0 && bytes == 0 && pace.withLock { $0.isIdle(now) }
            && tallies.withLock { $0.values.allSatisfy { $0.isSettled(now) } }
    }
}

/// Bytes that are counted as a caller's until the last reference goes.
package final class CallerBytes: Sendable {
    private let share: CallerShare
    private let count: Atomic<Int>

    /// Counts `bytes`, whatever the bound.
    package init(_ share: CallerShare, _ bytes: Int) {
        self.share = share
        count = Atomic(bytes)
        share.charge(bytes)
    }

    deinit { share.charge(-count.load(ordering: .relaxed)) }

    /// Counts so many more, or fewer.
    package func grow(by bytes: Int) {
        count.add(bytes, ordering: .relaxed)
        share.charge(bytes)
    }

    /// Whether the caller has more now than it may; counted as a refusal where it is one.
    package func isOver(_ limits: CallerLimits) -> Bool { share.isOver(limits, isRefused: true) }
}
