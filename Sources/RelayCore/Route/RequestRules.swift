public import RelayJSON

/// What the route changes in every request of a job.
public struct RequestRules: Sendable {
    public var setFields: [(name: String, value: String)] = []
    public var removeFields: [FieldName] = []
    /// Puts the JSON body under this pointer; nil leaves it as it is.
    public var wrap: JSONPointer?

    public init() {}
}

/// One step of preparation; an error in it is final, with zero sends.
public struct PreparationStep: Sendable {
    public enum Phase: String, CaseIterable, Sendable {
        /// Once, before the first attempt.
        case job
        /// Before every attempt, always on the request as it was before any attempt.
        case attempt
    }

    public var phase: Phase
    public var fields: [(name: String, template: FieldTemplate)]

    public init(phase: Phase, fields: [(name: String, template: FieldTemplate)]) {
        self.phase = phase
        self.fields = fields
    }
}

/// A field value with placeholders: `{job.id}`, `{now}` (IMF-fixdate), `{attempt}`, `{route}`.
public struct FieldTemplate: Sendable, Equatable {
    public enum Part: Sendable, Equatable {
        case text(String)
        case jobID
        case now
        case attempt
        case route
    }

    public let parts: [Part]

    public init(parts: [Part]) { self.parts = parts }

    /// The names that may stand between braces.
    public static let placeholders = ["job.id", "now", "attempt", "route"]

    /// Reads a template.
    ///
    /// - Throws: the part that is no placeholder, or the brace that is not closed.
    public init(parsing text: String) throws(TemplateError) {
        var parts: [Part] = []
        var rest = Substring(text)
        while let open = rest.firstIndex(of: "{") {
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw TemplateError(placeholder: String(rest[open...]))
            }
            let name = String(rest[rest.index(after: open)..<close])
            switch name {
            case "job.id": parts.append(.jobID)
            case "now": parts.append(.now)
            case "attempt": parts.append(.attempt)
            case "route": parts.append(.route)
            default: throw TemplateError(placeholder: name)
            }
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }
}

/// A placeholder that does not exist, or a brace that never closes.
public struct TemplateError: Error, Sendable {
    public let placeholder: String
}
