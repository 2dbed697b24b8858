import RelayBase
import RelayClient
import RelayInterface
import RelayJSON
import RelayJobs

/// The last hour of one route, a line for each minute, with what happened in it.
func historyTable(_ history: JSONValue, _ moments: Moments) -> TextTable {
    let figures = [
        ("requests", "REQUESTS"), ("failures", "FAILED"), ("fallbacks", "STAND-INS"),
        ("attempts", "ATTEMPTS"),
        ("failed_attempts", "FAILED"), ("p50_ms", "P50 MS"), ("p99_ms", "P99 MS"), ("in_flight", "IN FLIGHT"),
        ("queued", "QUEUED"),
    ]
    var table = TextTable([("FROM", .left)] + figures.map { ($0.1, .right) } + [("WHAT HAPPENED", .left)])
    func milliseconds(_ json: JSONValue?) -> Int64? { json?.text.flatMap(UTCTime.milliseconds(parsing:)) }
    // Marks are told by the second.
    let began = (milliseconds(history["began_at"]) ?? 0) / 1_000 * 1_000
    let interval = history["interval_ms"]?.integer ?? 60_000
    let hour = history["routes"]?.elements.first ?? .null
    let events =
        (history["reloads"]?.elements ?? []).map { (milliseconds($0), "Reloaded") }
        + (hour["marks"]?.elements ?? []).map { (milliseconds($0["at"]), markText($0)) }
    let lists = figures.map { hour[$0.0]?.elements ?? [] }
    let causes = hour["causes"]?.elements ?? []
    for minute in lists[0].indices {
        let from = began + Int64(minute) * interval
        func figure(_ list: [JSONValue]) -> String {
            guard minute < list.count, list[minute] != .null else { return "–" }
            return String(decoding: list[minute].encoded(), as: UTF8.self)
        }
        let failed = causes.compactMap { cause -> String? in
            let count = figure(cause["counts"]?.elements ?? [])
            let status = cause["status"]?.integer.map { " \($0)" } ?? ""
            return count == "–" || count == "0"
                ? nil : "\(count) × \(safe(cause["kind"]?.text ?? "?"))\(status)"
        }
        let happened = events.filter { $0.0.map { from..<(from + interval) ~= $0 } ?? false }.map(\.1)
        table.add(
            [moments.short(WallTime(milliseconds: from))] + lists.map(figure)
                + [(failed + happened).joined(separator: ", ")]
        )
    }
    return table
}

/// `Circuit breaker of eu opened`, `Paused by uid 1000`.
private func markText(_ mark: JSONValue) -> String {
    let type = mark["event"]?.text ?? "?"
    let kind = EventKind.allCases.first { $0.type == type }
    let told = kind?.mark(mark["state"]?.text, of: mark["upstream"]?.text) ?? type
    return safe(told) + (principalText(mark["by"]).map { " by \($0)" } ?? "")
}
