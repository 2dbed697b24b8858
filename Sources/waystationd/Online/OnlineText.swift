import RelayInterface
import RelayServer
import RelaySystemd

/// The findings for people, as a table with lines below what is not well, and for programs.
struct OnlineText {
    let file: String
    let findings: [OnlineFinding]
    /// Whether a warning is a fault.
    let isStrict: Bool

    private func count(_ result: EndpointResult) -> Int { findings.count { $0.result == result } }

    /// The first of what is wrong; nil where all is well.
    private var cause: (finding: OnlineFinding, step: OnlineFinding.Step)? {
        func first(_ result: EndpointResult) -> (finding: OnlineFinding, step: OnlineFinding.Step)? {
            for finding in findings where finding.result == result {
                if let step = finding.first(result) { return (finding, step) }
            }
            return nil
        }
        return first(.failed) ?? first(.notSeen) ?? (isStrict ? first(.warning) : nil)
    }

    var isWell: Bool { cause == nil }

    private static func clean(_ text: String) -> String { JournalText.escaped(text, limit: .max) }

    var table: String {
        let names = EndpointStep.allCases.filter { name in
            findings.contains { $0.steps.contains { $0.name == name } }
        }
        var rows = [["ENDPOINT"] + names.map { $0.rawValue.uppercased() }]
        for finding in findings {
            rows.append([Self.clean(finding.endpoint.name)] + names.map { Self.cell(finding, $0) })
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var text = ""
        for (index, row) in rows.enumerated() {
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell
                if column < row.count - 1 {
                    line += String(repeating: " ", count: widths[column] - cell.count + 2)
                }
            }
            text += line + "\n"
            if index > 0 { text += Self.lines(findings[index - 1]) }
        }
        return text
    }

    /// One line: how it went, and the first cause.
    var verdict: String {
        let all = "\(findings.count) endpoint\(findings.count == 1 ? "" : "s")"
        let (failed, unseen, warned) = (count(.failed), count(.notSeen), count(.warning))
        var parts: [String] = []
        if failed > 0 { parts.append("\(failed) of \(all) cannot be used") }
        if unseen > 0 {
            parts.append("\(unseen)\(failed > 0 ? "" : " of \(all)") had no time to be looked at to the end")
        }
        if parts.isEmpty { parts.append(isStrict && warned > 0 ? all : "ok, \(all)") }
        if warned > 0 { parts.append("\(warned) with a warning") }
        var text = "\(file): \(parts.joined(separator: ", "))"
        if let (first, step) = cause { text += "; first \(first.endpoint.name): \(step.detail)" }
        return Self.clean(text) + "\n"
    }

    private static func cell(_ finding: OnlineFinding, _ name: EndpointStep) -> String {
        let steps = finding.steps.filter { $0.name == name }
        guard !steps.isEmpty else { return "-" }
        func has(_ result: EndpointResult) -> Bool { steps.contains { $0.result == result } }
        if has(.failed) { return "FAILED" }
        if has(.notSeen) { return "not seen" }
        guard let done = steps.first(where: { $0.result != .skipped }), let time = done.time else {
            return "skipped"
        }
        let word = done.word.map { " \($0)" } ?? ""
        return "\(Int(time.milliseconds.rounded()))ms\(word)\(has(.warning) ? " !" : "")"
    }

    private static func lines(_ finding: OnlineFinding) -> String {
        let users = finding.endpoint.users
        let more = users.count > 3 ? " and \(users.count - 3) more" : ""
        var text = "  \(clean(users.prefix(3).joined(separator: ", ")))\(more)\n"
        for step in finding.steps where step.result != .ok {
            let word =
                switch step.result {
                case .failed: "fault"
                case .notSeen: "not seen"
                case .warning: "warning"
                case .ok, .skipped: "note"
                }
            text += "  \(word): \(clean(step.detail))\n"
            if let advice = step.advice { text += "    \(advice)\n" }
        }
        return text
    }

    /// The document for programs.
    var document: EndpointsDocument {
        EndpointsDocument(
            file: file,
            cause: cause.map { EndpointsDocument.Cause($0.finding.endpoint.name, $0.step) },
            findings.map(\.document),
            text: table,
            verdict: verdict
        )
    }
}
