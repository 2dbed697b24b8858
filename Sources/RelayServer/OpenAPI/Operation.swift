import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

/// The part of the document about one method of one resource that the tables of the API do not say.
struct Operation {
    let tag: Tag
    /// Unique; generated clients name their functions so.
    let id: String
    let summary: String
    /// The details that the summary leaves out; sentences.
    private(set) var detail = ""
    /// Fields of the request that count here.
    private(set) var fields: [RequestField] = []
    private(set) var content: (media: Content, isRequired: Bool)?
    private(set) var replies: [Reply] = []
    /// The problems besides those of every request.
    private(set) var problems: [Problem.Code] = []

    enum Tag: String, CaseIterable {
        case daemon
        case jobs
        case routes
        case sending
    }

    init(_ tag: Tag, _ id: String, _ summary: String) {
        self.tag = tag
        self.id = id
        self.summary = summary
    }

    func says(_ detail: String) -> Self { with { $0.detail = detail } }

    func reads(_ fields: [RequestField]) -> Self { with { $0.fields = fields } }

    func takes(_ content: Content, isRequired: Bool = true) -> Self {
        with { $0.content = (content, isRequired) }
    }

    func gives(_ replies: Reply...) -> Self { with { $0.replies = replies } }

    func refuses(_ problems: [Problem.Code]) -> Self { with { $0.problems = problems } }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var changed = self
        change(&changed)
        return changed
    }

    /// Content that a request brings or an answer has.
    struct Content {
        var type = MediaType.json
        let schema: Schema
        /// By a name that says what each shows.
        var examples: Examples = [:]
        /// Problems that it may tell of, each of which has an example.
        var problems: [Problem.Code] = []
    }

    typealias Examples = KeyValuePairs<String, JSONValue>
}

extension Operation.Content {
    /// One of the document's own schemas in JSON, with its examples unless others are given.
    init(_ schema: String, _ examples: Operation.Examples? = nil) {
        self.init(schema: .named(schema), examples: examples ?? Operation.examples[schema] ?? [:])
    }
}

/// An answer that is no problem.
struct Reply {
    /// Nil where an upstream decides on it.
    let status: Status?
    let doc: String
    var content: [Operation.Content] = []
    var fields: [Field] = []
    /// Operations on the job whose id this answer has.
    var leadsTo: [String] = []

    struct Field: Sendable {
        let name: String
        var schema = Schema.text
        var isCertain = false
        let doc: String
    }
}

extension Reply {
    /// A JSON document, with 200.
    init(_ doc: String, _ content: Operation.Content, _ fields: [Field] = []) {
        self.init(status: 200, doc: doc, content: [content], fields: fields)
    }

    init(_ doc: String, _ schema: String, _ fields: [Field] = []) {
        self.init(doc, Operation.Content(schema), fields)
    }
}

extension Reply.Field {
    static let entityTag = Reply.Field(
        name: "ETag",
        schema: .pattern("^\"v[0-9]+\"$"),
        isCertain: true,
        doc: "The job's version."
    )
    static let location = Reply.Field(name: "Location", doc: "The job.")
    static let runLocation = Reply.Field(name: "Location", doc: "The run.")
    static let job = Reply.Field(name: "Waystation-Job", schema: .job, doc: "The job's id.")
    static let replayed = Reply.Field(
        name: "Waystation-Replayed",
        schema: .word(["true"]),
        doc: "Stands where the idempotency key was known."
    )
    static let applied = Reply.Field(
        name: "Preference-Applied",
        doc: "What of Prefer was taken into account."
    )
    static let link = Reply.Field(name: "Link", doc: "Where the rest is, with rel=\"next\".")
}
