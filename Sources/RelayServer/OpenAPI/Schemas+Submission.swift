import RelayEngine
import RelayInterface
import RelayJSON

extension OpenAPI {
    static let submissionSchemas: KeyValuePairs<String, Schema> = [
        "Submission": .strict(submissionMembers).with("not", keptAndSync.json).doc("A job to be done."),
        "ListedSubmission": .strict(
            [.maybe("id", .text(Submission.idLengths), "Echoed in the outcome; in bytes.")]
                + submissionMembers
        )
        .with("not", keptAndSync.json).doc("One of several jobs."),
        "SubmissionRequest": submissionRequest,
        "SubmissionOptions": submissionOptions,
    ]

    private static let submissionMembers: [Property] = [
        Property("route", .text.with("minLength", .number(JSONNumber(1))), "The name of the route."),
        .maybe(
            "mode",
            .word(Submission.Mode.allCases.map(\.rawValue)),
            "async keeps the job, sync does not; without it the route and the options decide."
        ),
        .maybe("request", .named("SubmissionRequest")), .maybe("options", .named("SubmissionOptions")),
    ]

    /// The options of a job that is kept, beside a mode that does not keep it.
    private static let keptAndSync = Schema.anything.with(
        "properties",
        .object([
            "mode": Schema.constant(.string(Submission.Mode.sync.rawValue)).json,
            "options": Schema.anyOf(SubmissionHints.keepingOptions.map { .requires([$0]) }).json,
        ])
    ).with("required", .array([.string("mode"), .string("options")]))

    private static let submissionRequest = Schema.strict(
        SubmissionHints.requestMembers.map { Property.maybe($0, requestMember($0)) }
    ).with(
        "allOf",
        .array(
            [["json", "text"], ["json", "base64"], ["text", "base64"]].map { pair in
                Schema.not(.requires(pair)).json
            }
        )
    )

    private static func requestMember(_ name: String) -> Schema {
        switch name {
        case "method":
            .pattern(token).with("maxLength", .number(JSONNumber(32))).standard(.string("POST"))
        case "path":
            .pattern(target).doc(
                "Below the upstream's base, percent-encoded, with a query if it has one; without dot segments."
            )
        case "query":
            .map(.queryText).with("propertyNames", Schema.queryText.json).doc(
                "Percent-encoded and appended to the path and its query."
            )
        case "headers":
            .map(.fieldText).with("propertyNames", Schema.pattern(token).json)
                .doc(
                    "Fields of the request, but for those of connection and framing, Via, Prefer and Waystation-…."
                )
        case "json": .anything.doc("The content, sent as compact JSON.")
        case "text": .text.doc("The content, sent as UTF-8.")
        case "base64":
            .pattern(base64Text).with("contentEncoding", .string("base64")).doc("The content, as bytes.")
        default: preconditionFailure("\(name) of a request is not described")
        }
    }

    private static let submissionOptions = Schema.strict(JobOption.all.map(\.memberProperty)).with(
        "not",
        Schema.requires(["delay", "not_before"]).json
    )

    private static let token = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
    private static let base64Text = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
    /// A path, in which a control character is not even encoded, and a query.
    private static let target =
        "^([!$&-;=@-\\[\\]_a-z|~]|%([2-6][0-9A-Fa-f]|7[0-9A-Ea-e]|[89A-Fa-f][0-9A-Fa-f]))*"
        + "(\\?([!$&-;=?-\\[\\]^_`a-z{|}~]|%(0[1-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f]))*)?$"
}
