import RelayBase
import RelayJobs
import RelayRoute

extension Job: ReadableDocument {
    package static let members: [Member<Job>] = [
        .always("id", \.id, .job) { $0.record.id.description },
        .always("route", \.route) { $0.record.route },
        .always("state", \.stateWord, .word(JobState.allCases.map(\.name))) { $0.state.name },
        .maybe("reason", \.reason, .word(WaitReason.allCases.map(\.name)), "Why it waits.") {
            $0.reason?.name
        },
        .maybe("end", \.end, .openWord(EndReason.known.map(\.rawValue)), "Why it ended without success.") {
            $0.end?.rawValue
        },
        .maybe("outcome", \.outcomeWord, .word(OutcomeWord.allCases.map(\.rawValue)), "Of one that is over.")
        {
            $0.state.isTerminal ? OutcomeWord(nil, isFailure: $0.state != .succeeded).rawValue : nil
        },
        .flag("cancel_asked", \.isCancelAsked, "It is running, and being cancelled.") { $0.isCancelAsked },
        .always("request", \.request, .named("JobRequest")) { Request($0) },
        Member.maybe("created_at", \.createdAt) { WallTime(milliseconds: $0.createdAt) }.required,
        .maybe("due_at", \.dueAt) {
            $0.state.isTerminal || $0.state == .running ? nil : WallTime(milliseconds: $0.runAt)
        },
        .maybe("expires_at", \.expiresAt) { $0.expiresAt.map { WallTime(milliseconds: $0) } },
        .maybe("finished_at", \.finishedAt) { $0.finishedAt.map { WallTime(milliseconds: $0) } },
        .maybe("status", \.status, .status, "Of the last answer."),
        .maybe("source", \.source, .source),
        .maybe("kept", \.kept, .named("Kept")),
        .maybe(
            "not_kept_because",
            \.notKeptBecause,
            .text,
            "Why no job goes on with a request that was to be kept."
        ),
        .maybe("max_attempts", \.maxAttempts, .integer(1...)),
        .maybe("permit_wait_ms", \.permitWait, .count, "How long it waited for a permit of its route."),
        .maybe(
            "ordinary_path",
            \.ordinaryPath,
            OrdinaryPath.schema,
            "Why a request that waited for its answer was not passed through."
        ),
        .maybe("attempt_count", \.countedAttempts) { $0.attempts },
        .maybe("spent_attempts", \.spentAttempts, .count, "Attempts that count since its last replay.") {
            $0.spentAttempts
        },
        .maybe("under_way", \.underWay, UnderWay.schema, "The attempt that is on record as begun.") {
            UnderWay($0)
        },
        .maybe("crashes", \.crashes, .count, "How often in a row it was under way at a crash.") {
            $0.crashes > 0 ? $0.crashes : nil
        },
        .maybe("attempts", \.listedAttempts, .list(.named("Attempt")), "The last hundred."),
        .list("actions", \.actions, .named("Action"), "What was done to it, the last sixteen."),
        .maybe("last_failure", \.lastFailure, .named("Failure")) { Failure($0) },
        .maybe("blocker", \.blocker, Blocker.schema, "What keeps it from being delivered now."),
        .maybe("client", \.client, Client.schema, "Who handed it over.") {
            $0.record.isNotice
                ? nil : $0.record.submitter.map { Client($0.user, unit: $0.unit, node: $0.node) }
        },
        .list("labels", \.labels, .text, "As key=value.") { $0.record.labels },
        .maybe("keyed", \.isKeyed, .boolean, "Whether it has an idempotency key.") {
            $0.record.idempotencyKey != nil
        },
        .maybe(
            "repeatable",
            \.isRepeatable,
            .boolean,
            "Whether it is sent again after an attempt without an answer."
        ) { $0.record.mayRepeat },
        .flag("in_doubt", \.isInDoubt, "It may have been carried out.") { $0.isInDoubt },
        .maybe("ordering_key", \.orderingKey) {
            $0.record.orderingKey.flatMap { $0 == JobRecord.routeOrder ? nil : $0 }
        },
        .maybe("supersede_key", \.supersedeKey) { $0.record.supersedeKey },
        .maybe("priority", \.priority, .integer(OptionValue.urgencies)) { Int($0.record.priority) },
        .maybe("notice", \.notice, Notice.schema, "The job that tells another route how it ended.") {
            Notice($0)
        },
        .maybe("notice_of", \.noticeOf, .job, "The job of whose ending it tells.") {
            $0.record.isNotice
                ? $0.record.idempotencyKey.flatMap { JobID(ofNoticeWithKey: $0) }?.description : nil
        },
        .flag("durable", \.isDurable, "Missing of a job that was answered at once.") { _ in true },
        .always("version", \.version, .integer(1...), "Grows with every change.") { Int64($0.version) },
        .maybe("links", \.links, .named("JobLinks")) { Links($0) },
        .written("response", .named("JobAnswer")),
    ]
}

extension Schema {
    package static let source = word(AnswerSource.allCases.map(\.rawValue))
}
