import RelayJSON
import RelaySystemd

/// The findings for people, as a table with lines below what is not well, and for programs.
struct OnlineText {
    let file: String
    let findings: [OnlineFinding]
    /// Whether a warning is a fault.
    let isStrict: Bool

    private func count(_ mark: OnlineFinding.Mark) -> Int { findings.count { $0.mark == mark } }

    /// The first of what is wrong; nil where all is well.
    private var cause: (finding: OnlineFinding, step: OnlineFinding.Step)? {
        func first(_ mark: OnlineFinding.Mark) -> (finding: OnlineFinding, step: OnlineFinding.Step)? {
            for finding in findings where finding.mark == mark {
                if let step = finding.first(mark) { return (finding, step) }
            }
            return nil
        }
        return first(.failed) ?? first(.notSeen) ?? (isStrict ? first(.warning) : nil)
    }

    var isWell: Bool { cause == nil }

    private static func clean(_ text: String) -> String { JournalText.escaped(text, limit: .max) }

    var table: String {
        let names = OnlineFinding.StepName.allCases.filter { name in
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

    private static func cell(_ finding: OnlineFinding, _ name: OnlineFinding.StepName) -> String {
        let steps = finding.steps.filter { $0.name == name }
        guard !steps.isEmpty else { return "-" }
        func has(_ mark: OnlineFinding.Mark) -> Bool { steps.contains { $0.mark == mark } }
        if has(.failed) { return "FAILED" }
        if has(.notSeen) { return "not seen" }
        guard let done = steps.first(where: { $0.mark != .skipped }), let time = done.time else {
            return "skipped"
        }
        let word = done.word.map { " \($0)" } ?? ""
        return "\(Int(time.milliseconds.rounded()))ms\(word)\(has(.warning) ? " !" : "")"
    }

    private static func lines(_ finding: OnlineFinding) -> String {
        let users = finding.endpoint.users
        let more = users.count > 3 ? " and \(users.count - 3) more" : ""
        var text = "  \(clean(users.prefix(3).joined(separator: ", ")))\(more)\n"
        for step in finding.steps where step.mark != .ok {
            let word =
                switch step.mark {
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

    var json: [UInt8] {
        var json = JSONObjectWriter()
        json.member("file", file)
        json.member("failed", count(.failed))
        json.member("not_seen", count(.notSeen))
        json.member("warnings", count(.warning))
        if let (first, step) = cause {
            json.object("cause") { json in
                json.member("endpoint", first.endpoint.name)
                Self.write(step, into: &json)
            }
        }
        json.array("endpoints") { list in
            for finding in findings {
                list.object { json in
                    json.member("endpoint", finding.endpoint.name)
                    json.array("used_by") { list in for user in finding.endpoint.users { list.element(user) }
                    }
                    json.member("result", finding.mark.rawValue)
                    if let address = finding.address { json.member("address", address) }
                    if let days = finding.daysLeft { json.member("certificate_days", days) }
                    json.array("steps") { list in
                        for step in finding.steps { list.object { Self.write(step, into: &$0) } }
                    }
                }
            }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private static func write(_ step: OnlineFinding.Step, into json: inout JSONObjectWriter) {
        json.member("step", step.name.rawValue)
        json.member("result", step.mark.rawValue)
        if let time = step.time { json.member("ms", time.milliseconds) }
        json.member("detail", step.detail)
        if let advice = step.advice { json.member("advice", advice) }
    }
}
