import RelayBase
import RelayEngine

/// The answer to a request; its maker knows nothing of the connection that writes it.
struct Answer {
    var head: Head
    /// Bytes, or what brings them piece by piece: a body that is kept, a document in its making, events.
    var body: Body
    /// Whether nobody misses the rest of it once the daemon stops.
    var endsAtDrain = false

    enum Head {
        /// Of the relay itself.
        case own(Own)
        /// Of an upstream, or in its stead.
        case passed(Status, HeaderFields, AnswerFacts)
    }

    struct Own {
        var status: Status = 200
        var type: StaticString = "application/json"
        /// The job that is kept, where that is what it tells.
        var accepted: AcceptedAnswer?
        /// Values are free of control bytes.
        var fields: [(name: StaticString, value: String)] = []
        /// Whether the relay itself is its source; nobody knows yet where content is to follow of which it knows nothing.
        var hasSource = true
        /// The caches that may keep it, and for how long (RFC 9111).
        var cache: StaticString = "no-store"
    }

    init(head: Head, body: Body) {
        self.head = head
        self.body = body
    }

    /// An answer of the API.
    init(
        _ status: Status = 200,
        _ body: Body,
        type: StaticString = "application/json",
        fields: [(name: StaticString, value: String)] = []
    ) {
        head = .own(Own(status: status, type: type, fields: fields))
        self.body = body
    }

    /// An answer of the API that is all there.
    init(
        _ status: Status = 200,
        _ body: [UInt8],
        type: StaticString = "application/json",
        fields: [(name: StaticString, value: String)] = []
    ) {
        self.init(status, .bytes(body), type: type, fields: fields)
    }

    /// Why there is no other answer.
    init(_ problem: Problem) {
        var fields: [(name: StaticString, value: String)] = []
        if let job = problem.job {
            fields.append(("Waystation-Job", job.description))
            if problem.namesLocation { fields.append(("Location", "/v1/jobs/\(job)")) }
        }
        if let allow = problem.allow { fields.append(("Allow", allow)) }
        if let seconds = problem.retryAfterSeconds { fields.append(("Retry-After", seconds)) }
        self.init(problem.status, problem.body, type: "application/problem+json", fields: fields)
    }

    /// An answer of an upstream, or one in its stead.
    init(_ response: HTTPResponse, _ facts: AnswerFacts) {
        head = .passed(response.status, response.fields, facts)
        body = response.body
    }

    var status: Status {
        switch head {
        case .own(let own): own.status
        case .passed(let status, _, _): status
        }
    }

    /// Of an answer of the relay itself; an upstream's says so in its own fields.
    var cache: StaticString {
        get { if case .own(let own) = head { own.cache } else { "no-store" } }
        set {
            guard case .own(var own) = head else { return }
            own.cache = newValue
            head = .own(own)
        }
    }
}
