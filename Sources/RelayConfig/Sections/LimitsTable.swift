import RelayCore
import RelayJSON

extension ConfigurationTable {
    static var limits: Section<Limits> {
        Section(
            "limits",
            "Bounds on what all callers together may take.",
            prototype: Limits(),
            fields: [
                Field(
                    "max_connections",
                    .integer(1...65_536),
                    \.maxConnections,
                    "Connections of callers that may be open at once; one more is answered 503 overloaded. Each listener with "
                        + "the role admin has 32 besides, which no other takes."
                ),
                Field("per_user", perUser.kind, \.perUser, "What one user may take of it."),
                Field(
                    "max_request_body",
                    .size(0...1 << 30),
                    \.maxRequestBody,
                    "A larger request body is answered 413."
                ),
                Field(
                    "max_response_body",
                    .size(0...1 << 30),
                    \.maxResponseBody,
                    "A larger response body that has to be collected is a failed attempt."
                ),
                Field(
                    "replay_buffer",
                    .size(0...1 << 26),
                    \.replayBuffer,
                    "A request body up to this is held in memory until its request is answered. A larger one is sent on as "
                        + "it arrives, with a copy in the state directory for another attempt."
                ),
                Field(
                    "memory",
                    .size(1 << 20...1 << 40),
                    \.memory,
                    "What bodies may take of the memory together: answers that are collected, request bodies that are held, "
                        + "and what callers have not taken yet. A body that does not fit goes to disk, waits until its "
                        + "deadline, or is answered 503 overloaded. An eighth is left for what bodies take beside "
                        + "their bytes. Without the key a quarter of the machine's memory, or of "
                        + "what the unit may use (MemoryMax=) where that is less."
                ),
                Field(
                    "spool",
                    .size(0...1 << 40),
                    \.spool,
                    "What those copies may take of the disk together. A body that does not fit is sent once, and the "
                        + "timeline says so."
                ),
                Field(
                    "max_queued_jobs",
                    .integer(1...10_000_000),
                    \.maxQueuedJobs,
                    "Jobs on disk that are not over; one more is answered 503 queue_full."
                ),
            ]
        ) { limits, node, reading in
            if let memory = limits.memory, memory / 16 * 7 < limits.maxResponseBody {
                reading.warn(
                    "one answer may take less than half of this, and limits.max_response_body allows it more",
                    in: node,
                    at: ["memory"],
                    hint: "write at least \"\(SizeText.text(limits.maxResponseBody * 3))\""
                )
            }
            guard let share = limits.perUser.maxConnections, share > limits.maxConnections else { return }
            reading.warn(
                "one user's share is more than all may have (limits.max_connections) and bounds nothing",
                in: node,
                at: ["per_user", "max_connections"],
                hint: "lower it, or raise limits.max_connections"
            )
        }
    }

    private static var perUser: Section<UserLimits> {
        Section(
            "per_user",
            "What one user may take of what all callers share. Users are told apart on Unix sockets; the callers of a "
                + "port count as one.",
            prototype: UserLimits(),
            fields: [
                Field(
                    "max_connections",
                    .integer(1...65_536),
                    \.maxConnections,
                    "Connections of one user that may be open at once; one more is answered 503 overloaded. Without the "
                        + "key half of limits.max_connections."
                )
            ]
        )
    }
}
