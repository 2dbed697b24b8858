import RelayBase
import RelayInterface
import RelayJSON
import RelayJobs
import RelayPosix

extension Command {
    static let explain = Command(
        "explain",
        "JOB|WORD [-o table|json] [--utc]",
        "Tells what happened to a job, or what a word means.",
        details: """
            JOB is the value of the answer's Waystation-Job field, all of it. For a job that is kept it tells,
            too, what was done to it and by whom, why it waits, what comes next and what can be done. The daemon
            remembers the latest of the jobs that were answered at once; the journal has the others:
            waystation logs JOB

            WORD is one that any output has: the code of a problem, the kind of a failure, a state, a reason, an
            end, an action, an event; or a key of the configuration, such as timeouts.attempt. It tells what the
            word means, its usual causes and what to do, and asks no daemon but for a word that may be a kind of
            the configuration's own.

            """,
        operands: [.asked([.jobs, .words])],
        options: [.output, .utc, .control]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        guard let word = arguments.operands.first else {
            throw .usage(
                "which job, or which word? A job's id is in the answer's Waystation-Job field",
                of: "explain"
            )
        }
        let format = try arguments.format()
        let meanings = Glossary.meanings(of: word)
        guard meanings.isEmpty else {
            try arguments.allow(["output"], in: word)
            WordExplanation.show(meanings, format)
            return .done
        }
        guard let id = try? jobID(word) else {
            // A word that is nearly an id was meant as one.
            if word.utf8.count >= 20, !word.contains("_"), !word.contains(".") { _ = try jobID(word) }
            WordExplanation.show(try WordExplanation.ofConfiguration(word, arguments), format)
            return .done
        }
        let daemon = DaemonAccess.reading(arguments)
        let (bytes, job) = try daemon.document(.get, "/v1/jobs/\(id)")
        return try Output.standard.show(bytes, as: format) { () throws(CommandFailure) in
            JobStory(
                job,
                Moments(isUTC: arguments.has("utc")),
                companions: try companions(of: job, daemon),
                daemon.advice,
                userName: systemUserName
            ).text(for: .standard)
        }
    }
}

/// The jobs that wait on the job's route with the same failure; nil for a job that is over or has not failed.
private func companions(
    of json: JSONValue,
    _ daemon: DaemonAccess
) throws(CommandFailure) -> JobStory.Companions? {
    let job = JobDocument(json)
    guard job.job.isDurable, !job.isOver, let kind = job.job.lastFailure?.kind else { return nil }
    var query = QueryText()
    query.add("route", job.job.route)
    query.add("failure_kind", kind)
    query.add("state", "queued,running,retrying,held")
    query.add("order", "oldest")
    query.add("limit", "500")
    let (_, document) = try daemon.document(.get, query.target("/v1/jobs"))
    let jobs = document["jobs"]?.elements ?? []
    let hasMore = document["next"]?.text != nil
    return JobStory.Companions(
        count: jobs.count,
        hasMore: hasMore,
        since: jobs.first?["created_at"].flatMap(WallTime.init)
    )
}
