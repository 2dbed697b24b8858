import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

extension OpenAPI {
    static let bulkSchemas: KeyValuePairs<String, Schema> = [
        "BulkAction": order(BulkAction.members), "RunOrder": order(BulkAction.runMembers),
        "JobFilter": .strict(BulkAction.filterMembers.map { Property.maybe($0, filterMember($0)) })
            .doc("Every member that is given must match; {} means all."),
        "BulkResult": BulkResult.schema, "Run": ActionRun.schema,
        "RunList": .object([Property("runs", .list(.named("Run")))]),
    ]

    private static func order(_ members: [String]) -> Schema {
        .strict(
            members.map { name in
                Property(name, bulkMember(name), maybe: !["action", "filter"].contains(name))
            }
        )
        .with("if", retry.json)
        .with(
            "else",
            Schema.not(.anyOf([.requires(["rate"]), .requires(["unknown"]), .requires(["superseded"])]))
                .json
        )
    }

    private static let retry = Schema.anything.with(
        "properties",
        .object(["action": Schema.constant(.string(JobAction.retry.rawValue)).json])
    )

    private static func bulkMember(_ name: String) -> Schema {
        switch name {
        case "action": .word(JobAction.allCases.map(\.rawValue))
        case "filter": .named("JobFilter")
        case "unknown":
            .boolean.standard(.bool(false)).doc(
                "Whether jobs that may have been carried out are retried too."
            )
        case "superseded":
            .boolean.standard(.bool(false)).doc(
                "Whether jobs whose place a newer one took are retried too, and so sent after it."
            )
        case "dry_run": .boolean.standard(.bool(true)).doc("Nothing is changed, only counted.")
        case "rate":
            .pattern(BulkAction.ratePattern).doc("Spreads jobs that are retried over time, such as 50/s.")
        case "reason": reason.doc("Why, for others to read; in bytes.")
        case "limit": .integer(1...BulkAction.mostJobs).standard(.number(JSONNumber(BulkAction.mostJobs)))
        case "seen":
            .integer(0...BulkAction.mostJobs)
                .doc(
                    "Jobs that matched when the caller looked, at most \(BulkAction.mostJobs): nothing is done where it is another number."
                )
        case "cursor": .orNull(.pattern(BulkAction.cursorPattern)).doc("What an earlier answer had as next.")
        default: preconditionFailure("\(name) of a bulk action is not described")
        }
    }

    private static func filterMember(_ name: String) -> Schema {
        switch name {
        case "route", "failure_kind", "upstream", "label": .text(JobFilter.textLengths)
        case "state":
            .list(.word(JobFilter.stateWords.map(\.word)), 1...JobState.allCases.count)
        case "reason": .word(JobFilter.reasonWords.map(\.word))
        case "end": .word(JobFilter.endWords.map(\.word))
        case "status": .integer(JobFilter.statuses)
        case "created_after", "created_before": .askedMoment
        case "ids": .list(.job, 1...BulkAction.mostIDs)
        default: preconditionFailure("\(name) of a filter is not described")
        }
    }
}
