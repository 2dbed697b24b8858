package import RelayBase
package import RelayCore

extension HistoryMachine {
    /// The figures of a route since its meter is there, but for those of the running minute alone.
    package struct Totals: Sendable {
        /// Another one has begun anew.
        package var meter: ObjectIdentifier?
        package var requests: UInt64 = 0
        package var failures: UInt64 = 0
        package var fallbacks: UInt64 = 0
        package var attempts: UInt64 = 0
        package var failedAttempts: UInt64 = 0
        /// Of the running minute, as are the most that waited, and that were with the upstream.
        package var causes: [FailureCode: UInt32] = [:]
        package var queued = 0
        package var inFlight = 0
        /// How long callers waited, and how long attempts took.
        package var answers = DurationCounts()
        package var tries = DurationCounts()

        package init() {}

        /// Of a route as it is, whose figures were perhaps looked at already; `endsMinute` where its running minute is
        /// over.
        init(_ entry: Snapshot.Entry, _ known: RouteFigures? = nil, endsMinute: Bool = false) {
            let figures = endsMinute ? entry.state.meter.endMinute() : known ?? entry.state.figures
            meter = ObjectIdentifier(entry.state.meter)
            requests = figures.requests
            failures = figures[.failed]
            fallbacks = figures.fallbacks
            failedAttempts = figures.account.failures.values.reduce(0, &+)
            attempts = failedAttempts &+ figures.succeededAttempts
            causes = figures.account.causes
            (inFlight, queued) = entry.state.peaks(endsMinute: endsMinute)
            answers = figures.answers
            tries = figures.attempts
        }
    }

    /// One minute of a route, in few bytes: there are many of them.
    package struct Column: Sendable {
        /// Causes that are told by name.
        private static let named = 3

        package private(set) var requests: UInt32 = 0
        package private(set) var failures: UInt32 = 0
        package private(set) var fallbacks: UInt32 = 0
        package private(set) var attempts: UInt32 = 0
        package private(set) var failedAttempts: UInt32 = 0
        /// The most that waited for a permit.
        package private(set) var queued: UInt32 = 0
        private var counts = InlineArray<3, UInt32>(repeating: 0)
        /// The most that were with the upstream.
        package private(set) var inFlight: UInt16 = 0
        private var codes = InlineArray<3, FailureCode>(repeating: .other)
        /// The upper halves of `Float`s, in milliseconds; 0 where there were none.
        private var times = InlineArray<4, UInt16>(repeating: 0)

        init() {}

        /// From the totals before and after.
        init(_ before: Totals, _ after: Totals) {
            func count(_ before: UInt64, _ after: UInt64) -> UInt32 {
                after > before ? UInt32(clamping: after - before) : 0
            }
            requests = count(before.requests, after.requests)
            failures = count(before.failures, after.failures)
            fallbacks = count(before.fallbacks, after.fallbacks)
            attempts = count(before.attempts, after.attempts)
            failedAttempts = count(before.failedAttempts, after.failedAttempts)
            (queued, inFlight) = (UInt32(clamping: after.queued), UInt16(clamping: after.inFlight))
            let causes = after.causes.filter { $0.key != .other }
                .sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
            var rest = failedAttempts
            for (place, cause) in causes.prefix(Column.named).enumerated() {
                (codes[place], counts[place]) = (cause.key, min(rest, cause.value))
                rest -= counts[place]
            }
            func half(_ counts: DurationCounts, _ share: Double) -> UInt16 {
                UInt16(Float((counts.quantile(share, .latency) ?? 0) / 1_000).bitPattern >> 16)
            }
            let (answers, tries) = (after.answers.since(before.answers), after.tries.since(before.tries))
            times = [half(answers, 0.5), half(answers, 0.99), half(tries, 0.5), half(tries, 0.99)]
        }

        /// Whether nothing was under way.
        var isIdle: Bool { requests == 0 && attempts == 0 && inFlight == 0 && queued == 0 }

        /// In milliseconds; nil where there were none.
        package var median: Float? { time(0) }
        package var p99: Float? { time(1) }
        package var attemptMedian: Float? { time(2) }
        package var attemptP99: Float? { time(3) }

        private func time(_ place: Int) -> Float? {
            times[place] == 0 ? nil : Float(bitPattern: UInt32(times[place]) << 16)
        }

        /// Failed attempts by cause, which together are all that failed; the rest is `.other`.
        package var causes: [FailureCode: UInt32] {
            var causes: [FailureCode: UInt32] = [:]
            var rest = failedAttempts
            for place in 0..<Column.named where counts[place] > 0 {
                causes[codes[place]] = counts[place]
                rest -= counts[place]
            }
            if rest > 0 { causes[.other] = rest }
            return causes
        }
    }
}
