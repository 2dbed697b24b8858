import RelayBase
import RelayInterface
import RelayJSON

/// The ends of several rehearsed jobs, in figures.
struct RehearsalFigures {
    let jobs: Int
    private(set) var delivered = 0
    /// By how they ended.
    private(set) var lost: [String: Int] = [:]
    private(set) var unknown: [RehearsedJob.Unknown: Int] = [:]
    /// When each of the delivered ones would have been, at the latest, and how long after its first attempt.
    private(set) var moments: [Int64] = []
    private(set) var waits: [Int64] = []
    /// Attempts of those whose end is known.
    private(set) var least = 0
    private(set) var most = 0
    private(set) var onRecord = 0

    init(_ jobs: [RehearsedJob]) {
        self.jobs = jobs.count
        for job in jobs {
            switch job.ending {
            case .delivered(let when):
                delivered += 1
                moments.append(when.upperBound)
                let began = job.job.attempts.first?.startedAt?.milliseconds ?? when.upperBound
                waits.append(max(0, when.upperBound - began))
            case .lost(let end): lost[end, default: 0] += 1
            case .unknown(let why): unknown[why, default: 0] += 1
            }
            guard let attempts = job.attempts else { continue }
            least += attempts.lowerBound
            most += attempts.upperBound
            onRecord += job.job.attemptCount
        }
        moments.sort()
        waits.sort()
    }

    var lostCount: Int { lost.values.reduce(0, +) }
    var unknownCount: Int { unknown.values.reduce(0, +) }

    /// `12`, `12 to 15`.
    var attempts: String { least == most ? String(least) : "\(least) to \(most)" }

    func write(into json: inout JSONObjectWriter) {
        json.member("jobs", jobs)
        json.member("would_have_been", delivered)
        json.member("would_not", lostCount)
        json.member("cannot_be_known", unknownCount)
        json.object("ends") { json in
            for (end, count) in lost.sorted(by: { $0.key < $1.key }) { json.member(end, count) }
        }
        json.object("unknown") { json in
            for why in RehearsedJob.Unknown.allCases {
                if let count = unknown[why] { json.member(why.rawValue, count) }
            }
        }
        json.member("attempts_least", least)
        json.member("attempts_most", most)
        json.member("attempts_on_record", onRecord)
        guard let first = moments.first, let last = moments.last else { return }
        json.member("first_delivered", WallTime(milliseconds: first).description)
        json.member("half_delivered", WallTime(milliseconds: moments.half).description)
        json.member("last_delivered", WallTime(milliseconds: last).description)
        json.member("half_within_ms", waits.half)
        json.member("all_within_ms", waits.last ?? 0)
    }
}

extension [Int64] {
    /// The one by which half of them are over, of those in order.
    var half: Int64 { self[(count - 1) / 2] }
}

extension Rehearsal.Part {
    /// Rules that acted on no job; nil where a job may have come to them beyond what is known of it.
    ///
    /// Those that look at more than is on record are never among them.
    var idleRules: [String]? {
        guard !jobs.isEmpty, jobs.allSatisfy(\.isKnown) else { return nil }
        let acted = jobs.reduce(into: Set<String>()) { $0.formUnion($1.acted) }
        return rules.filter { !acted.contains($0) }
    }

    /// Of them those that matched a failure and were held back.
    var heldBackRules: Set<String> { jobs.reduce(into: []) { $0.formUnion($1.heldBack) } }
}

extension Rehearsal {
    /// As `-o json` prints it.
    func document(file: String) -> [UInt8] {
        var json = JSONObjectWriter()
        json.member("file", file)
        RehearsalFigures(jobs).write(into: &json)
        json.array("routes") { list in
            for part in parts {
                list.object { json in
                    json.member("route", part.route)
                    RehearsalFigures(part.jobs).write(into: &json)
                    guard let rules = part.idleRules else { return }
                    json.array("idle_rules") { list in for rule in rules { list.element(rule) } }
                }
            }
        }
        json.array("each") { list in for job in jobs { list.object { job.write(into: &$0) } } }
        json.array("assumes") { list in for sentence in assumptions { list.element(sentence) } }
        return json.bytes
    }
}
