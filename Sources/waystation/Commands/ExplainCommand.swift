import RelayCore
import RelayJSON

extension Command {
    static let explain = Command(
        "explain",
        "JOB|WORD [-o table|json] [--utc]",
        "Tells what happened to a job, or what a word means.",
        details: """
            JOB is the value of the answer's Waystation-Job field, all of it. For a job that is kept it tells,
            too, why it waits, what comes next and what can be done. The daemon remembers the latest of the jobs
            that were answered at once; the journal has the others: journalctl -u waystationd JOB_ID=JOB

            WORD is the code of a problem, the kind of a failure, or a state, a reason or an end of a job. What it
            means, its usual causes and what to do are those of waystationd-api(7), and no daemon is asked.

            """,
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
        let meanings = Meaning.of(word)
        guard meanings.isEmpty else {
            try arguments.allow(["output"], in: word)
            show(meanings, format)
            return .done
        }
        let id = try idOrWord(word)
        let daemon = DaemonAccess.control(arguments)
        let (bytes, job) = try daemon.document(.get, "/v1/jobs/\(id)")
        switch format {
        case .json: Output.standard.write(bytes + [UInt8(ascii: "\n")])
        case .table:
            guard JobDocument(job).isDurable else {
                Output.standard.write(JobTimeline(job).text(for: .standard))
                break
            }
            let story = JobStory(
                job,
                Moments(isUTC: arguments.has("utc")),
                companions: try companions(of: job, daemon)
            )
            Output.standard.write(story.text(for: .standard))
        }
        return .done
    }
}

/// Tells what a word means.
private func show(_ meanings: [Meaning], _ format: OutputFormat) {
    switch format {
    case .table: Output.standard.write(meanings.map(\.page).joined(separator: "\n"))
    case .json:
        var json = JSONObjectWriter()
        json.member("word", meanings[0].word)
        json.array("meanings") { list in
            for meaning in meanings { list.object { meaning.write(into: &$0) } }
        }
        Output.standard.write(json.bytes + [UInt8(ascii: "\n")])
    }
}

/// The id of a job; what is none may have been meant as a word.
private func idOrWord(_ word: String) throws(CommandFailure) -> String {
    do throws(CommandFailure) {
        return try jobID(word, of: "explain")
    } catch {
        guard let near = Meaning.nearest(to: word) else { throw error }
        throw CommandFailure(
            .usage,
            "\"\(safe(word))\" is neither a word of the interface nor a job id; did you mean \"\(near)\"?",
            advice: error.advice
        )
    }
}

/// What else waits on the job's route with the same failure; nil for a job that is over or has not failed.
private func companions(
    of json: JSONValue,
    _ daemon: DaemonAccess
) throws(CommandFailure) -> JobStory.Companions? {
    let job = JobDocument(json)
    guard !job.isOver, let kind = json["last_failure"]?["kind"]?.text, let route = json["route"]?.text else {
        return nil
    }
    var query = QueryText()
    query.add("route", route)
    query.add("failure_kind", kind)
    query.add("state", "queued,running,retrying,held")
    query.add("order", "oldest")
    query.add("limit", "500")
    let (_, document) = try daemon.document(.get, query.target("/v1/jobs"))
    let jobs = document["jobs"]?.elements ?? []
    let hasMore = document["next"]?.text != nil
    return JobStory.Companions(count: jobs.count, hasMore: hasMore, since: jobs.first?["created_at"]?.text)
}
