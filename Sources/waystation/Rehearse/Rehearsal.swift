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
        /// Rules of the route; empty where the file does not have it.
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
        var trials: [(part: Int, job: Job, begins: Int64)] = []
        let byRoute = Dictionary(grouping: records.jobs, by: \.route).sorted { $0.key < $1.key }
        var traits = Traits()
        for (name, jobs) in byRoute {
            let meant = jobs.filter(isMeant)
            guard !meant.isEmpty else { continue }
            let route = configuration.routes.first { $0.name == name }
            parts.append(Part(route: name, rules: route?.policy.recovery.map(\.name) ?? []))
            let part = parts.count - 1
            guard let route else {
                parts[part].jobs = meant.map { RehearsedJob($0, .noRoute) }
                continue
            }
            let attempts = RecordedAttempts(jobs, route)
            traits.take(attempts, route)
            var head = JSONObjectWriter()
            head.member("route", name)
            head.member("points", attempts.shared.json)
            lines += head.bytes + [UInt8(ascii: "\n")]
            for job in meant {
                let own = RecordedAttempts.own(job, route)
                let isKnown = job.attempts.contains { !own.isEmpty || attempts.shared[$0.upstream] != nil }
                // A document has the last hundred attempts.
                let first =
                    job.attemptCount > job.attempts.count ? job.createdAt : job.attempts.first?.startedAt
                guard isKnown, let begins = first?.milliseconds else {
                    parts[part].jobs.append(RehearsedJob(job, .noAttempts))
                    continue
                }
                trials.append((part, job, begins))
                var trial = JSONObjectWriter()
                trial.member("route", name)
                trial.member("begins", begins)
                trial.member("method", job.request.method ?? "POST")
                if job.isDurable { trial.member("durable", true) }
                if job.isKeyed == true { trial.member("keyed", true) }
                if !own.isEmpty { trial.member("own", own.json) }
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
            parts[trial.part].jobs.append(RehearsedJob(trial.job, since: trial.begins, json))
        }
        assumptions = traits.sentences(width: self.jobs.map(\.width).max() ?? 0) + records.notes
    }

    /// The traits of records and rules that something is to be said of.
    private struct Traits {
        private var hasTimeouts = false
        private var hasContent = false
        private var heeds: Set<String> = []
        private var closed: Set<String> = []

        mutating func take(_ attempts: RecordedAttempts, _ route: Route) {
            if attempts.hasTimeouts { hasTimeouts = true }
            if attempts.hasContent { hasContent = true }
            if route.policy.closed != nil { closed.insert(route.name) }
            for case .retry(let retry) in route.policy.recovery.map(\.action) where retry.honorsRetryAfter {
                heeds.insert(route.name)
            }
        }

        func sentences(width: Int64) -> [String] {
            var all = [
                "Each job is alone on an idle route: its circuit breakers are closed, its retry budget is whole, and"
                    + " tokens are there."
            ]
            if width > 0 {
                all.append(
                    "Between two attempts on record that met the same, the same is assumed, and of two unlike failures"
                        + " each in turn; the two that were farthest apart had"
                        + " \(DurationText.short(milliseconds: Double(width))) between them."
                )
            }
            if hasTimeouts {
                all.append("An upstream that was silent stays silent, however long the file waits.")
            }
            if hasContent {
                all.append(
                    "An answer that failed by its content fails again in the same way: its content is not on record."
                )
            }
            if !heeds.isEmpty {
                all.append("Retry-After is not on record: rules that heed it wait as without it.")
            }
            if !closed.isEmpty {
                all.append(
                    "Planned windows come on top: \(closed.sorted().map(safe).joined(separator: ", "))."
                )
            }
            return all
        }
    }
}
