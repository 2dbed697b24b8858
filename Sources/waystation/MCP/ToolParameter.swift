import RelayJSON

/// An argument of a tool: its schema, its check and the words that it becomes come from one row.
struct ToolParameter: Sendable {
    enum Kind: Sendable {
        case text
        case word([String])
        case flag
        case texts
        case count(ClosedRange<Int>)
        /// JSON as text.
        case document
    }

    let name: String
    let kind: Kind
    let summary: String
    var isRequired = false

    /// Bytes of a text, and of one that is JSON.
    private static let longest = 1_024
    private static let longestDocument = 65_536
    /// Elements of a list.
    private static let most = 100

    func writeSchema(into json: inout JSONObjectWriter) {
        json.object(name) { json in
            switch kind {
            case .text, .document: json.member("type", "string")
            case .word(let words):
                json.member("type", "string")
                json.array("enum") { list in for word in words { list.element(word) } }
            case .flag: json.member("type", "boolean")
            case .texts:
                json.member("type", "array")
                json.object("items") { $0.member("type", "string") }
                json.member("maxItems", Self.most)
            case .count(let range):
                json.member("type", "integer")
                json.member("minimum", range.lowerBound)
                json.member("maximum", range.upperBound)
            }
            json.member("description", summary)
        }
    }

    /// Reads a value as texts: one, several of a list, `true` or nothing of a flag.
    ///
    /// - Throws: what is wrong with it.
    func read(_ value: JSONValue) throws(ToolFault) -> [String] {
        switch (kind, value) {
        case (.text, .string(let text)): return [try checked(text, Self.longest)]
        case (.document, .string(let text)):
            guard let first = text.utf8.first(where: { $0 > 0x20 }), [0x7B, 0x5B].contains(first) else {
                throw ToolFault("\(name) is JSON that begins with a brace or a bracket")
            }
            return [try checked(text, Self.longestDocument)]
        case (.word(let words), .string(let text)):
            guard words.contains(text) else {
                throw ToolFault("\(name) is one of \(words.joined(separator: ", "))")
            }
            return [text]
        case (.flag, .bool(let isSet)): return isSet ? ["true"] : []
        case (.count(let range), .number(let number)):
            guard let count = number.int64, range.contains(Int(count)) else { break }
            return [String(count)]
        case (.texts, .array(let elements)):
            guard elements.count <= Self.most else {
                throw ToolFault("\(name) has \(Self.most) elements at most")
            }
            var texts: [String] = []
            for element in elements {
                guard case .string(let text) = element else { throw ToolFault("\(name) is a list of texts") }
                texts.append(try checked(text, Self.longest))
            }
            return texts
        default: break
        }
        throw ToolFault("\(name) is \(wanted)")
    }

    private func checked(_ text: String, _ limit: Int) throws(ToolFault) -> String {
        // Where a NUL is, C ends an argument.
        guard !text.isEmpty, text.utf8.count <= limit, !text.utf8.contains(0) else {
            throw ToolFault("\(name) has 1 to \(limit) bytes, and no NUL")
        }
        return text
    }

    private var wanted: String {
        switch kind {
        case .text, .word, .document: "a text"
        case .flag: "true or false"
        case .texts: "a list of texts"
        case .count(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        }
    }
}

/// Why a tool cannot be called like that.
struct ToolFault: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
