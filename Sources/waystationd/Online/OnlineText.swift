import RelayJSON

/// The findings for people, as a table with lines below what is not well, and for programs.
struct OnlineText {
    let file: String
    let findings: [OnlineFinding]

    private var failed: [OnlineFinding] { findings.filter { $0.mark == .failed } }
    private var warned: Int { findings.count { $0.mark == .warning } }

    var table: String {
        let names = OnlineFinding.StepName.allCases.filter { name in
            findings.contains { $0.steps.contains { $0.name == name } }
        }
        var rows = [["ENDPOINT"] + names.map { $0.rawValue.uppercased() }]
        for finding in findings {
            rows.append([finding.endpoint.name] + names.map { Self.cell(finding, $0) })
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
        let count = "\(findings.count) endpoint\(findings.count == 1 ? "" : "s")"
        guard let first = failed.first, let fault = first.fault else {
            let warnings = warned == 0 ? "" : ", \(warned) with a warning"
            return "\(file): ok, \(count)\(warnings)\n"
        }
        let name = first.endpoint.name
        return "\(file): \(failed.count) of \(count) cannot be used; first \(name): \(fault.detail)\n"
    }

    private static func cell(_ finding: OnlineFinding, _ name: OnlineFinding.StepName) -> String {
        let steps = finding.steps.filter { $0.name == name }
        guard
            let step = steps.first(where: { $0.mark == .failed })
                ?? steps.first(where: { $0.mark == .warning }) ?? steps.first
        else { return "-" }
        if step.mark == .failed { return "FAILED" }
        guard step.mark != .skipped, let time = step.time else { return "skipped" }
        let word = step.word.map { " \($0)" } ?? ""
        return "\(Int(time.milliseconds.rounded()))ms\(word)\(step.mark == .warning ? " !" : "")"
    }

    private static func lines(_ finding: OnlineFinding) -> String {
        let users = finding.endpoint.users
        let more = users.count > 3 ? " and \(users.count - 3) more" : ""
        var text = "  \(users.prefix(3).joined(separator: ", "))\(more)\n"
        for step in finding.steps where step.mark != .ok {
            let word = step.mark == .failed ? "fault" : step.mark == .warning ? "warning" : "note"
            text += "  \(word): \(step.detail)\n"
            if let advice = step.advice { text += "    \(advice)\n" }
        }
        return text
    }

    var json: [UInt8] {
        var json = JSONObjectWriter()
        json.member("file", file)
        json.member("failed", failed.count)
        json.member("warnings", warned)
        if let first = failed.first, let fault = first.fault {
            json.object("cause") { json in
                json.member("endpoint", first.endpoint.name)
                Self.write(fault, into: &json)
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
