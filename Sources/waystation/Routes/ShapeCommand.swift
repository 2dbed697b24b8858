import RelayBase
import RelayJSON

extension Command {
    static let shape = Command(
        "shape",
        "[--by route|state|failure_kind] [OPTION...]",
        "Shows how many jobs wait, and for how long already.",
        options: [OptionSpec("by", value: "route|state|failure_kind", "what a row is of; route")]
            + OptionSpec.list
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        let style = try ListStyle(arguments)
        let by = arguments["by"] ?? "route"
        guard ["route", "state", "failure_kind"].contains(by) else {
            throw .usage("--by takes route, state or failure_kind", of: "shape")
        }
        let (bytes, shape) = try DaemonAccess.control(arguments).document(.get, "/v1/shape?by=\(by)")
        let rows = shape["rows"]?.elements ?? []
        switch style.format {
        case .table: Output.standard.write(style.text(of: shapeTable(shape)))
        case .json: Output.standard.write(bytes + [UInt8(ascii: "\n")])
        case .ndjson:
            for row in rows { Output.standard.write(row.line) }
        case .name:
            for row in rows { Output.standard.write(safe(row["key"]?.text ?? "?") + "\n") }
        }
        return .done
    }
}

/// The document of `/v1/shape` as a table: rows by name, columns by age.
func shapeTable(_ shape: JSONValue) -> TextTable {
    let bounds = (shape["bucket_ms"]?.elements ?? []).compactMap(\.integer)
    var columns: [(title: String, alignment: TextTable.Alignment)] = [("", .left), ("TOTAL", .right)]
    for bound in bounds { columns.append(("<" + shapeSpan(bound), .right)) }
    columns.append((bounds.last.map { shapeSpan($0) + "+" } ?? "ANY AGE", .right))
    var table = TextTable(columns)
    func add(_ name: String, _ row: JSONValue) {
        let counts = (row["counts"]?.elements ?? []).map { $0.integer.map { String($0) } ?? "–" }
        table.add([safe(name), row["total"]?.integer.map { String($0) } ?? "–"] + counts)
    }
    if let total = shape["total"] { add("TOTAL", total) }
    for row in shape["rows"]?.elements ?? [] { add(row["key"]?.text ?? "?", row) }
    return table
}

/// `8m`, `2h8m`.
private func shapeSpan(_ milliseconds: Int64) -> String { DurationText.text(.milliseconds(milliseconds)) }
