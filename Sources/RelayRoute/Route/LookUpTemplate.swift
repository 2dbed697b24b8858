package import RelayBase
package import RelayJSON

/// Text with placeholders for values of the request that is asked about: `{key}`, `{job.id}`, `{route}`, `{header:NAME}`,
/// `{json:POINTER}`.
package struct LookUpTemplate: Sendable {
    package enum Part: Sendable {
        case text(String)
        /// The request's idempotency key.
        case key
        case jobID
        case route
        /// A field of the request.
        case header(FieldName)
        /// A value of the request's JSON body.
        case json(JSONPointer)
    }

    package let parts: [Part]
    /// As it was written.
    package let source: String

    /// The forms of what may stand between braces.
    package static let placeholders = ["key", "job.id", "route", "header:NAME", "json:POINTER"]

    /// Fields that hold a credential, of which none may get into a path.
    private static let secret: [FieldName] =
        [.authorization] + ["Cookie", "Proxy-Authorization"].compactMap { FieldName($0) }

    /// Reads a path, with a query where it has one.
    package init(path: String) throws(Refusal) {
        try self.init(parsing: path.hasPrefix("/") ? String(path.dropFirst()) : path)
        var plain = ""
        for part in parts {
            // A value is a segment, or a part of one.
            if case .text(let text) = part { plain += text } else { plain += "x" }
        }
        guard !plain.isEmpty,
            plain.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Self.others.contains($0) })
        else {
            throw Refusal("a path holds visible ASCII without # { } and \\", hint: "percent-encode the rest")
        }
        for segment in plain.prefix(while: { $0 != "?" }).split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        where segment == ".." || segment == "." || segment.isEmpty
            || segment.lowercased().contains(text: "%2e")
        {
            throw Refusal("a look-up stays below the upstream's base", hint: "remove dots and empty segments")
        }
    }

    /// Reads the value of a field.
    package init(field: String) throws(Refusal) {
        guard !field.isEmpty, field.utf8.count <= 8_192, field.utf8.allSatisfy(isFieldValueByte) else {
            throw Refusal("not a valid header value")
        }
        try self.init(parsing: field)
    }

    private static let others: [UInt8] = Array("#{}\\".utf8)

    private init(parsing text: String) throws(Refusal) {
        var parts: [Part] = []
        var rest = Substring(text)
        while let open = rest.firstIndex(of: "{") {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw Refusal("a placeholder is not closed", hint: "end it with \"}\"")
            }
            parts.append(try Self.part(String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        (self.parts, source) = (parts, text)
    }

    private static func part(_ name: String) throws(Refusal) -> Part {
        switch name {
        case "key": return .key
        case "job.id": return .jobID
        case "route": return .route
        default: break
        }
        if name.hasPrefix("header:") {
            guard let field = FieldName(String(name.dropFirst(7))) else { throw Refusal("not a header name") }
            guard !secret.contains(field) else {
                throw Refusal(
                    "a credential may not stand here",
                    hint: "a look-up carries the route's credential by itself"
                )
            }
            return .header(field)
        }
        if name.hasPrefix("json:"), let pointer = try? JSONPointer(parsing: String(name.dropFirst(5))) {
            return .json(pointer)
        }
        let nearest = nearestWord(to: name, among: placeholders)
        throw Refusal(
            "not a placeholder: the placeholders are "
                + placeholders.map { "{\($0)}" }.joined(separator: ", "),
            hint: nearest.map { "did you mean {\($0)}?" }
        )
    }

    /// Where it looks into the request's content.
    package var pointers: [JSONPointer] {
        parts.compactMap { if case .json(let pointer) = $0 { pointer } else { nil } }
    }
}
