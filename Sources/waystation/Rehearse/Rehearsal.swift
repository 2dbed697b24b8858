import RelayBase
import RelayConfig
import RelayInterface
import RelayJSON
import RelayRoute

/// Jobs on record taken through the rules of another configuration.
struct Rehearsal {
    /// One route, with all of its jobs that were rehearsed.
    struct Part {
        let route: String
        fileprivate(set) var jobs: [RehearsedJob] = []
        /// Rules of the route that look at nothing but what is on record; empty where the file does not have it.
        let rules: [String]
    }

    private(set) var parts: [Part] = []
    /// Sentences on all that is taken for granted or was left out.
    private(set) var assumptions: [String] = []

    var jobs: [RehearsedJob] { parts.flatMap(\.jobs) }

    /// `ask` is the daemon's program, which takes trials and gives a line for each.
    init(
        _ records: JobRecords,
        _ isMeant: (Job) -> Bool,
        _ configuration: Configuration,
        _ ask: ([UInt8]) throws(CommandFailure) -> [UInt8]
    ) throws(CommandFailure) {
        var lines: [UInt8] = []
        var trials:
            [(part: Int, job: Job, begins: Int64, alone: Set<String>, doubtful: RecordedLimits.Doubtful)] = []
        let byRoute = Dictionary(grouping: records.jobs, by: \.route).sorted { $0.key < $1.key }
        var traits = RehearsalTraits()
        var others = 0
        for (name, jobs) in byRoute {
            let matching = jobs.filter(isMeant)
            let meant = matching.filter(\.isLost)
            others += matching.count - meant.count
            guard !meant.isEmpty else { continue }
            let route = configuration.routes.first { $0.name == name }
            parts.append(Part(route: name, rules: route?.rulesOnRecord ?? []))
            let part = parts.count - 1
            guard let route else {
                parts[part].jobs = meant.map { RehearsedJob($0, .noRoute) }
                continue
            }
            let attempts = RecordedAttempts(jobs, route)
            let limits = RecordedLimits(jobs)
            traits.take(attempts, limits, route)
            var head = JSONObjectWriter()
            head.member("route", name)
            head.member("points", attempts.shared.json)
            lines += head.bytes + [UInt8(ascii: "\n")]
            for job in meant {
                let (own, alone) = (attempts.own(job), attempts.alone(job))
                if job.lastFailure?.isPastDeadline == true {
                    parts[part].jobs.append(RehearsedJob(job, .deadline))
                    continue
                }
                // A document has the last hundred attempts.
                let first =
                    job.attemptCount > job.attempts.count ? job.createdAt : job.attempts.first?.startedAt
                guard !own.isEmpty, let begins = first?.milliseconds else {
                    parts[part].jobs.append(RehearsedJob(job, .noAttempts))
                    continue
                }
                trials.append((part, job, begins, alone, limits.doubtful(job)))
                var trial = JSONObjectWriter()
                trial.member("route", name)
                trial.member("begins", begins)
                trial.member("method", job.request.method ?? "POST")
                if job.isDurable { trial.member("durable", true) }
                if job.isKeyed == true { trial.member("keyed", true) }
                trial.member("own", own.json)
                if !alone.isEmpty {
                    trial.array("alone") { list in for name in alone.sorted() { list.element(name) } }
                }
                if let accepted = job.createdAt { trial.member("accepted", accepted.milliseconds) }
                if let expires = limits.expires(job) { trial.member("expires", expires) }
                if let most = limits.maxAttempts(job) { trial.member("max_attempts", most) }
                lines += trial.bytes + [UInt8(ascii: "\n")]
            }
        }
        let answers = trials.isEmpty ? [] : try ask(lines).split(separator: UInt8(ascii: "\n"))
        guard answers.count == trials.count else {
            throw CommandFailure(
                .failed,
                "\(DaemonProgram.path) answered \(answers.count) of \(trials.count) trials"
            )
        }
        for (trial, answer) in zip(trials, answers) {
            guard let json = try? JSONValue(parsing: Array(answer)) else {
                throw CommandFailure(.failed, "\(DaemonProgram.path) said what cannot be read")
            }
            parts[trial.part].jobs.append(
                RehearsedJob(trial.job, since: trial.begins, alone: trial.alone, trial.doubtful, json)
            )
        }
        let rehearsed = self.jobs
        assumptions =
            traits.sentences(
                width: rehearsed.map(\.width).max() ?? 0,
                isSampled: rehearsed.contains(where: \.isSampled)
            ) + records.notes
        guard others > 0 else { return }
        let what = others == 1 ? "1 job that matches is" : "\(others) jobs that match are"
        assumptions.append("\(what) not lost, and only tell\(others == 1 ? "s" : "") what upstreams did.")
    }
}
