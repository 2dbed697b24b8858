/// The table of clauses in the documentation: `| G1-01 | sentence | tests |`.
struct ClauseTable {
    /// One row; a row may stand for a range of clauses, `T-40–T-49`.
    struct Row {
        let line: Int
        let ids: [String]
        let name: String
        let sentence: String
        let tests: String
    }

    private(set) var lines: [String]
    private(set) var rows: [Row] = []
    /// Clauses that are allowed to have no test.
    private(set) var untested: Set<String> = []

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (index, line) in lines.enumerated() {
            if let list = line.after("Clauses without a test: ") {
                untested = Set(list.split { $0 == "," || $0 == " " || $0 == "." }.map(String.init))
                untested.remove("none")
            }
            let cells = Self.cells(line)
            guard cells.count == 3, let ids = Self.ids(cells[0]) else { continue }
            rows.append(
                Row(line: index, ids: ids, name: cells[0], sentence: cells[1], tests: cells[2])
            )
        }
    }

    /// The table with what `tests` names in its third column.
    func filled(with tests: [String: [String]]) -> String {
        var lines = lines
        for row in rows {
            let cell = Self.cell(row.ids.flatMap { tests[$0] ?? [] })
            lines[row.line] = "| \(row.name) | \(row.sentence) |\(cell.isEmpty ? " |" : " \(cell) |")"
        }
        return lines.joined(separator: "\n")
    }

    /// Sentences in one cell, each once.
    private static func cell(_ tests: [String]) -> String {
        var seen: Set<String> = []
        return tests.filter { seen.insert($0).inserted }.sorted()
            .map { "“\($0.split(separator: "|").joined(separator: "\\|"))”" }
            .joined(separator: " ")
    }

    /// The clauses that a first cell names.
    static func ids(_ name: String) -> [String]? {
        let ends = name.split(separator: "–").map(String.init)
        guard let first = ends.first, let (family, from) = parts(first) else { return nil }
        guard ends.count == 2 else { return ends.count == 1 ? [first] : nil }
        guard let (other, to) = parts(ends[1]), other == family, from < to else { return nil }
        return (from...to).map { "\(family)-\($0 < 10 ? "0" : "")\($0)" }
    }

    private static func parts(_ id: String) -> (family: Substring, number: Int)? {
        let parts = id.split(separator: "-")
        guard parts.count == 2, ["G1", "G2", "G3", "AX", "UC", "T", "N", "X"].contains(parts[0]),
            parts[1].count >= 2, let number = Int(parts[1])
        else { return nil }
        return (parts[0], number)
    }

    private static func cells(_ line: String) -> [String] {
        guard line.hasPrefix("|"), line.hasSuffix("|") else { return [] }
        var cells = [""]
        var isEscaped = false
        for character in line.dropFirst() {
            if character == "|", !isEscaped {
                cells.append("")
            } else {
                cells[cells.count - 1].append(character)
            }
            isEscaped = character == "\\"
        }
        return cells.dropLast().map { $0.trimmed }
    }
}

extension String {
    /// The rest behind `prefix`; nil when the text does not begin with it.
    func after(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }

    /// Without spaces at both ends.
    var trimmed: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
