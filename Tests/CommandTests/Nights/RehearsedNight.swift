import RelayBase
import RelayConfig
import RelayInterface
import RelayTestSupport
import RelayTesting
import Testing

@testable import waystation
@testable import waystationd

/// A night under old rules, rehearsed with new ones, and the same night under the new ones in truth.
struct RehearsedNight {
    /// Jobs that were told of, by whether they would have been delivered, and those of them that were told wrongly.
    private(set) var would = 0
    private(set) var wouldNot = 0
    private(set) var wrong = 0
    /// Jobs of which it cannot be known.
    private(set) var unknown = 0
    /// Attempts on record in a second of the night.
    private(set) var rate = 0.0

    /// Lost jobs of a night that are rehearsed, about.
    private static let most = 40
    /// The same, courses of jobs that go together and milliseconds of a night that is brief.
    private static let brief: (jobs: Int, courses: Int, length: Int64) = (15, 6, 50_000)

    /// The new rules have protections (breaker, budget, window and throttling) or not; the old ones of every fourth night.
    ///
    /// Where it `guesses`, the nearest attempt on record counts for every moment, however far away it is.
    /// So many of a hundred jobs that succeeded at once are on no record, as those that are not kept (`unrecorded`).
    init(seed: UInt64, isProtected: Bool, guesses: Bool = false, unrecorded: Int = 0, isBrief: Bool) throws {
        var draw = SplitMix64(seed: seed &* 0xA24B_AED4_963E_E407 &+ 3)
        let night = Night(seed: seed, length: isBrief ? Self.brief.length : 90_000)
        let old = try configuration(NightRules(old: &draw, isProtected: seed % 4 == 0).file)
        let new = try configuration(NightRules(new: &draw, isProtected: isProtected).file)
        let documents = NightRun(night, old).documents(night, old.routes[0])
        let truth = NightRun(night, new).delivered
        rate = Double(documents.reduce(0) { $0 + $1.attempts.count }) * 1_000 / Double(night.length)
        var saved = JobRecords()
        for job in documents {
            let isAtOnce = job.attempts.count == 1 && !job.isLost
            if !isAtOnce || !draw.chance(unrecorded) { saved.add(job) }
        }
        let records = try JobRecords(parsing: saved.lines, from: "the night")
        let lost = records.jobs.filter(\.isLost).map(\.id)
        let step = max(1, lost.count / (isBrief ? Self.brief.jobs : Self.most))
        let meant = Set(lost.enumerated().filter { $0.offset % step == 0 }.map(\.element))
        func answer(_ lines: [UInt8]) throws(CommandFailure) -> [UInt8] {
            var program = waystationd.Rehearsal(new, courses: isBrief ? Self.brief.courses : JointTrial.most)
            let answers = lines.split(separator: UInt8(ascii: "\n")).flatMap { line in
                program.take(guesses ? NightGuess.trial(Array(line)) : Array(line)) ?? []
            }
            return guesses ? NightGuess.answers(answers) : answers
        }
        let rehearsal = try waystation.Rehearsal(records, { meant.contains($0.id) }, new, answer)
        for job in rehearsal.jobs {
            let isDelivered = Int(job.job.id).flatMap { truth[$0] } == true
            switch job.ending {
            case .delivered:
                would += 1
                if !isDelivered { wrong += 1 }
            case .lost:
                wouldNot += 1
                if isDelivered { wrong += 1 }
            case .unknown:
                unknown += 1
            }
        }
    }
}
