package import RelayBase
import RelayJobs
package import RelayRoute
import Synchronization

/// The figures of a route since the daemon started; they outlive a reload.
///
/// Each loop counts in a shard of its own, which nobody else writes, and a reader adds the shards up: the common end
/// of a request costs no lock. The figures that change seldom are under one.
package final class RouteMeter: Sendable {
    private let shards: [Shard]
    /// By name, of every configuration since the start: those that have gone come back with their figures.
    private let upstreams = Mutex<[String: UpstreamMeter]>([:])
    private let account = Mutex(RouteAccount())

    /// The counts of one shard.
    private final class Shard: Sendable {
        let counts: InlineArray<15, Atomic<UInt64>>
        let answers = DurationCells()
        let lives = DurationCells()
        let delays = DurationCells()
        let permitWaits = DurationCells()
        let starts = DurationCells()
        let exemplars = ExemplarCells()
        let ordinary: InlineArray<12, Atomic<UInt64>>
        let promoted: InlineArray<7, Atomic<UInt64>>

        init() {
            counts = InlineArray { _ in Atomic(0) }
            ordinary = InlineArray { _ in Atomic(0) }
            promoted = InlineArray { _ in Atomic(0) }
        }

        @inline(__always)
        func add(_ count: Count) { counts[count.rawValue].wrappingAdd(1, ordering: .relaxed) }
    }

    private typealias Count = RouteFigures.Count

    /// `shards` are those of the loops and one for whoever is on none; without any nothing is counted.
    package init(shards: Int) { self.shards = (0..<shards).map { _ in Shard() } }

    /// Takes up what a job came to: one that is over, or one that waits for another attempt.
    ///
    /// `isPlain` tells of one that an upstream answered at the first attempt; `wall` is in milliseconds since 1970 UTC.
    package func count(_ report: JobReport, isPlain: Bool = false, shard: Int, wall: Int64) {
        guard shards.indices.contains(shard) else { return }
        let cells = shards[shard]
        if report.state.isTerminal { count(end: report, cells, wall) }
        if let wait = report.permitWait { cells.permitWaits.took(wait, .wait) }
        if report.isDurable, report.cause == .run, !report.attempts.isEmpty,
            report.attempts[0].exchange != nil, let due = report.context?.history?.dueAt
        {
            let waited = max(0, report.attempts[0].beganAt &- due)
            cells.starts.took(nanoseconds: min(waited, 1_000_000_000_000) * 1_000_000, .wait)
        }
        if isPlain { return }
        account.withLock { account in
            if report.cause == .run {
                for attempt in report.attempts {
                    account.count(attempt)
                    if case .retry(let wait)? = attempt.next { cells.delays.took(wait, .lifetime) }
                }
            }
            // A job that ended without an attempt was never sent; a caller that has gone was not refused.
            if report.state.isTerminal, report.state != .cancelled, report.attempts.isEmpty,
                let failure = report.failure
            {
                account.count(unsent: failure.kind)
            }
            account.health.count(report, wall: wall) { answered }
        }
    }

    /// The upstream was looked at about an operation, of which no attempt tells.
    package func looked(_ word: LookUp) { account.withLock { $0.count(word) } }

    /// A request took the ordinary path from its beginning.
    package func tookOrdinaryPath(_ reason: OrdinaryReason, shard: Int) {
        guard shards.indices.contains(shard), let place = OrdinaryReason.allCases.firstIndex(of: reason)
        else {
            return
        }
        shards[shard].ordinary[place].wrappingAdd(1, ordering: .relaxed)
    }

    /// A request that was being passed through went on as an ordinary one.
    package func promoted(_ reason: PromotionReason, shard: Int) {
        guard shards.indices.contains(shard), let place = PromotionReason.allCases.firstIndex(of: reason)
        else {
            return
        }
        shards[shard].promoted[place].wrappingAdd(1, ordering: .relaxed)
    }

    /// Takes up a request that an upstream answered at the first attempt.
    package func countPlain(shard: Int) {
        if shards.indices.contains(shard) { shards[shard].add(.succeeded) }
    }

    /// The head of an upstream's answer is there whose content may go on for long.
    package func isAnswered(shard: Int) {
        if shards.indices.contains(shard) { shards[shard].add(.head) }
    }

    /// The same as `answered`, in nanoseconds; returns the bucket where an exemplar is wanted, or -1.
    package func answeredPlainly(_ taken: Int64, _ now: Int64, shard: Int) -> Int {
        guard shards.indices.contains(shard) else { return -1 }
        let cells = shards[shard]
        let place = cells.answers.took(nanoseconds: taken, .latency)
        return cells.exemplars.wants(place, Instant(nanoseconds: now)) ? place : -1
    }

    /// Shows the trace of a request in that bucket.
    package func note(
        _ trace: TraceID,
        _ taken: Int64,
        _ wall: Int64,
        in place: Int,
        _ now: Int64,
        shard: Int
    ) {
        shards[shard].exemplars.note(
            TraceExemplar(trace: trace, microseconds: UInt64(max(0, taken)) / 1_000, wall: wall),
            in: place,
            Instant(nanoseconds: now)
        )
    }

    private func count(end report: JobReport, _ cells: Shard, _ wall: Int64) {
        switch (report.state, report.source) {
        case (.succeeded, .fallback): cells.add(.fallback)
        case (.succeeded, .placeholder): cells.add(.placeholder)
        case (.succeeded, .stale): cells.add(.stale)
        case (.succeeded, _):
            cells.add(.succeeded)
            if report.attemptCount > 1, !report.isOfOperation, report.hasRepeated { cells.add(.recovered) }
        case (.cancelled, _): cells.add(.cancelled)
        default: cells.add(.failed)
        }
        if report.failure != nil, report.isBreach { cells.add(.breaches) }
        guard report.isDurable else { return }
        switch report.state {
        case .succeeded: cells.add(.jobsSucceeded)
        case .cancelled: cells.add(.jobsCancelled)
        case .expired: cells.add(.jobsExpired)
        default: cells.add(.jobsDead)
        }
        cells.lives.took(.milliseconds(max(0, wall - report.id.milliseconds)), .lifetime)
    }

    /// A job is on disk.
    package func accepted(shard: Int) {
        if shards.indices.contains(shard) { shards[shard].add(.accepted) }
    }

    /// Somebody removed a job that was not over.
    package func dropped(shard: Int) {
        if shards.indices.contains(shard) { shards[shard].add(.jobsDropped) }
    }

    /// A request was answered whose caller has waited since then; `exemplar` tells its trace, with the present in
    /// milliseconds since 1970 UTC, and is asked only where that is wanted.
    @inline(__always)
    package func answered(
        since began: Instant,
        _ now: Instant,
        shard: Int,
        exemplar: () -> (trace: TraceID, wall: Int64)?
    ) {
        guard shards.indices.contains(shard) else { return }
        let cells = shards[shard]
        let taken = began.duration(to: now)
        let place = cells.answers.took(taken, .latency)
        guard cells.exemplars.wants(place, now), let (trace, wall) = exemplar() else { return }
        let microseconds = UInt64(max(0, taken.saturatedNanoseconds)) / 1_000
        cells.exemplars.note(
            TraceExemplar(trace: trace, microseconds: microseconds, wall: wall),
            in: place,
            now
        )
    }

    /// The head of a streamed answer was held back until then.
    func released(_ end: HeadRelease) { account.withLock { $0.releases[end, default: 0] &+= 1 } }

    /// An attempt that was late was sent a second time, or was not.
    func hedged(_ end: HedgeEnd) { account.withLock { $0.hedges[end, default: 0] &+= 1 } }

    package func count(_ change: BreakerChange) { account.withLock { $0.count(change) } }
}

extension RouteMeter {
    /// The meter of an upstream of that name; it is known from then on, unless there are more names than anybody needs.
    package func upstream(_ name: String) -> UpstreamMeter {
        upstreams.withLock { known in
            if let meter = known[name] { return meter }
            let meter = UpstreamMeter(name, shards: shards.count)
            if known.count < RouteAccount.nameLimit { known[name] = meter }
            return meter
        }
    }
}

// The figures that have been counted.
extension RouteMeter {
    /// One of the figures, as of now.
    package func sum(_ count: RouteFigures.Count) -> UInt64 {
        shards.reduce(0) { $0 &+ $1.counts[count.rawValue].load(ordering: .relaxed) }
    }

    private var answered: RouteHealth.Answered {
        RouteHealth.Answered(requests: sum(.succeeded), heads: sum(.head))
    }

    /// How the route is doing now; `wall` is in milliseconds since 1970 UTC.
    package func health(at wall: Int64) -> RouteHealth {
        let answered = answered
        return account.withLock { account in
            account.health.look(answered, wall: wall)
            return account.health
        }
    }

    /// All of it, each figure by itself as of now.
    package var figures: RouteFigures { figures(account.withLock { $0 }) }

    /// The same at the end of a minute of the history; the causes are counted anew from then on.
    package func endMinute() -> RouteFigures {
        figures(
            account.withLock { account in
                defer { account.causes = [:] }
                return account
            }
        )
    }

    private func figures(_ account: RouteAccount) -> RouteFigures {
        let upstreams = upstreams.withLock { $0 }
        var figures = RouteFigures(account, sum)
        for shard in shards {
            figures.answers += shard.answers.counts
            figures.lives += shard.lives.counts
            figures.delays += shard.delays.counts
            figures.permitWaits += shard.permitWaits.counts
            figures.starts += shard.starts.counts
        }
        for upstream in upstreams.values {
            figures.succeededAttempts &+= upstream.succeeded
            figures.attempts += upstream.attempts
        }
        return figures
    }

    /// Failures that reached callers although the route never fails.
    package var breaches: UInt64 { sum(.breaches) }

    /// Requests that took the ordinary path, by why; those that never happened are left out.
    package var ordinary: [(OrdinaryReason, UInt64)] {
        counted(OrdinaryReason.allCases) { $0.ordinary[$1].load(ordering: .relaxed) }
    }

    /// Requests that were passed through and went on as ordinary ones.
    package var promoted: [(PromotionReason, UInt64)] {
        counted(PromotionReason.allCases) { $0.promoted[$1].load(ordering: .relaxed) }
    }

    private func counted<Reason>(_ reasons: [Reason], _ count: (Shard, Int) -> UInt64) -> [(Reason, UInt64)] {
        reasons.enumerated().compactMap { place, reason in
            let sum = shards.reduce(0) { $0 &+ count($1, place) }
            return sum == 0 ? nil : (reason, sum)
        }
    }

    /// The latest exemplar of each bucket of `answers`.
    package var exemplars: [TraceExemplar?] {
        (0..<DurationBuckets.count).map { place in
            shards.compactMap { $0.exemplars.exemplar(in: place) }.max { $0.wall < $1.wall }
        }
    }
}
