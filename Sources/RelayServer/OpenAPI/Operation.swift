import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

/// The part of the document about one method of one resource that the tables of the API do not say.
struct Operation {
    /// Unique; generated clients name their functions so.
    let id: String
    let tag: Tag
    let summary: String
    /// The details that the summary leaves out; sentences.
    var detail = ""
    /// Fields of the request that count here.
    var fields: [RequestField] = []
    var content: RequestContent?
    var replies: [Reply]
    /// The problems besides those of every request.
    var problems: [Problem.Code] = []

    enum Tag: String, CaseIterable {
        case daemon
        case jobs
        case routes
        case sending
    }
}

/// The content that a request brings.
struct RequestContent {
    let type: String
    let schema: Schema
    /// Whether it may not be missing.
    var isRequired = true
    /// By a name that says what each shows.
    let examples: [(name: String, value: JSONValue)]
}

/// An answer that is no problem.
struct Reply {
    /// Nil where an upstream decides on it.
    let status: Status?
    let doc: String
    var content: [Content] = []
    var fields: [Field] = []
    /// Resources whose `{id}` is a member of this answer, by the pointer to it.
    var leadsTo: [(operation: String, pointer: String)] = []

    struct Content {
        var type = MediaType.json
        let schema: Schema
        var examples: [(name: String, value: JSONValue)] = []
        /// Problems that it may tell of, each of which has an example.
        var problems: [Problem.Code] = []
    }

    struct Field: Sendable {
        let name: String
        var schema = Schema.text
        var isCertain = false
        let doc: String
    }

    /// A JSON document, with 200.
    init(
        _ doc: String,
        _ schema: Schema,
        _ examples: [(name: String, value: JSONValue)],
        fields: [Field] = []
    ) {
        status = 200
        self.doc = doc
        self.fields = fields
        content = [Content(schema: schema, examples: examples)]
    }

    /// An answer with content of other types, or with none.
    init(_ status: Status?, _ doc: String, content: [Content] = [], fields: [Field] = []) {
        self.status = status
        self.doc = doc
        self.content = content
        self.fields = fields
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

extension JSONValue {
    /// A document of the contract's own, which its tests read.
    static func example(_ text: String) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: Array(text.utf8))
        } catch {
            preconditionFailure("an example is not JSON: \(error.message) at byte \(error.offset)")
        }
    }

    static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { JSONValue.Member($0.key, $0.value) })
    }
}
