import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

/// The last hour of a route, in few figures.
struct RouteHour {
    /// Whether it goes by attempts: one request that succeeded must not hide deliveries that fail.
    private let isOfAttempts: Bool
    private var count = 0
    private var failed = 0
    private var most: UInt32 = 0
    private var last: UInt32?
    private var times: [(name: String, milliseconds: Float?)] = [("p50_ms", nil), ("p99_ms", nil)]

    /// How many minutes before the running one a time may be of.
    private static let recent = 5

    /// Nil of one that was idle.
    init?(_ columns: [HistoryMachine.Column?], of route: RouteSituation) {
        var (requests, attempts, isAlone) = (false, false, false)
        for case let column? in columns {
            requests = requests || column.requests > 0
            attempts = attempts || column.attempts > 0
            isAlone = isAlone || column.attempts > 0 && column.requests == 0
        }
        guard requests || attempts else { return nil }
        isOfAttempts =
            attempts
            && (!requests || isAlone
                || JobState.allCases.contains { route.jobs.count($0, of: route.name) > 0 })
        for (index, column) in columns.enumerated() {
            guard let column else { continue }
            let all = isOfAttempts ? column.attempts : column.requests
            count += Int(all)
            failed += Int(isOfAttempts ? column.failedAttempts : column.failures)
            most = max(most, all)
            let age = columns.count - 1 - index
            if age == 1 { last = all }
            // The running minute is told where there is nothing else.
            guard age <= RouteHour.recent, age > 0 || times[0].milliseconds == nil else { continue }
            if let time = isOfAttempts ? column.attemptMedian : column.median { times[0].milliseconds = time }
            if let time = isOfAttempts ? column.attemptP99 : column.p99 { times[1].milliseconds = time }
        }
    }

    func write(_ json: inout JSONObjectWriter) {
        json.member("of", isOfAttempts ? "attempt" : "request")
        json.member("count", count)
        json.member("failed", failed)
        json.member("most", most)
        json.member("last", last.map { .number(JSONNumber(Int($0))) } ?? JSONValue.null)
        for case (let name, let time?) in times {
            // With a tenth of a millisecond.
            Duration.microseconds(Int64((time * 10).rounded()) * 100).write(name, into: &json)
        }
    }

    static var schema: Schema {
        .object([
            Property("of", .word(["request", "attempt"]), "What is counted."), Property("count", .count),
            Property("failed", .count), Property("most", .count, "Of a minute."),
            Property("last", .orNull(.count), "Of the last minute that is over."),
            .maybe("p50_ms", Duration.schema), .maybe("p99_ms", Duration.schema),
        ])
    }
}
