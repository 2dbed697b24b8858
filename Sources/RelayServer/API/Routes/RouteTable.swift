import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

/// The routes as a table of very many shows them, composed in pieces: what is nothing is left out.
final class RouteTable: Sendable {
    private let view: RouteView
    private let names: [String]
    private let history: HistoryMachine
    private let memory: RowMemory
    private let look: RowMemory.Look

    /// Rows that are composed at once.
    static let piece = 200

    init(_ view: RouteView, _ engine: Engine, since: Int?) {
        self.view = view
        names = view.names
        history = engine.history.present
        memory = engine.rows
        look = memory.look(at: names, since: since)
    }

    var count: Int { names.count }

    /// The rows of one piece that are told, each with a comma behind it.
    func rows(from start: Int) -> [UInt8] {
        var rows: [UInt8] = []
        for index in start..<min(names.count, start + RouteTable.piece) {
            let row = row(names[index])
            guard memory.tells(index, row.hashValue, in: look) else { continue }
            rows += row
            rows.append(UInt8(ascii: ","))
        }
        return rows
    }

    /// The document of these rows.
    func document(_ rows: [UInt8]) -> [UInt8] {
        var json = JSONObjectWriter()
        json.member("next", look.number)
        json.member("whole", look.isWhole)
        json.array("routes") { if !rows.isEmpty { $0.element(json: rows.dropLast()) } }
        return json.bytes
    }

    private func row(_ name: String) -> [UInt8] {
        let route = view[name]
        var json = JSONObjectWriter()
        json.members(RouteTable.members, of: route)
        let (queued, dead) = (route.jobs.unfinished(name), route.jobs.count(.dead, of: name))
        if queued > 0 { json.member("queued", queued) }
        if dead > 0 { json.member("dead", dead) }
        let upstreams = route.standing?.upstreams ?? []
        if upstreams.contains(where: \.hasActed) {
            json.object("breakers") { json in
                for upstream in upstreams where upstream.hasActed {
                    json.member(upstream.name, upstream.breaker.rawValue)
                }
            }
        }
        guard let entry = route.entry, let figures = route.figures else { return json.bytes }
        // Of one that was idle since the daemon's start, and there are many, nothing is to be reckoned.
        if figures.requests > 0 || figures.succeededAttempts > 0 || !figures.account.failures.isEmpty,
            let hour = RouteHour(history.columns(of: entry, figures), of: route)
        {
            json.object("hour") { hour.write(&$0) }
        }
        return json.bytes
    }

    static let since = Parameter.text(
        "since",
        .pattern("^[0-9]{1,18}$"),
        "What an earlier answer had as next: tells only of the routes that have changed."
    )

    /// - Throws: `bad_target` for anything but the number of a look.
    static func look(_ text: String?) throws(Problem) -> Int? {
        guard let text else { return nil }
        guard text.utf8.count <= 18, text.utf8.allSatisfy(\.isDigit), let number = Int(text) else {
            throw Problem(.badTarget, "since is what an earlier answer has as next, unchanged")
        }
        return number
    }

    private static let members = RouteSituation.members.filter {
        ["name", "state", "last_failure", "pause", "credential", "own_kinds", "oldest_job_at"]
            .contains($0.name)
    }

    static var schema: Schema {
        let row =
            members.map(\.property) + [
                .maybe("queued", .count, "Kept jobs that are not over."), .maybe("dead", .count),
                .maybe("breakers", .map(.text), "Of upstreams whose breaker is not closed, its state."),
                .maybe("hour", RouteHour.schema, "Of a route that was not idle in the last hour."),
            ]
        return .object([
            Property("next", .count),
            Property(
                "whole",
                .boolean,
                "Whether these are all routes, in place of those that were told before."
            ),
            Property("routes", .list(.object(row))),
        ])
    }
}

extension RouteStanding.Upstream {
    fileprivate var hasActed: Bool { breaker != .closed && breaker != .off }
}
