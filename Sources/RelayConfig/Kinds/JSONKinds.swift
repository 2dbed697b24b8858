import RelayBase
import RelayJSON

extension ValueKind where Value == JSONPointer {
    static var pointer: ValueKind {
        let kind = ValueKind.text("a JSON pointer such as \"/data\"", pattern: "^(/([^~/]|~[01])*)*$") {
            text throws(Refusal) in
            do throws(JSONPointerError) {
                return try JSONPointer(parsing: text)
            } catch {
                throw Refusal(
                    error.message,
                    hint: text.hasPrefix("/") ? nil : hint(for: text)
                )
            }
        }
        return kind.writing { .string($0.text) }
    }

    private static func hint(for text: String) -> String {
        if text == "$" { return "write \"\", which is the whole document" }
        // JSONPath looks everywhere below; a pointer names one place.
        if text.contains(text: "..") || text.contains("*") {
            return "name one place, such as \"/error/code\""
        }
        return "write \"\(printable(meantPointer(text)))\""
    }

    /// The pointer that was meant by `error.code`, `$.error.code` or `items[0].id`.
    private static func meantPointer(_ text: String) -> String {
        // A fragment of a URI names a place, too (RFC 6901, 6).
        if text.hasPrefix("#/") { return String(text.dropFirst()) }
        if text.contains("/") { return "/" + text }
        var path = Substring(text)
        if path.hasPrefix("$") { path = path.dropFirst() }
        let quotes: Set<Character> = ["\"", "'"]
        let tokens = path.split { [".", "[", "]"].contains($0) }
            .map { token in String(token.filter { !quotes.contains($0) }) }
        return tokens.isEmpty ? "/" + text : JSONPointer(tokens: tokens).text
    }

    /// A pointer to a member, not to the whole document.
    static var memberPointer: ValueKind {
        let pointer = ValueKind.pointer
        return ValueKind(pointer.shape) { node, current, reading in
            guard let value = pointer.read(node, current, &reading) else { return nil }
            guard !value.tokens.isEmpty else {
                reading.error("the empty pointer is the whole document", at: node.range, hint: "remove it")
                return nil
            }
            return value
        }.writing(pointer.write)
    }
}

extension ValueKind where Value == JSONValue {
    static var json: ValueKind {
        ValueKind(.anything) { node, _, _ in node.value }.writing { $0 }
    }

    /// JSON in which `{"$header": name}` and `{"$status": true}` stand for parts of the answer.
    static var jsonTemplate: ValueKind {
        ValueKind(.anything) { node, _, reading in
            checkTemplate(node, &reading)
            return node.value
        }.writing { $0 }
    }

    private static func checkTemplate(_ node: JSONNode, _ reading: inout ReadContext) {
        for (index, element) in node.elements.enumerated() {
            reading.within("\(index)") { reading in checkTemplate(element, &reading) }
        }
        guard case .object(let members) = node.content else { return }
        for member in members {
            guard member.name.hasPrefix("$") else {
                reading.within(member.name) { reading in checkTemplate(member.value, &reading) }
                continue
            }
            if members.count > 1 {
                reading.error("a placeholder is the only member of its object", at: member.nameRange)
            } else if member.name == "$header" {
                if member.value.text.flatMap(FieldName.init) == nil {
                    reading.error("\"$header\" takes the name of a header", at: member.value.range)
                }
            } else if member.name == "$status" {
                guard case .bool(true) = member.value.content else {
                    reading.error("\"$status\" takes true", at: member.value.range)
                    continue
                }
            } else {
                let nearest = nearestWord(to: member.name, among: ["$header", "$status"])
                reading.error(
                    "unknown placeholder \"\(printable(member.name))\"",
                    at: member.nameRange,
                    hint: nearest.map { "did you mean \"\($0)\"?" }
                        ?? "the placeholders are \"$header\" and \"$status\""
                )
            }
        }
    }
}
