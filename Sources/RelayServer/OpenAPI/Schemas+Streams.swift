import RelayEngine
import RelayInterface
import RelayJSON

extension OpenAPI {
    static let streamSchemas: [(name: String, schema: Schema)] = [
        (
            "ListedOutcome",
            .object(keptMembers).doc("What became of one job of an array.")
        ),
        (
            "OutcomeError",
            .object(errorMembers)
                .doc("Of what never became a job the problem; of a job that failed its failure.")
        ),
        (
            "ListedOutcomes",
            .object([
                Property("jobs", .list(.named("ListedOutcome")), "In the order of the array."),
                Property("refused", .count, "How many of them were."),
            ])
        ),
        (
            "StreamedOutcome",
            .object(
                [Property("line", .integer(1...), "The line of the job, from 1.")] + keptMembers
                    + endedMembers
            )
            .doc("What became of one line of a stream.")
        ),
    ]

    /// The members of a problem, or of a failure.
    private static let errorMembers: [Property] =
        Job.Failure.members.map(\.property).filter { $0.name != "upstream" }.map {
            .maybe($0.name, $0.schema)
        } + [
            .maybe("code", .word(Problem.Code.allCases.map(\.name)), "Where there was no answer."),
            .maybe("type", .text), .maybe("title", .text), .maybe("route", .text), .maybe("job", .job),
            .maybe("did_you_mean", .text), .maybe("retry_after_ms", .count),
            .maybe("errors", .list(.named("Fault"))),
        ]

    private static let keptMembers: [Property] = [
        .maybe("id", .text, "The caller's own."), Property("ok", .boolean), .maybe("job", .job),
        .maybe("state", .word(["accepted"]), "Of one that is kept."),
        .maybe("replayed", .yes), .maybe("repeatable", .boolean), .maybe("location", .text),
        .maybe("error", .named("OutcomeError")),
    ]

    private static let endedMembers: [Property] = [
        .maybe("attempts", .count), .maybe("stopped_by", .text, "The rule that was asked last."),
        .maybe("source", .source), .maybe("kept", .named("Kept")), .maybe("not_kept_because", .text),
        .maybe("recovered_by", .list(.text), "The rules that acted."), .maybe("status", .status),
        .maybe("headers", headers), .maybe("body", .named("Body")),
    ]
}
