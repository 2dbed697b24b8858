import RelayJSON

extension ConfigurationTable {
    static var limits: Section<Limits> {
        Section("limits", "Bounds on what all callers together may take.", of: Limits()) {
            Field("max_connections", .integer(1...65_536), \.maxConnections) {
                "Connections of callers that may be open at once; one more is answered 503 overloaded. Each listener with "
                    + "the role admin has 32 besides, which no other takes."
            }
            Field("max_requests", .integer(1...1_000_000), \.maxRequests) {
                "Requests that may be under way at once over all routes, those that wait or whose body is on its way "
                    + "included; one more is answered 503 overloaded. Without the key as many as connections and "
                    + "streams bring. Those of operators are neither counted nor refused."
            }
            Field("per_user", perUser.kind, \.perUser) { "What one user may take of it." }
            Field("max_request_body", .size(0...1 << 30), \.maxRequestBody) {
                "A larger request body is answered 413."
            }
            Field("max_response_body", .size(0...1 << 30), \.maxResponseBody) {
                "A larger response body that has to be collected is a failed attempt."
            }
            Field("replay_buffer", .size(0...1 << 26), \.replayBuffer) {
                "A request body up to this is held in memory until its request is answered. A larger one is sent on as "
                    + "it arrives, with a copy in the state directory for another attempt."
            }
            Field("memory", .size(1 << 20...1 << 40), \.memory) {
                "What bodies may take of the memory together: answers that are collected, request bodies that are held, "
                    + "and what callers have not taken yet. A body that does not fit goes to disk, waits until its "
                    + "deadline, or is answered 503 overloaded. An eighth is left for what bodies take beside "
                    + "their bytes. Without the key a quarter of the machine's memory, or of "
                    + "what the unit may use (MemoryMax=) where that is less."
            }
            Field("shedding", shedding.kind, \.shedding) {
                "What becomes of new work while memory is short: the kernel reports pressure on the unit "
                    + "(MemoryPressureWatch= of systemd 254 and later), the process takes more than max_resident, or "
                    + "the bodies take nearly all of memory."
            }
            Field("spool", .size(0...1 << 40), \.spool) {
                "What those copies may take of the disk together. A body that does not fit is sent once, and the "
                    + "timeline says so."
            }
            Field("max_queued_jobs", .integer(1...10_000_000), \.maxQueuedJobs) {
                "Jobs on disk that are not over; one more is answered 503 queue_full."
            }
        } check: { limits, node, reading in
            if let memory = limits.memory, memory / 16 * 7 < limits.maxResponseBody {
                reading.warn(
                    "one answer may take less than half of this, and limits.max_response_body allows it more",
                    at: node.location("memory"),
                    hint: "write at least \"\(SizeText.text(limits.maxResponseBody * 3))\""
                )
            }
            warn(
                limits.perUser.maxConnections,
                beyond: limits.maxConnections,
                "max_connections",
                in: node,
                &reading
            )
            warn(
                limits.perUser.maxQueuedJobs,
                beyond: limits.maxQueuedJobs,
                "max_queued_jobs",
                in: node,
                &reading
            )
            if let all = limits.maxRequests {
                warn(limits.perUser.maxRequests, beyond: all, "max_requests", in: node, &reading)
            }
        }
    }

    /// A share that is more than there is was meant otherwise.
    private static func warn(
        _ share: Int?,
        beyond all: Int,
        _ key: String,
        in node: JSONNode,
        _ reading: inout ReadContext
    ) {
        guard let share, share > all else { return }
        reading.warn(
            "one user's share is more than all may have (limits.\(key)) and bounds nothing",
            at: node.location("per_user", key),
            hint: "lower it, or raise limits.\(key)"
        )
    }

    private static var perUser: Section<UserLimits> {
        Section(
            "per_user",
            "What one user may take of what all callers share. Users are told apart on Unix sockets; the callers of a "
                + "port count as one, and operators on a control listener are bounded by none of it.",
            of: UserLimits()
        ) {
            Field("enabled", .boolean, \.isEnabled) {
                "Whether users are told apart. Without, nobody has a share: who waits for a full route is let in by "
                    + "urgency and then in the order of arrival, and the other keys mean nothing. Kept jobs have their "
                    + "turns by user all the same."
            }
            Field("max_connections", .integer(1...65_536), \.maxConnections) {
                "Connections of one user that may be open at once; one more is answered 503 overloaded. Without the "
                    + "key half of what the others leave of limits.max_connections. Of the last places, a sixteenth "
                    + "and 32 at most, each user has one in any case."
            }
            Field("max_requests", .integer(1...1_000_000), \.maxRequests) {
                "Requests of one user that may be under way at once over all routes, those that wait or whose body is on "
                    + "its way included; one more is answered 503 overloaded. Each job of a stream or of an array is one "
                    + "until it is over or on disk, so that of an array that is longer the rest is refused. Without the "
                    + "key half of limits.max_requests where that is set, and unbounded otherwise."
            }
            Field("max_bytes", .size(1 << 16...1 << 40), \.maxBytes) {
                "Bytes that bodies of one user may take of memory and spool together: request bodies of more than "
                    + "16 KiB, their copies, answers that are collected, and answers that are not taken. A body beyond it "
                    + "that has to be held or is to be kept is answered 503 overloaded; one that can stream is sent without "
                    + "being held, and once where a copy in the spool would be beyond it. Answers are counted and never "
                    + "refused. Without the key unbounded but by limits.memory and limits.spool."
            }
            Field("max_queued_jobs", .integer(1...10_000_000), \.maxQueuedJobs) {
                "Jobs of one user on disk that are not over; one more is answered 503 queue_full. Without the key "
                    + "unbounded but by limits.max_queued_jobs."
            }
            Field("rate", userRate.kind, \.rate) {
                "How fast one user may send requests; one more is answered 429 rate_limited. Each job of a stream or of "
                    + "an array is one, and what brings them is none. Without the key as fast as it can."
            }
        }
    }

    private static var shedding: Section<Limits.Shedding> {
        Section("shedding", "What becomes of new work while memory is short.", of: Limits.Shedding()) {
            Field("enabled", .boolean, \.isEnabled) {
                "Whether new work is refused then: with 503 overloaded, at first only what says that it is less urgent "
                    + "than usual (Priority: u=4 to u=7), after 2 seconds what says nothing, after 5 everything, "
                    + "and never what operators send. What was accepted goes on, kept jobs after those 2 seconds with at "
                    + "most a quarter of concurrency.max_requests of their route at once. Last good answers are let go, "
                    + "unless only the bodies in limits.memory are many, for which only the less urgent is refused."
            }
            Field("mode", .mode, \.reports) {
                "Whether it acts, or only tells what it would have refused; last good answers are let go all the same."
            }
            Field("max_resident", .size(16 << 20...1 << 40), \.maxResident) {
                "Resident memory of the process from which on it is short. Without the key seven eighths of the "
                    + "machine's memory, or of what the unit may use (MemoryMax=) where that is less."
            }
        }
    }

    private static var userRate: Section<UserLimits.Rate> {
        Section("rate", "How fast one user may send requests.", of: UserLimits.Rate()) {
            rateFields(of: "Requests", \.maxRequests, \.per)
            Field("burst", .integer(1...1_000_000), \.burst) {
                "Requests that may follow each other at once. Without the key max_requests, since what comes too fast is "
                    + "refused, unlike with rate_limit of a route, where it waits and one at once is enough."
            }
        }
    }
}
