import RelayBase

extension Job.Attempt: ReadableDocument {
    package static let members: [Member<Job.Attempt>] = [
        .always("number", \.number, .integer(1...), "Over the whole life of the job."),
        .always("upstream", \.upstream),
        .maybe("address", \.address),
        .maybe("node", \.node, .text, "The daemon of a fleet that made it."),
        Member.maybe("started_at", \.startedAt).required,
        .always(
            "started_after_ms",
            \.startedAfter,
            .count,
            "From the acceptance on, or from the first attempt on."
        ),
        .flag("resent", \.isResent, "The upstream had closed a kept connection unanswered."),
        .maybe("duration_ms", \.time),
        .maybe("timing_ms", \.timing),
        .always("result", \.result, .word(Result.allCases.map(\.rawValue))),
        .maybe("status", \.status),
        .maybe("kind", \.kind, .failureKind),
        .maybe("cause", \.cause, .word(FailureCause.allCases.map(\.rawValue)), "Whose fault the failure is."),
        .maybe("sent", \.sent, .sent),
        .maybe("detail", \.detail),
        .maybe("api_code", \.apiCode, .text, "The upstream's own code."),
        .maybe("api_title", \.apiTitle, .text, "The upstream's own words."),
        .maybe("rule", \.rule, .text, "The rule that acted."),
        .maybe("next", \.next, .word(RelayBase.Attempt.Next.Word.allCases.map(\.rawValue)), "What it did."),
        .maybe("wait_ms", \.wait),
        .maybe(
            "look_up",
            \.lookUp,
            .word(LookUp.allCases.map(\.rawValue)),
            "Of one that only asked what became of those before it: what the upstream said."
        ),
        .maybe("operation", \.operation, .text, "The path of the operation that it began at the upstream."),
        .maybe("next_upstream", \.nextUpstream),
        .maybe("next_source", \.nextSource, .word(StandIn.allCases.map(\.rawValue))),
        .always("spent", \.isSpent, .boolean, "Whether it counts against max_attempts."),
        .list("held_back", \.heldBack, Held.schema, "Rules that matched and did not act."),
    ]

    /// The result of an attempt, in one word.
    package enum Result: String, CaseIterable {
        case success
        case failure
        case cancelled
        case interrupted
    }

    /// Where its time went.
    package struct Timing: ReadableDocument {
        package var nameLookup = Duration.zero
        package var connect = Duration.zero
        package var firstByte: Duration?

        package init() {}

        package static let members: [Member<Timing>] = [
            .always("dns", \.nameLookup), .always("connect", \.connect), .maybe("first_byte", \.firstByte),
        ]
    }

    /// A rule that matched and did not act.
    package struct Held: ReadableDocument {
        package var rule = ""
        package var reason = ""

        package init() {}

        package static let members: [Member<Held>] = [.always("rule", \.rule), .always("reason", \.reason)]
    }
}

extension Job.Failure: ReadableDocument {
    package static var key: String? { "kind" }

    package static let members: [Member<Job.Failure>] = [
        .always("kind", \.kind, .failureKind),
        .maybe("detail", \.text),
        .maybe("sent", \.sent, .sent),
        .maybe("status", \.status),
        .maybe("api_code", \.apiCode, .text, "The upstream's own code."),
        .maybe("api_title", \.apiTitle, .text, "The upstream's own words."),
        .flag("past_deadline", \.isPastDeadline, "It failed for want of time."),
        .maybe("upstream", \.upstream),
    ]
}

extension Job.Blocker: ReadableDocument {
    package static var key: String? { "reason" }

    package static let members: [Member<Job.Blocker>] = [
        .always("reason", \.reason), .always("detail", \.detail), .maybe("since", \.since),
        .maybe("until", \.until),
    ]
}

extension Job.Client: ReadableDocument {
    package static var key: String? { "uid" }

    package static let members: [Member<Job.Client>] = [
        .always("uid", \.uid), .maybe("pid", \.process, .integer), .maybe("unit", \.unit),
        .maybe("node", \.node, .text, "The daemon of a fleet on whose machine that is the user."),
    ]
}

extension Schema {
    package static let sent = word(Sent.allCases.map(\.rawValue))
}
