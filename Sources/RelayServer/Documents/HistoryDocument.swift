import RelayBase
import RelayEngine
import RelayInterface

/// An hour of figures of the routes, in columns of a minute.
struct HistoryDocument: Document {
    private let beganAt: WallTime
    private let columns: Int
    private let routes: [(name: String, columns: [HistoryMachine.Column])]

    static let route = Parameter.text("route", .queryText, "Tells of this route alone.")

    /// Of the routes named, which the configuration has.
    init(_ names: [String], _ engine: Engine, _ clock: any ClockSource) {
        let (history, snapshot) = (engine.history.present, engine.snapshot)
        let age = history.age(clock.now()).saturatedNanoseconds / 1_000_000
        beganAt = WallTime(milliseconds: clock.wallMilliseconds() - age)
        columns = history.count
        routes = names.compactMap { name in
            snapshot.routes[name].map { (name, history.columns(of: name, HistoryMachine.Totals($0))) }
        }
    }

    static let members: [Member<HistoryDocument>] = [
        .required("interval_ms", .count, "How long a column is.") { _ in
            HistoryMachine.interval.saturatedNanoseconds / 1_000_000
        },
        .required("began_at", .moment, "When the first column began.") { $0.beganAt },
        .required("columns", .integer(1...HistoryMachine.columns), "The last one is running.") {
            $0.columns
        },
        .list("routes", of: figures) { $0.routes },
    ]

    private static let figures: [Member<(name: String, columns: [HistoryMachine.Column])>] = [
        .required("name") { $0.name },
        .required("requests") { $0.columns.map(\.requests) },
        .required("failures") { $0.columns.map(\.failures) },
        .required("fallbacks") { $0.columns.map(\.fallbacks) },
        .required("attempts") { $0.columns.map(\.attempts) },
        .required("failed_attempts") { $0.columns.map(\.failedAttempts) },
        .required("p50_ms") { $0.columns.map { inTenths($0.median) } },
        .required("p99_ms") { $0.columns.map { inTenths($0.p99) } },
        .required("attempt_p50_ms") { $0.columns.map { inTenths($0.attemptMedian) } },
        .required("attempt_p99_ms") { $0.columns.map { inTenths($0.attemptP99) } },
    ]

    /// With a tenth of a millisecond.
    private static func inTenths(_ milliseconds: Float?) -> Duration? {
        milliseconds.map { .microseconds(Int64(($0 * 10).rounded()) * 100) }
    }
}
