import RelayBase
import RelayJSON

/// The worst cases of routes for people: a table of jobs, and one of the load on an upstream that is down.
struct WorstCaseText {
    private let routes: [JSONValue]
    private let left: Int64

    init(_ json: JSONValue) {
        routes = json["routes"]?.elements ?? []
        left = json["left"]?.integer ?? 0
    }

    func text(for output: Output) -> String {
        guard !routes.isEmpty else { return "" }
        var jobs = TextTable([
            ("ROUTE", .left), ("WAY", .left), ("ATTEMPTS", .right), ("WITH", .left), ("LONGEST", .right),
            ("WITH", .left),
        ])
        var loads = TextTable([
            ("ROUTE", .left), ("FIRST SECOND", .right), ("THEN A SECOND", .right), ("AT ONCE", .right),
            ("RETRIES", .right), ("RATE LIMIT", .left),
        ])
        var rate: Int64 = 0
        for route in routes {
            let name = safe(route["route"]?.text ?? "")
            jobs.add([name, "request"] + way(route["request"]))
            jobs.add(["", "kept job"] + way(route["job"]))
            let load = route["load"]
            rate = load?["requests_per_second"]?.integer ?? rate
            loads.add([
                name, text(load?["first_second"]),
                load?["per_second"]?.double.map { DurationText.decimals($0, 1) } ?? "–",
                text(load?["at_once"]),
                load?["retry_budget"]?["percent"].map { text($0) + "%" } ?? "–", limit(load?["rate_limit"]),
            ])
        }
        var all = "\nAt worst of the series that were tried, on an idle route, as the machine of"
        all += " \(safe(DaemonProgram.path)) has it (waystation what-if):\n"
        all += jobs.text { output.styled($0, .bold) }
        all += "\nAttempts at an upstream that refuses every connection, of \(rate) requests a second:\n"
        all += loads.text { output.styled($0, .bold) }
        if routes.contains(where: { $0["follows"] == .bool(true) }) {
            all +=
                "Looks at operations (follow) come on top: they are no attempts, and no upstream that is down begins one.\n"
        }
        let closed = routes.compactMap { route in
            route["closed_up_to_ms"]?.double.map {
                "\(DurationText.short(milliseconds: $0)) (\(safe(route["route"]?.text ?? "")))"
            }
        }
        if !closed.isEmpty {
            all += TextFill.lines(
                "Planned windows (closed) come on top of a kept job's time: up to \(closed.joined(separator: ", ")).",
                columns: 118,
                indent: 0,
                hanging: 2
            )
        }
        return left == 0
            ? all : all + "(\(left) more routes not looked at: each can be asked with what-if)\n"
    }

    private func way(_ way: JSONValue?) -> [String] {
        func series(_ name: String) -> String {
            safe((way?[name]?.elements ?? []).compactMap(\.text).joined(separator: " "))
        }
        let longest = way?["longest_ms"]?.double ?? 0
        let more = way?["goes_on"] == .bool(true) ? "over " : ""
        return [
            more + text(way?["attempts"]), series("attempts_series"),
            more + DurationText.short(milliseconds: longest),
            series("longest_series"),
        ]
    }

    private func text(_ number: JSONValue?) -> String { number?.integer.map { String($0) } ?? "–" }

    private func limit(_ limit: JSONValue?) -> String {
        guard let limit, let per = limit["per_ms"]?.double else { return "none" }
        return "\(text(limit["max_requests"])) in \(DurationText.short(milliseconds: per))"
    }
}
