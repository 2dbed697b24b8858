import RelayBase
package import RelayInterface
package import RelayJSON
package import RelayJobs

extension ActionRun.State: WordValue {}

extension ActionRun: Document {
    package static let members: [Member<ActionRun>] =
        [
            .required("number", .count, "Names the run.") { $0.number },
            .required("state") { $0.state }, .required("action") { $0.action },
            .required("filter", .named("JobFilter")) { $0.filter },
            .optional("takes_unknown", .yes, "Jobs that may have been carried out are retried too.") {
                $0.action == .retry && !$0.filter.sparesUncertain ? true : nil
            },
            .optional("takes_superseded", .yes, "Jobs whose place a newer one took are retried too.") {
                $0.action == .retry && !$0.filter.sparesSuperseded ? true : nil
            },
            .optional("rate", .pattern(BulkAction.ratePattern)) { $0.rate?.text },
            .optional("reason", .text, "The words of whoever began it.") { $0.why },
            .optional("by", .named("Principal"), "Who began it.") { $0.by },
            .required("started_at") { WallTime(milliseconds: $0.began) },
            .optional(
                "total",
                .count,
                "Jobs that matched when it began; missing where they were too many to count."
            ) {
                $0.total
            },
            .required("matched", .count, "Jobs that it has looked at.") { $0.count.matched },
            .required("changed", .count, "Jobs that it has changed.") { $0.count.changed },
        ] + ActionCount.members { $0.count } + [
            .optional("next_at", .moment, "When its rate allows the next jobs.") {
                $0.rate != nil && $0.state == .running ? WallTime(milliseconds: $0.next) : nil
            },
            .optional("ended_at", .moment) { $0.ended.map { WallTime(milliseconds: $0) } },
            .optional("ended_by", .named("Principal"), "Who stopped it.") { $0.endedBy },
            .optional("detail", .text, "Why it failed.") { $0.failure },
        ]
}

extension JobFilter: MemberValue {
    package static var schema: Schema { .named("JobFilter") }

    /// As a caller says it.
    private func write(_ json: inout JSONObjectWriter) {
        if let route { json.member("route", route) }
        if !states.isEmpty {
            JobFilter.stateWords.filter { states.contains($0.1) }.map(\.0).write("state", into: &json)
        }
        if let reason { json.member("reason", reason.name) }
        if let end { json.member("end", end.rawValue) }
        failureKind?.write("failure_kind", into: &json)
        failureStatus?.write("status", into: &json)
        if let upstream { json.member("upstream", upstream) }
        if let label { json.member("label", label) }
        if let createdFrom { WallTime(milliseconds: createdFrom).write("created_after", into: &json) }
        if let createdBefore { WallTime(milliseconds: createdBefore).write("created_before", into: &json) }
        if !ids.isEmpty { ids.write("ids", into: &json) }
    }

    package func write(_ name: String, into json: inout JSONObjectWriter) { json.object(name) { write(&$0) } }
    package func write(into list: inout JSONArrayWriter) { list.object { write(&$0) } }
}
