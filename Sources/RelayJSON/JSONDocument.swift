/// A JSON text as a tree that knows where everything stands; for configuration, where messages point into it.
package struct JSONDocument: Sendable {
    package let source: SourceText
    package let root: JSONNode
    /// Members whose names their objects already had, in the order of the text; the tree keeps the first only.
    package let duplicates: [JSONNode.Member]

    /// Reads a text; a repeated name is noted and reading goes on, any other error ends it.
    package init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var sink = DocumentSink()
        try JSONScanner.scan(bytes.span, limits: limits, into: &sink)
        source = SourceText(bytes)
        root = sink.root
        duplicates = sink.duplicates.sorted { $0.nameRange.lowerBound < $1.nameRange.lowerBound }
    }
}

/// One value of a document.
package struct JSONNode: Sendable {
    /// Offsets of the value's bytes in the document, quotes and brackets included.
    package let range: Range<Int>
    package let content: Content

    package enum Content: Sendable {
        case null
        case bool(Bool)
        case number(JSONNumber)
        case string(String)
        case array([JSONNode])
        case object([Member])
    }

    package struct Member: Sendable {
        package let name: String
        /// Offsets of the name, quotes included.
        package let nameRange: Range<Int>
        package let value: JSONNode
    }

    /// The member of that name; nil when there is none or this is no object.
    package subscript(name: String) -> Member? {
        guard case .object(let members) = content else { return nil }
        return members.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The value without its positions.
    package var value: JSONValue {
        switch content {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let number): .number(number)
        case .string(let string): .string(string)
        case .array(let elements): .array(elements.map(\.value))
        case .object(let members): .object(members.map { JSONValue.Member($0.name, $0.value.value) })
        }
    }
}

/// Builds the tree of a `JSONDocument`.
private struct DocumentSink: JSONSink {
    private struct Container {
        var start: Int
        var isObject: Bool
        var elements: [JSONNode] = []
        var members: [JSONNode.Member] = []
    }

    private struct Name {
        var text: String
        var range: Range<Int>
        var isDuplicate: Bool
    }

    private var open: [Container] = []
    private var names: [Name] = []
    private var isDuplicate = false
    private(set) var duplicates: [JSONNode.Member] = []
    private(set) var root = JSONNode(range: 0..<0, content: .null)

    mutating func beginObject(at offset: Int) { open.append(Container(start: offset, isObject: true)) }
    mutating func beginArray(at offset: Int) { open.append(Container(start: offset, isObject: false)) }

    mutating func acceptsDuplicate(_ range: Range<Int>) -> Bool {
        isDuplicate = true
        return true
    }

    mutating func name(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        names.append(
            Name(
                text: JSONString.string(range, isEscaped: isEscaped, in: text),
                range: range.lowerBound - 1..<range.upperBound + 1,
                isDuplicate: isDuplicate
            )
        )
        isDuplicate = false
    }

    mutating func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        let string = JSONString.string(range, isEscaped: isEscaped, in: text)
        add(JSONNode(range: range.lowerBound - 1..<range.upperBound + 1, content: .string(string)))
    }

    mutating func number(_ range: Range<Int>, in text: Span<UInt8>) {
        let number = JSONNumber(text: JSONString.string(range, isEscaped: false, in: text))
        add(JSONNode(range: range, content: .number(number)))
    }

    mutating func literal(_ literal: JSONLiteral, _ range: Range<Int>) {
        switch literal {
        case .null: add(JSONNode(range: range, content: .null))
        case .true: add(JSONNode(range: range, content: .bool(true)))
        case .false: add(JSONNode(range: range, content: .bool(false)))
        }
    }

    mutating func endContainer(at end: Int) {
        let container = open.removeLast()
        let content: JSONNode.Content =
            container.isObject ? .object(container.members) : .array(container.elements)
        add(JSONNode(range: container.start..<end, content: content))
    }

    private mutating func add(_ node: JSONNode) {
        let last = open.count - 1
        guard last >= 0 else {
            root = node
            return
        }
        guard open[last].isObject else {
            open[last].elements.append(node)
            return
        }
        let name = names.removeLast()
        let member = JSONNode.Member(name: name.text, nameRange: name.range, value: node)
        if name.isDuplicate { duplicates.append(member) } else { open[last].members.append(member) }
    }
}
