import RelayBase

extension Metric {
    package static let jobsByState = Metric(
        "waystation_jobs",
        .gauge,
        ["route", "state"],
        "Kept jobs by state, as of the last second.",
        do: "dead: waystation dead. Many that wait: waystation shape."
    )
    package static let jobsWaiting = Metric(
        "waystation_jobs_waiting",
        .gauge,
        ["route", "reason"],
        "Kept jobs that wait, by what they wait for: not_before, backoff, operator_hold, route_paused, route_closed, and for those that may "
            + "be sent what holds the route back, due where nothing does.",
        do:
            "waystation explain JOB says of one job what it waits for, an earlier job of its ordering key among that."
    )
    package static let oldestJob = Metric(
        "waystation_oldest_job_timestamp_seconds",
        .gauge,
        ["route"],
        "When the oldest kept job that is not over was accepted; absent without one.",
        do: "Its age grows: waystation jobs --route ROUTE, then waystation explain JOB."
    )
    package static let oldestDueJob = Metric(
        "waystation_oldest_due_job_timestamp_seconds",
        .gauge,
        ["route"],
        "Since when the kept job has been due that has been so for longest and is not over; absent without one.",
        do: "Its age grows: waystation limits ROUTE tells what holds the route back."
    )
    package static let startDelay = Metric(
        "waystation_job_start_delay_seconds",
        .histogram,
        ["route"],
        "From the moment that kept jobs were due to the beginning of an attempt that was sent, for each of their runs.",
        do:
            "Seconds: jobs come faster than they go, or something holds the route back: waystation limits ROUTE.",
        .wait
    )
    package static let queueLimit = Metric(
        "waystation_queue_limit",
        .gauge,
        "Kept jobs that may wait or run; one more is refused with queue_full (limits.max_queued_jobs).",
        do: "It moves with the configuration alone."
    )
    package static let jobsAccepted = Metric(
        "waystation_jobs_accepted",
        .counter,
        ["route"],
        "Jobs that were put on disk.",
        do: "Compare with waystation_jobs_finished_total: what comes faster than it goes piles up."
    )
    package static let jobsFinished = Metric(
        "waystation_jobs_finished",
        .counter,
        ["route", "state"],
        "Kept jobs that are over, by how they ended; one with another life counts again.",
        do: "dead or expired: waystation dead."
    )
    package static let jobDuration = Metric(
        "waystation_job_duration_seconds",
        .histogram,
        ["route"],
        "From the acceptance of kept jobs to their end.",
        do: "It follows the schedule of the route's rules while an upstream fails.",
        .lifetime,
        // 1, 10 and 60 s, 15 min, 1 h and 12 h.
        told: 0b0001_0101_0101_0100
    )

    package static let noticesMade = Metric(
        "waystation_notices",
        .counter,
        ["route"],
        "Notices on disk that tell another route how jobs of this one ended (delivery.notify); absent of a route without any.",
        do: "Compare with waystation_jobs_finished_total."
    )
    package static let noticesOwed = Metric(
        "waystation_notices_owed",
        .gauge,
        "Jobs that have ended of which another route is still to be told; absent where there is none.",
        do: "waystation status: make room, or put the missing route back and reload."
    )

    static let jobs = [
        jobsByState, jobsWaiting, oldestJob, oldestDueJob, queueLimit, jobsAccepted, startDelay, jobsFinished,
        jobDuration, noticesMade, noticesOwed,
    ]
}
