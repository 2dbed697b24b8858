package import RelayBase
package import RelayJSON

/// The route's changes to every request of a job.
package struct RequestRules: Sendable {
    package var setFields: [(name: String, value: String)] = []
    package var removeFields: [FieldName] = []
    /// Puts the JSON body under this pointer; nil leaves it as it is.
    package var wrap: JSONPointer?
    /// Whether a path with an empty segment (`//`) is passed on.
    package var allowsEmptySegments = false
    /// Query parameters that every request carries.
    package var query = RouteQuery()
    /// A program's own fields go where it sends them; the routes of a daemon keep their callers' unless they say otherwise.
    package var propagation = TracePropagation.caller

    package init() {}
}

/// Whether the caller's fields of distributed tracing go on to the upstream: `traceparent`, `tracestate`, `baggage`.
package enum TracePropagation: String, CaseIterable, Sendable {
    case none
    case caller

    package static let fieldNames: [FieldName] = [.traceparent, .tracestate, .baggage]
}

/// One step of preparation; an error in it is final, with zero sends.
package struct PreparationStep: Sendable {
    package var phase: PreparationPhase
    package var fields: [(name: String, value: FieldTemplate)]

    package init(phase: PreparationPhase, fields: [(name: String, value: FieldTemplate)]) {
        self.phase = phase
        self.fields = fields
    }
}

/// A field value with placeholders: `{job.id}`, `{now}` (IMF-fixdate), `{attempt}`, `{route}`.
package struct FieldTemplate: Sendable, Equatable {
    package enum Part: Sendable, Equatable {
        case text(String)
        case jobID
        case now
        case attempt
        case route
    }

    package let parts: [Part]

    package init(parts: [Part]) { self.parts = parts }

    /// Whether two attempts of one job may get different values.
    package var changesWithAttempts: Bool { parts.contains(.attempt) || parts.contains(.now) }

    /// The names that may stand between braces.
    package static let placeholders = ["job.id", "now", "attempt", "route"]

    /// Reads a template.
    ///
    /// - Throws: the part that is no placeholder, or the brace that is not closed.
    package init(parsing text: String) throws(TemplateError) {
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
package struct TemplateError: Error, Sendable {
    package let placeholder: String
}

/// When a step of preparation runs.
public enum PreparationPhase: String, CaseIterable, Sendable {
    /// Once, before the first attempt.
    case job
    /// Before every attempt, always on the request as it was before any attempt.
    case attempt
}
