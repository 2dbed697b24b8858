import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

/// The options of a `GET /v1/events`.
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
    /// Those that are asked for; all where there are none.
    let kinds: Set<EventKind>

    /// The number that leads to the events that the caller does not know.
    static let number = Schema.pattern("^([0-9]{1,19})?$")
    private static let after = Parameter.text(
        "after",
        number,
        "The id of the last event the caller knows; 0 asks for all that are remembered. The field Last-Event-ID "
            + "goes before."
    )
    private static let route = Parameter.text("route", .queryText, "Only events of this route.")
    private static let job = Parameter.text("job", .job, "Only events of this job.")
    private static let type = Parameter.words(
        "type",
        EventKind.asked.map { ($0.type, $0) },
        "Only events of these types."
    )
    static let parameters: [any QueryParameter] = [after, route, job, type]

    init(_ call: APICall) throws(Problem) {
        form = try EventOptions.form(call.fields)
        let query = try call.query()
        let last = FieldName("Last-Event-ID").flatMap { call.fields[$0] }
        let asked = try EventOptions.number(query[EventOptions.after], "after")
        // A client that connects again sends the target it began with, and where it got to.
        after = try EventOptions.number(last, "Last-Event-ID") ?? asked
        route = query[EventOptions.route]
        job = query[EventOptions.job].flatMap { JobID(text: $0) }
        if query[EventOptions.job] != nil, job == nil {
            throw Problem(.badTarget, "job is the id of a job: 26 characters")
        }
        kinds = Set(try query.value(EventOptions.type))
    }

    func wants(_ told: EventFeed.Entry) -> Bool {
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
    static func form(_ fields: HeaderFields) throws(Problem) -> Form {
        let accepted = AcceptedTypes(fields)
        let stream = accepted.isEmpty ? 1 : accepted.quality(of: MediaType.eventStream)
        let lines = accepted.quality(naming: "application/x-ndjson") ?? 0
        let isStreamNamed = accepted.quality(naming: MediaType.eventStream) != nil
        if lines > 0, lines > stream || lines == stream && !isStreamNamed { return .lines }
        if stream > 0 { return .eventStream }
        throw otherForm
    }

    static let otherForm = Problem(
        .badHeader,
        "events come as text/event-stream or application/x-ndjson",
        field: "accept"
    )
}
