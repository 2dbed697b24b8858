import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs

/// Unfinished jobs by age, as a table: what waits, and for how long already.
struct ShapeTable: Document {
    /// The property that the jobs of a row share.
    enum Key: String, CaseIterable, WordValue {
        case route
        case state
        case failureKind = "failure_kind"
    }

    static let by = Parameter.choice(
        "by",
        Key.allCases.map { ($0.rawValue, $0) },
        "What a row stands for: a route, a state, or the kind of what failed last."
    )
    static let route = Parameter.text("route", .queryText, "Counts only the jobs of this route.")
    static let parameters: [any QueryParameter] = [by, route]

    private static let none = Array(repeating: 0, count: JobCounters.bucketCount)

    private let by: Key
    private var total = none
    private var rows: [String: [Int]] = [:]

    init(by: Key, route: String?, _ server: LoopServer) async throws(Problem) {
        self.by = by
        let counters = try await RouteView.counters(server)
        for (group, ages) in counters.ages where route == nil || route == group.route {
            total = zip(total, ages).map(+)
            if by == .failureKind { continue }
            let key = by == .state ? group.state.name : group.route
            rows[key] = zip(rows[key] ?? Self.none, ages).map(+)
        }
        guard by == .failureKind else { return }
        for (kind, ages) in try await RouteView.failures(route, server) {
            rows[kind.rawValue] = ages
        }
        // A job that fails between the two looks is in neither or in both.
        let failed = rows.values.reduce(Self.none) { zip($0, $1).map(+) }
        rows["none"] = zip(total, failed).map { max(0, $0 - $1) }
    }

    static let members: [Member<ShapeTable>] = [
        .required("by") { $0.by },
        .required("bucket_ms", .list(.count), "The end of each bucket but the last.") { _ in
            (0..<(JobCounters.bucketCount - 1)).map { 60_000 << $0 }
        },
        .part("total", of: counts) { ("", $0.total) },
        .list("rows", of: [.required("key") { $0.key }] + counts) { shape in
            shape.rows.filter { $0.value.contains { $0 != 0 } }.sorted { $0.key < $1.key }
        },
    ]

    private static let counts: [Member<(key: String, value: [Int])>] = [
        .required("total") { $0.value.reduce(0, +) },
        .required("counts", .list(.count), "By age.") { $0.value },
    ]
}
