import RelayEngine
import RelayInterface
import RelayJSON

extension OpenAPI {
    static let streamSchemas: KeyValuePairs<String, Schema> = [
        "ListedOutcome": ListedOutcome.schema.doc("What became of one job of an array."),
        "OutcomeError": .object(errorMembers)
            .doc("Of what never became a job the problem; of a job that failed its failure."),
        "ListedOutcomes": ListedOutcomes.schema,
        "StreamedOutcome": .object(lineMembers).doc("What became of one line of a stream."),
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

    /// The members of the outcome of a line, of one that is kept first.
    private static var lineMembers: [Property] {
        let (kept, ended) = (ListedOutcome.members.map(\.property), EndedLine.members.map(\.property))
        return ended.prefix(1) + kept
            + ended.dropFirst().filter { one in !kept.contains { $0.name == one.name } }
    }
}
