import RelayBase

/// A rehearsal for people: a line for each route, and what is to be said of it.
struct RehearsalText {
    let rehearsal: Rehearsal
    let file: String
    let moments: Moments

    func text(for output: Output) -> String {
        var table = TextTable([
            ("ROUTE", .left), ("JOBS", .right), ("WOULD HAVE BEEN", .right), ("WOULD NOT", .right),
            ("CANNOT BE KNOWN", .right), ("ATTEMPTS", .right), ("ON RECORD", .right),
            ("HALF WITHIN", .right), ("ALL WITHIN", .right),
        ])
        for part in rehearsal.parts {
            let figures = RehearsalFigures(part.jobs)
            table.add([
                safe(part.route), String(figures.jobs), String(figures.delivered), String(figures.lostCount),
                String(figures.unknownCount), figures.attempts, String(figures.onRecord),
                figures.waits.isEmpty ? "–" : span(figures.waits.half), figures.waits.last.map(span) ?? "–",
            ])
        }
        let sentences = told(RehearsalFigures(rehearsal.jobs)) + idle + rehearsal.assumptions
        return table.text { output.styled($0, .bold) }
            + sentences.map { TextFill.lines($0, columns: 78, indent: 0, hanging: 2) }.joined()
    }

    private func told(_ figures: RehearsalFigures) -> [String] {
        let jobs = figures.jobs == 1 ? "1 job" : "\(figures.jobs) jobs"
        var all = [
            "With the rules of \(safe(file)), of \(jobs) on record \(figures.delivered) would have been delivered"
        ]
        if let first = figures.moments.first, let last = figures.moments.last {
            all[0] +=
                ": the first by \(moments.precise(first)), half by \(moments.precise(figures.moments.half)),"
            all[0] += " the last by \(moments.precise(last))"
        }
        all[0] += "."
        if !figures.lost.isEmpty {
            let ends = figures.lost.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            all.append(
                "\(figures.lostCount) would not have been: "
                    + ends.map { "\($0.value) \(safe($0.key.replacingUnderscores))" }.joined(separator: "; ")
                    + "."
            )
        }
        if !figures.unknown.isEmpty {
            let reasons = RehearsedJob.Unknown.allCases.compactMap { why in
                figures.unknown[why].map { "\($0) \(why.text)" }
            }
            all.append(
                "Of \(figures.unknownCount) it cannot be known: \(reasons.joined(separator: "; "))."
            )
        }
        if figures.most > 0 {
            all.append(
                "Those whose end is known would have taken \(figures.attempts)"
                    + " attempt\(figures.attempts == "1" ? "" : "s"); on record"
                    + " \(figures.onRecord == 1 ? "is" : "are")"
                    + " \(figures.onRecord)."
            )
        }
        return all
    }

    /// Rules that acted on nothing.
    private var idle: [String] {
        rehearsal.parts.compactMap { part in
            let held = part.heldBackRules
            let rules = (part.idleRules ?? []).map {
                "\"\(safe($0))\"" + (held.contains($0) ? " (held back)" : "")
            }
            guard !rules.isEmpty else { return nil }
            return "Rules of \(safe(part.route)) that never act on these: \(rules.joined(separator: ", "))."
        }
    }

    private func span(_ milliseconds: Int64) -> String {
        DurationText.short(milliseconds: Double(milliseconds))
    }
}
