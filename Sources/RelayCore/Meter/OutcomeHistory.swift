/// The outcomes of a route's requests lately: of the last minute, or where those are few, of the latest twenty within
/// the hour.
///
/// Successes are only counted, not told one by one: what came between two looks lies evenly between them. Moments are
/// milliseconds of the wall clock; a step backwards has it begin anew.
package struct OutcomeHistory: Sendable {
    /// Requests by what became of them, since the start or within some time.
    package struct Counts: Hashable, Sendable {
        package var good: UInt64 = 0
        package var standIns: UInt64 = 0
        package var failed: UInt64 = 0

        package var all: UInt64 { good &+ standIns &+ failed }
    }

    private struct Sample {
        let at: Int64
        let counts: Counts
    }

    private struct Trouble {
        let at: Int64
        let isStandIn: Bool
        /// Successes since the start, until then.
        let good: UInt64
    }

    static let minute: Int64 = 60_000
    private static let hour: Int64 = 3_600_000
    private static let few = 20
    /// Between two samples that are kept.
    private static let spacing: Int64 = 1_000

    private var samples: [Sample] = []
    /// The latest, oldest first.
    private var troubles: [Trouble] = []

    /// When a request failed last, or was answered by a stand-in, and the successes by then; nil where none has.
    var lastTrouble: (at: Int64, good: UInt64)? { troubles.last.map { ($0.at, $0.good) } }

    /// One more request, which those counts have already, has failed or was answered by a stand-in.
    mutating func add(isStandIn: Bool, _ counts: Counts, at now: Int64) {
        note(counts, at: now)
        if troubles.count == OutcomeHistory.few { troubles.removeFirst() }
        troubles.append(Trouble(at: now, isStandIn: isStandIn, good: counts.good))
    }

    /// So much has come of all requests by now.
    mutating func note(_ counts: Counts, at now: Int64) {
        if let last = samples.last, now < last.at { (samples, troubles) = ([], []) }
        let begin = now - OutcomeHistory.minute
        // Requests from before the first look count as of the last minute.
        if samples.isEmpty { samples.append(Sample(at: begin, counts: Counts())) }
        let isSoon = samples.count > 1 && now - samples[samples.count - 2].at < OutcomeHistory.spacing
        if isSoon { samples.removeLast() }
        samples.append(Sample(at: now, counts: counts))
        let old = samples.prefix { $0.at <= begin }.count
        if old > 1 { samples.removeFirst(old - 1) }
    }

    /// The outcomes of the requests that the state of a route goes by; those counts have been noted.
    func lately(_ counts: Counts, at now: Int64) -> Counts {
        let minute = counts.since(before(now - OutcomeHistory.minute))
        return minute.all >= UInt64(OutcomeHistory.few) ? minute : latest(counts, at: now)
    }

    /// The counts of that moment.
    private func before(_ moment: Int64) -> Counts {
        guard let first = samples.first else { return Counts() }
        guard samples.count > 1, first.at < moment else { return first.counts }
        let (next, width) = (samples[1], samples[1].at - first.at)
        let part = Double(min(moment, next.at) - first.at) / Double(max(1, width))
        return first.counts.advanced(by: part, of: next.counts.since(first.counts))
    }

    /// Of the latest twenty.
    private func latest(_ counts: Counts, at now: Int64) -> Counts {
        var (found, good) = (Counts(), counts.good)
        for trouble in troubles.reversed() where found.all < OutcomeHistory.few {
            guard now - trouble.at <= OutcomeHistory.hour else { return found }
            found.good += min(good &- trouble.good, UInt64(OutcomeHistory.few) - found.all)
            guard found.all < OutcomeHistory.few else { return found }
            if trouble.isStandIn { found.standIns += 1 } else { found.failed += 1 }
            good = trouble.good
        }
        found.good += min(good, UInt64(OutcomeHistory.few) - found.all)
        return found
    }
}

extension OutcomeHistory.Counts {
    fileprivate func since(_ earlier: Self) -> Self {
        Self(
            good: good &- min(good, earlier.good),
            standIns: standIns &- min(standIns, earlier.standIns),
            failed: failed &- min(failed, earlier.failed)
        )
    }

    fileprivate func advanced(by part: Double, of more: Self) -> Self {
        func share(_ count: UInt64) -> UInt64 { UInt64((Double(count) * part).rounded()) }
        return Self(
            good: good &+ share(more.good),
            standIns: standIns &+ share(more.standIns),
            failed: failed &+ share(more.failed)
        )
    }
}
