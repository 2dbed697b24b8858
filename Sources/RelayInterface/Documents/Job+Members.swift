import RelayBase
import RelayJobs
import RelayRoute

extension Job: ReadableDocument {
    package static let members: [Member<Job>] = [
        .always("id", \.id, .job),
        .always("route", \.route),
        .always("state", \.stateWord, .word(JobState.allCases.map(\.name))),
        .maybe("reason", \.reason, .word(WaitReason.allCases.map(\.name)), "Why it waits."),
        .maybe("end", \.end, .openWord(EndReason.known.map(\.rawValue)), "Why it ended without success."),
        .maybe("outcome", \.outcomeWord, .word(OutcomeWord.allCases.map(\.rawValue)), "Of one that is over."),
        .flag("cancel_asked", \.isCancelAsked, "It is running, and being cancelled."),
        .always("request", \.request, .named("JobRequest")),
        Member.maybe("created_at", \.createdAt).required,
        .maybe("due_at", \.dueAt),
        .maybe("expires_at", \.expiresAt),
        .maybe("finished_at", \.finishedAt),
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
        .maybe("attempt_count", \.countedAttempts),
        .maybe("spent_attempts", \.spentAttempts, .count, "Attempts that count since its last replay."),
        .maybe("under_way", \.underWay, UnderWay.schema, "The attempt that is on record as begun."),
        .maybe("crashes", \.crashes, .count, "How often in a row it was under way at a crash."),
        .maybe("attempts", \.listedAttempts, .list(.named("Attempt")), "The last hundred."),
        .list("actions", \.actions, .named("Action"), "What was done to it, the last sixteen."),
        .maybe("last_failure", \.lastFailure, .named("Failure")),
        .maybe("blocker", \.blocker, Blocker.schema, "What keeps it from being delivered now."),
        .maybe("client", \.client, Client.schema, "Who handed it over."),
        .list("labels", \.labels, .text, "As key=value."),
        .maybe("keyed", \.isKeyed, .boolean, "Whether it has an idempotency key."),
        .maybe(
            "repeatable",
            \.isRepeatable,
            .boolean,
            "Whether it is sent again after an attempt without an answer."
        ),
        .flag("in_doubt", \.isInDoubt, "It may have been carried out."),
        .maybe("ordering_key", \.orderingKey),
        .maybe("supersede_key", \.supersedeKey),
        .maybe("priority", \.priority, .integer(OptionValue.urgencies)),
        .flag("durable", \.isDurable, "Missing of a job that was answered at once."),
        .always("version", \.version, .integer(1...), "Grows with every change."),
        .maybe("links", \.links, .named("JobLinks")),
        .written("response", .named("JobAnswer")),
    ]
}

extension Schema {
    package static let source = word(AnswerSource.allCases.map(\.rawValue))
}
