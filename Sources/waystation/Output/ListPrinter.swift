import RelayJSON

/// How a list is printed.
enum ListFormat: String, CaseIterable {
    /// For people.
    case table
    /// The API's object.
    case json
    /// One element a line.
    case ndjson
    /// Names or ids only, one a line.
    case name
}

/// The style in which the options have lists printed.
struct ListStyle {
    let format: ListFormat
    let hasHeaders: Bool
    let moments: Moments

    init(_ arguments: Arguments) throws(CommandFailure) {
        let text = arguments["output"] ?? "table"
        guard let format = ListFormat(rawValue: text) else {
            let names = ListFormat.allCases.map(\.rawValue)
            throw .usage(
                "-o takes \(names.joined(separator: ", ")), not \"\(safe(text))\"",
                of: arguments.command
            )
        }
        self.format = arguments.has("quiet") ? .name : format
        hasHeaders = !arguments.has("no-headers")
        moments = Moments(isUTC: arguments.has("utc"))
    }

    func text(of table: TextTable) -> String {
        hasHeaders ? table.text { Output.standard.styled($0, .bold) } : table.rowsText
    }
}

extension OptionSpec {
    static let listOutput = OptionSpec(
        "output",
        "o",
        value: "table|json|ndjson|name",
        "how to print; json is the API's object"
    )
    static let noHeaders = OptionSpec("no-headers", nil, "print no line of titles")
    static let quietList = OptionSpec("quiet", "q", "print names or ids only")
    static let utc = OptionSpec("utc", nil, "print times in UTC")
    static let list: [OptionSpec] = [listOutput, noHeaders, quietList, utc, control]
}

extension JSONValue {
    /// The value as one line.
    var line: [UInt8] { encoded() + [UInt8(ascii: "\n")] }
}
