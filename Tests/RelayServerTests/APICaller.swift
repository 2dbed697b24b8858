import RelayJSON

/// The relay's answer to one request on a connection of its own.
struct APIReply {
    let status: String
    let head: String
    let body: String

    init(_ text: String) {
        let ended = text.hasSuffix("(end)") ? String(text.dropLast(5)) : text
        let parts = ended.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        head = String(parts[0])
        body = parts.count > 1 ? String(parts[1]) : ""
        status = String(head.split(separator: " ").dropFirst().first ?? "")
    }

    /// The body as JSON; `null` when it is none.
    var json: JSONValue { (try? JSONValue(parsing: Array(body.utf8))) ?? .null }

    func has(_ field: String) -> Bool {
        head.split(separator: "\r\n").contains { $0.lowercased() == field.lowercased() }
    }
}

extension ServedLoop {
    func ask(
        _ method: String,
        _ target: String,
        _ fields: [String] = [],
        _ body: String? = nil
    ) throws -> APIReply {
        let caller = try LoopbackCaller(address)
        var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        for field in fields { text += field + "\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n\r\n\(body)" } else { text += "\r\n" }
        caller.send(text)
        return APIReply(caller.read())
    }
}

extension JSONValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var integer: Int64? { if case .number(let number) = self { number.int64 } else { nil } }
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    subscript(path: [String]) -> JSONValue? {
        path.reduce(self) { (value: JSONValue?, name) in value?[name] }
    }
}
