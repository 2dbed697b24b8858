package import RelayBase
import RelayCore
import Synchronization

/// The fate of each route's requests in the last hour, minute by minute.
package struct HistoryMachine: Sendable {
    /// Minutes that are told, the running one among them.
    package static let columns = 60
    package static let interval: Duration = .seconds(60)

    /// The figures of a route since its meter is there.
    package struct Totals: Sendable {
        /// Another one has begun anew.
        package var meter: ObjectIdentifier?
        package var requests: UInt64 = 0
        package var failures: UInt64 = 0
        package var fallbacks: UInt64 = 0
        package var attempts: UInt64 = 0
        package var failedAttempts: UInt64 = 0
        /// How long callers waited, and how long attempts took.
        package var answers = DurationCounts()
        package var tries = DurationCounts()

        package init() {}
    }

    /// One minute of a route; durations are nil where there were none.
    package struct Column: Sendable, Equatable {
        package var requests: UInt32 = 0
        package var failures: UInt32 = 0
        package var fallbacks: UInt32 = 0
        package var attempts: UInt32 = 0
        package var failedAttempts: UInt32 = 0
        /// In milliseconds.
        package var median: Float?
        package var p99: Float?
        package var attemptMedian: Float?
        package var attemptP99: Float?

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
            let (answers, tries) = (after.answers.since(before.answers), after.tries.since(before.tries))
            func milliseconds(_ counts: DurationCounts, _ share: Double) -> Float? {
                counts.quantile(share, .latency).map { Float($0 / 1_000) }
            }
            (median, p99) = (milliseconds(answers, 0.5), milliseconds(answers, 0.99))
            (attemptMedian, attemptP99) = (milliseconds(tries, 0.5), milliseconds(tries, 0.99))
        }
    }

    private struct Track {
        /// The totals at the begin of the running minute.
        var before: Totals
        /// Minutes that are over, oldest first.
        var past: [Column] = []

        /// The running minute.
        func column(_ now: Totals) -> Column {
            Column(now.meter == before.meter ? before : Totals(), now)
        }
    }

    private var tracks: [String: Track] = [:]
    /// When the running minute began.
    private var began: Instant?
    /// Minutes that are over and told, of a route that was there all the time.
    private var past = 0

    package init() {}

    /// Takes up what the routes of the configuration have come to; to be told once a minute, when it is `due`.
    package mutating func looked(_ routes: () -> [String: Totals], _ now: Instant) {
        guard let start = began else {
            // All that came before the first look belongs to the first minute.
            began = now
            return
        }
        let minutes = Int(start.duration(to: now) / HistoryMachine.interval)
        guard minutes > 0 else { return }
        began = start.advanced(by: HistoryMachine.interval * minutes)
        past = min(HistoryMachine.columns - 1, past + minutes)
        let totals = routes()
        tracks = Dictionary(
            uniqueKeysWithValues: totals.map { name, after in
                var track = tracks[name] ?? Track(before: Totals())
                // A clock that was not looked at has minutes of which nothing more is known.
                let missed = min(HistoryMachine.columns, minutes - 1)
                track.past += [track.column(after)] + Array(repeating: Column(), count: missed)
                track.past.removeFirst(max(0, track.past.count - (HistoryMachine.columns - 1)))
                track.before = after
                return (name, track)
            }
        )
    }

    /// When the running minute ends; nil before the first look.
    package var due: Instant? { began?.advanced(by: HistoryMachine.interval) }

    /// The minutes of a route, oldest first, with the running one as `now` has it; as many for every route.
    package func columns(of route: String, _ now: Totals) -> [Column] {
        let track = tracks[route]
        let known = track?.past ?? []
        let missing = Array(repeating: Column(), count: max(0, past - known.count))
        return missing + known + [track?.column(now) ?? Column(Totals(), now)]
    }

    /// How many minutes are told.
    package var count: Int { past + 1 }

    /// How long ago the first of them began.
    package func age(_ now: Instant) -> Duration {
        HistoryMachine.interval * past + (began.map { $0.duration(to: now) } ?? .zero)
    }
}

extension HistoryMachine.Totals {
    /// Of a route as it is.
    package init(_ entry: Snapshot.Entry) {
        let figures = entry.state.figures
        meter = ObjectIdentifier(entry.state.meter)
        requests = figures.requests
        failures = figures[.failed]
        fallbacks = figures.fallbacks
        failedAttempts = figures.account.failures.values.reduce(0, &+)
        attempts = failedAttempts &+ figures.succeededAttempts
        answers = figures.answers
        tries = figures.attempts
    }
}

/// The last hour of every route of the configuration.
package final class RouteHistory: Sendable {
    private let machine = Mutex(HistoryMachine())

    /// Takes up how the routes are; to be told once a minute, when it is `due`.
    package func look(_ snapshot: Snapshot, _ now: Instant) {
        machine.withLock { $0.looked({ snapshot.routes.mapValues { HistoryMachine.Totals($0) } }, now) }
    }

    /// When the running minute ends.
    package var due: Instant? { machine.withLock { $0.due } }

    /// As of now.
    package var present: HistoryMachine { machine.withLock { $0 } }
}
