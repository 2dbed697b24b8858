/// Rows in columns as wide as their widest cell.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [[String]] = []

    init(_ columns: [(title: String, alignment: Alignment)]) {
        self.columns = columns
    }

    /// Lines of a title, in a column of that width, and its value; a line without a value is left out.
    static func sheet(_ rows: [(title: String, value: String?)], width: Int) -> String {
        rows.map { title, value in
            value.map { title + String(repeating: " ", count: max(1, width - title.count)) + $0 + "\n" } ?? ""
        }.joined()
    }

    /// Adds a row of as many cells as there are columns.
    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The lines, the title's first; without blanks at their ends.
    func text(style: (String) -> String) -> String {
        let widths = widths
        return style(line(columns.map(\.title), widths)) + "\n"
            + rows.map { line($0, widths) + "\n" }.joined()
    }

    /// The lines without the titles.
    var rowsText: String {
        let widths = widths
        return rows.map { line($0, widths) + "\n" }.joined()
    }

    private var widths: [Int] {
        let cells = [columns.map(\.title)] + rows
        return columns.indices.map { column in
            cells.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() where column < columns.count {
            let padding = String(repeating: " ", count: max(0, widths[column] - cell.count))
            if columns[column].alignment == .right {
                line += padding + cell
            } else {
                line += column == columns.count - 1 ? cell : cell + padding
            }
            if column < columns.count - 1 { line += "  " }
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
