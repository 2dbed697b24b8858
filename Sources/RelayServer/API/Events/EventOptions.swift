import RelayCore
import RelayEngine
import RelayJSON

/// What `GET /v1/events` asks for.
struct EventOptions {
    /// How events are told apart on the connection.
    enum Form {
        /// `text/event-stream` (WHATWG HTML §9.2).
        case eventStream
        /// One document a line.
        case lines

        var type: StaticString { self == .eventStream ? "text/event-stream" : "application/x-ndjson" }
    }

    let form: Form
    /// The last event the caller knows; nil begins with what comes.
    let after: UInt64?
    private let route: String?
    private let job: JobID?
    private let kinds: Set<JobEvent.Kind>

    init(_ call: APICall) throws(Problem) {
        form = try EventOptions.form(call.fields)
        let query = try Query(call.target, ["after", "route", "job", "type"])
        let last = FieldName("Last-Event-ID").flatMap { call.fields[$0] }
        let asked = try EventOptions.number(query["after"], "after")
        // A client that connects again sends the target it began with, and where it got to.
        after = try EventOptions.number(last, "Last-Event-ID") ?? asked
        route = query["route"]
        job = query["job"].flatMap { JobID(text: $0) }
        if query["job"] != nil, job == nil {
            throw Problem(.badTarget, "job is the id of a job: 26 characters")
        }
        kinds = Set(try query.words("type", JobEvent.Kind.allCases.map { ($0.rawValue, $0) }))
    }

    func wants(_ told: EventFeed.Told) -> Bool {
        (route == nil || route == told.event.route) && (job == nil || job == told.event.job)
            && (kinds.isEmpty || kinds.contains(told.kind))
    }

    private static func number(_ text: String?, _ name: String) throws(Problem) -> UInt64? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count <= 19, text.utf8.allSatisfy(\.isDigit), let number = UInt64(text) else {
            throw Problem(.badRequest, "\(name) is the id of an event, a whole number")
        }
        return number
    }

    /// Lines only for who asks for them and for nothing else.
    private static func form(_ fields: HeaderFields) throws(Problem) -> Form {
        let accepted = fields.values(.accept).flatMap { $0.split(separator: ",") }.map { range in
            range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        if accepted.isEmpty || accepted.contains("text/event-stream") { return .eventStream }
        if accepted.contains("application/x-ndjson") { return .lines }
        if accepted.contains(where: { $0 == "*/*" || $0 == "text/*" }) { return .eventStream }
        throw Problem(.badHeader, "events come as text/event-stream or application/x-ndjson", field: "accept")
    }
}
