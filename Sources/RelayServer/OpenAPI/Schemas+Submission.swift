import RelayCore
import RelayEngine
import RelayJSON

extension OpenAPI {
    static let submissionSchemas: [(name: String, schema: Schema)] = [
        ("Submission", .strict(submissionMembers).doc("A job to be done.")),
        (
            "ListedSubmission",
            .strict(
                [.maybe("id", .text(Submission.idLengths), "Echoed in the outcome; in bytes.")]
                    + submissionMembers
            )
            .doc("One of several jobs.")
        ),
        ("SubmissionRequest", submissionRequest),
        ("SubmissionOptions", submissionOptions),
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
            .pattern("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$").standard(.string("POST"))
        case "path": .text.doc("Below the upstream's base, percent-encoded, with a query if it has one.")
        case "query": .map(.text).doc("Percent-encoded and appended to the path and its query.")
        case "headers":
            .map(.text).doc("Fields of the request; those of connection and framing are the relay's.")
        case "json": .anything.doc("The content, sent as compact JSON.")
        case "text": .text.doc("The content, sent as UTF-8.")
        case "base64": .text.with("contentEncoding", .string("base64")).doc("The content, as bytes.")
        default: preconditionFailure("\(name) of a request is not described")
        }
    }

    private static let submissionOptions = Schema.strict(
        SubmissionHints.optionMembers.map { Property.maybe($0, option($0)) }
    ).with("not", Schema.requires(["delay", "not_before"]).json)

    private static func option(_ name: String) -> Schema {
        switch name {
        case "timeout": .duration(Submission.timeouts).doc("The longest all attempts and waits may take.")
        case "attempt_timeout": .duration(Submission.timeouts).doc("The longest one attempt may take.")
        case "max_attempts": .integer(RequestTerms.attempts).doc("The first one included.")
        case "fallback":
            .boolean.standard(.bool(true)).doc("False keeps failover and stand-ins from acting.")
        case "delay": .duration(Submission.delays).doc("Not before that time has passed.")
        case "not_before": .moment.doc("Not before that date, within 365 days.")
        case "expires_after": .duration(Submission.expiries).doc("Given up when it is not delivered by then.")
        case "priority": .integer(RequestTerms.urgencies).standard(.number(JSONNumber(3))).doc("0 first.")
        case "ordering_key": .text(JobFilter.textLengths).doc("Jobs of one key go one at a time; in bytes.")
        case "supersede_key":
            .text(JobFilter.textLengths).doc("Cancels what waits with the same key; in bytes.")
        case "labels":
            .map(.text).with("maxProperties", .number(JSONNumber(RequestTerms.mostLabels)))
                .doc("Each at most 256 bytes with its name, which has no =.")
        default: preconditionFailure("the option \(name) is not described")
        }
    }
}
