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
        var trials: [(part: Int, trial: Trial)] = []
        let byRoute = Dictionary(grouping: records.jobs, by: \.route).sorted { $0.key < $1.key }
        var traits = RehearsalTraits()
        var unlost = 0
        for (name, jobs) in byRoute {
            let matching = jobs.filter(isMeant)
            let meant = matching.filter(\.isLost)
            unlost += matching.count - meant.count
            guard !meant.isEmpty else { continue }
            let route = configuration.routes.first { $0.name == name }
            parts.append(Part(route: name, rules: route?.rulesOnRecord ?? []))
            let part = parts.count - 1
            guard let route else {
                parts[part].jobs = meant.map { RehearsedJob($0, .noRoute) }
                continue
            }
            let limits = RecordedLimits(jobs, isWhole: records.isWhole)
            let isTogether = !route.policy.traffic.isOff
            let byClass = Dictionary(grouping: jobs, by: RecordedClass.init)
                .sorted { $0.key.text < $1.key.text }
            for (number, (_, jobs)) in byClass.enumerated() {
                let meant = jobs.filter { isMeant($0) && $0.isLost }
                var others = jobs.filter { !isMeant($0) || !$0.isLost }
                guard isTogether || !meant.isEmpty else { continue }
                let attempts = RecordedAttempts(jobs, route)
                traits.take(attempts, limits, route)
                var head = JSONObjectWriter()
                head.member("route", name)
                head.member("points", attempts.shared.json)
                lines += head.bytes + [UInt8(ascii: "\n")]
                let path = isTogether ? RecordedClass.path(number) : nil
                for job in meant {
                    guard let trial = Trial(job, attempts, limits) else {
                        let isLate = job.lastFailure?.isPastDeadline == true
                        parts[part].jobs.append(RehearsedJob(job, isLate ? .deadline : .noAttempts))
                        others.append(job)
                        continue
                    }
                    trials.append((part, trial))
                    lines += trial.line(name, path: path) + [UInt8(ascii: "\n")]
                }
                guard let path else { continue }
                // The others are there for what they do to protections.
                for job in others {
                    guard let member = Trial(member: job, attempts, limits) else { continue }
                    lines += member.line(name, path: path, isAsked: false) + [UInt8(ascii: "\n")]
                }
            }
            guard isTogether else { continue }
            var end = JSONObjectWriter()
            end.member("route", name)
            end.member("together", true)
            lines += end.bytes + [UInt8(ascii: "\n")]
        }
        let answers = trials.isEmpty ? [] : try ask(lines).split(separator: UInt8(ascii: "\n"))
        guard answers.count == trials.count else {
            throw CommandFailure(
                .failed,
                "\(DaemonProgram.path) answered \(answers.count) of \(trials.count) trials"
            )
        }
        for ((part, trial), answer) in zip(trials, answers) {
            guard let json = try? JSONValue(parsing: Array(answer)) else {
                throw CommandFailure(.failed, "\(DaemonProgram.path) said what cannot be read")
            }
            parts[part].jobs.append(RehearsedJob(trial, json))
        }
        let rehearsed = self.jobs
        assumptions =
            traits.sentences(samples: rehearsed.map(\.samples).filter { $0 > 0 }) + records.notes
        let many = rehearsed.count(where: \.isOneOfMany)
        if many > 0 {
            assumptions.append(
                "\(many) jobs went alone, since with the others of their route they are too many."
            )
        }
        guard unlost > 0 else { return }
        let what = unlost == 1 ? "1 job that matches is" : "\(unlost) jobs that match are"
        assumptions.append("\(what) not lost, and only tell\(unlost == 1 ? "s" : "") what upstreams did.")
    }
}
