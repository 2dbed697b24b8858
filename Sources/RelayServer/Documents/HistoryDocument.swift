import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute

/// An hour of figures of the routes, in columns of a minute.
struct HistoryDocument: Document {
    private let startedAt: WallTime
    private let reloads: [WallTime]
    private let beganAt: WallTime
    private let columns: Int
    private let routes: [Hour]

    static let route = Parameter.text(
        "route",
        .queryText,
        "Tells of these routes alone, with commas between; at most 200 names, each once."
    )

    /// The names of a list.
    ///
    /// - Throws: `bad_target` where there are too many, or one stands twice.
    static func names(_ text: String) throws(Problem) -> [String] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard names.count <= 200, Set(names).count == names.count else {
            throw Problem(.badTarget, "route names at most 200 routes, each once")
        }
        return names
    }

    /// Of the routes named, which the configuration has.
    init(_ names: [String], _ engine: Engine, _ clock: any ClockSource) {
        let (history, snapshot) = (engine.history.present, engine.snapshot)
        let age = history.age(clock.now()).saturatedNanoseconds / 1_000_000
        let began = clock.wallMilliseconds() - age
        beganAt = WallTime(milliseconds: began)
        startedAt = WallTime(milliseconds: engine.history.startedAt)
        reloads = engine.history.reloads.filter { $0 >= began }.map(WallTime.init)
        columns = history.count
        routes = names.compactMap { snapshot.routes[$0] }.map { entry in
            Hour(
                name: entry.route.name,
                columns: history.columns(of: entry),
                marks: engine.history.marks(of: entry.route.name).filter {
                    Int64($0.mark.at) >= began / 1_000
                }
            )
        }
    }

    static let members: [Member<HistoryDocument>] = [
        .required("interval_ms", .count, "How long a column is.") { _ in
            HistoryMachine.interval.saturatedNanoseconds / 1_000_000
        },
        .required("started_at", .moment, "When the daemon began; nothing is known of before.") {
            $0.startedAt
        },
        .required("reloads", .list(.moment), "When another configuration was there, the latest 24.") {
            $0.reloads
        },
        .required("began_at", .moment, "When the first column began.") { $0.beganAt },
        .required("columns", .integer(1...HistoryMachine.columns), "The last one is running.") {
            $0.columns
        },
        .list("routes", of: Hour.members, "A column is null where nobody looked, or the route was not there.")
        {
            $0.routes
        },
    ]
}

extension HistoryDocument {
    private struct Hour {
        let name: String
        let columns: [HistoryMachine.Column?]
        let marks: [(mark: RouteMarks.Mark, upstream: String?)]

        static let members: [Member<Hour>] = [
            .required("name") { $0.name },
            count("requests") { $0.requests },
            count("failures") { $0.failures },
            count("fallbacks") { $0.fallbacks },
            count("attempts") { $0.attempts },
            count("failed_attempts") { $0.failedAttempts },
            .list(
                "causes",
                of: Cause.members,
                "The failed attempts, most first: of each minute its first three causes, the rest as other."
            ) { $0.causes },
            count("queued", "The most that waited for a permit.") { $0.queued },
            count("in_flight", "The most that were with the upstream.") { UInt32($0.inFlight) },
            .list("marks", of: mark, "The latest 24 acts of operators and moves of breakers.") { $0.marks },
            time("p50_ms") { $0.median },
            time("p99_ms") { $0.p99 },
            time("attempt_p50_ms") { $0.attemptMedian },
            time("attempt_p99_ms") { $0.attemptP99 },
        ]

        private static func count(
            _ name: String,
            _ sentence: String? = nil,
            _ count: @escaping @Sendable (HistoryMachine.Column) -> UInt32
        ) -> Member<Hour> {
            .required(name, [UInt32?].schema, sentence) { $0.columns.map { $0.map(count) } }
        }

        /// With a tenth of a millisecond.
        private static func time(
            _ name: String,
            _ time: @escaping @Sendable (HistoryMachine.Column) -> Float?
        ) -> Member<Hour> {
            .required(name) { hour in
                hour.columns.map { column in
                    column.flatMap(time).map { Duration.microseconds(Int64(($0 * 10).rounded()) * 100) }
                }
            }
        }

        private static let mark: [Member<(mark: RouteMarks.Mark, upstream: String?)>] = [
            .required("at") { WallTime(milliseconds: Int64($0.mark.at) * 1_000) },
            .required("event", .word(EventKind.allCases.map(\.type))) { $0.mark.event.type },
            .optional("state", .word(RouteMarks.State.allCases.map(\.rawValue)), "Of a breaker.") {
                $0.mark.state?.rawValue
            },
            .optional("upstream") { $0.upstream },
            .optional("by", Principal.schema) { $0.mark.by.map { Principal($0) } },
        ]

        /// Bounded, since an upstream may have as many as there are statuses.
        private static let causeLimit = 8

        private var causes: [Cause] {
            let found = HistoryMachine.causes(of: columns).map(\.code)
            let told = found.filter { $0 != .other }.prefix(Hour.causeLimit)
            let causes = columns.map { $0?.causes }
            var rows = told.map { code in
                Cause(code: code, counts: causes.map { $0.map { $0[code] ?? 0 } })
            }
            if told.count < found.count {
                let counts = causes.map { minute in
                    minute.map { $0.reduce(0) { told.contains($1.key) ? $0 : $0 + $1.value } }
                }
                rows.append(Cause(code: .other, counts: counts))
            }
            return rows
        }
    }

    /// Failed attempts that have a kind and a status in common.
    private struct Cause {
        let code: FailureCode
        let counts: [UInt32?]

        static let members: [Member<Cause>] = [
            .required("kind", .failureKind) { $0.code.kind?.rawValue ?? "other" },
            .optional("status") { $0.code.status },
            .required("counts") { $0.counts },
        ]
    }
}
