import RelayBase
import RelayCore
import RelayJobs

/// Holds the core to its promises.
///
/// It sees what passes the ports (what is sent and when, what is answered, what is recorded, how jobs end) and the
/// policy the route is believed to have, and nothing of the core's inside.
final class Checker {
    let timeline: Timeline
    var routes: [RouteCase] = []
    var credentials: [CredentialRecord] = []
    var jobs: [JobRecord?]
    var coverage = Coverage()
    /// When the network became constrained, or no more, in turn.
    var networkChanges: [Int64] = []
    private(set) var hash = TraceHash()
    private(set) var violation: Violation?
    private(set) var begun = 0
    private(set) var ended = 0
    private(set) var mostInFlight = 0
    /// The bug that is planted.
    var plant: Plant?
    /// Part of the only sentence that counts, where a bug is planted; nil counts all.
    var wanted: String?
    /// The job whose whole timeline is wanted.
    var traced: Int?
    private(set) var tracedTimeline: [String] = []

    init(jobs count: Int, timeline: Timeline) {
        jobs = Array(repeating: nil, count: count)
        self.timeline = timeline
    }

    var now: Int64 { timeline.now }
    var isConstrained: Bool { networkChanges.count % 2 == 1 }
    var wallSeconds: Int64 { (SimulatedTime.wallStart + now / 1_000_000) / 1000 }

    /// Keeps the first broken promise.
    func violated(_ job: Int, _ sentence: String) {
        guard violation == nil, wanted.map({ sentence.contains($0) }) ?? true else { return }
        let lines = job >= 0 && job < jobs.count ? jobs[job]?.timeline.map(\.text) ?? [] : []
        violation = Violation(job: job, at: now, sentence: sentence, timeline: lines)
    }

    func note(
        _ job: JobRecord,
        _ event: Moment.Event,
        _ first: Int = 0,
        _ second: Int = 0,
        _ word: String = ""
    ) {
        let moment = Moment(at: now, event: event, first: first, second: second, word: word)
        job.timeline.append(moment)
        hash.mix(job.number, moment)
    }

    /// A moment that belongs to no job.
    func note(_ event: Moment.Event, _ first: Int, _ second: Int = 0) {
        hash.mix(-1, Moment(at: now, event: event, first: first, second: second))
    }

    func began(_ job: JobRecord) {
        jobs[job.number] = job
        begun += 1
        mostInFlight = max(mostInFlight, begun - ended)
        if begun - ended >= 200 { coverage.note(.manyInFlight) }
        note(job, .began, job.route.number, Int(job.deadline))
        if !job.isUnpreparable, job.program == nil { begin(job, at: now) }
    }

    /// `isNew` tells that its task has not run yet.
    func cancelled(_ number: Int, isNew: Bool = false) {
        guard let job = jobs[number] else { return coverage.note(.cancelledTooLate) }
        note(job, .cancelled)
        job.cancelledAt = now
        if isNew { return coverage.note(.cancelledBefore) }
        switch job.stage {
        case .attempting: coverage.note(.cancelledToken)
        case .sending: coverage.note(.cancelledSend)
        case .judging(_, let stream):
            coverage.note(stream?.isOpen == true ? .cancelledCollect : .cancelledSend)
        case .waiting: coverage.note(.cancelledWait)
        case .closing: coverage.note(.cancelledTooLate)
        }
    }

    func recorded(_ event: JobEvent) {
        switch event {
        case .attemptFailed(let context, let attempt):
            guard let job = job(context) else { return }
            attemptFailed(job, attempt)
        case .ended(let report):
            guard let context = report.context, let job = job(context) else { return }
            ended(job, report)
        default: break
        }
    }

    private func ended(_ job: JobRecord, _ report: JobReport) {
        if report.isRecovered { job.recoveredEvents += 1 }
        if report.state == .succeeded, !report.isFromUpstream { job.cannedEvents += 1 }
        if report.isBreach, plant != .losesBreach { job.breachEvents += 1 }
        guard let failure = report.failure else { return }
        job.failedEvents += 1
        note(job, .gaveUp, 0, 0, failure.kind.rawValue)
        if failure.detail.utf8.contains(UInt8(ascii: "~")) {
            violated(job.number, "an error's text shows a secret")
        }
    }

    private func job(_ context: JobContext) -> JobRecord? {
        let number = Int(context.id.low)
        guard number < jobs.count, let job = jobs[number] else {
            violated(number, "an event is recorded for a job that has ended")
            return nil
        }
        return job
    }

    /// The job's task is over.
    func left(_ number: Int) {
        guard let job = jobs[number] else { return violated(number, "a job ends twice") }
        if job.outcomes != 1 { violated(number, "a job has \(job.outcomes) outcomes instead of one") }
        ended += 1
        if number == traced { tracedTimeline = job.timeline.map(\.text) }
        jobs[number] = nil
    }

    /// Nothing runs and nothing waits any more.
    func quiet(sleeping: Int, running: Int, streams: Int) {
        if ended != jobs.count {
            let lost = jobs.first { $0 != nil } ?? nil
            violated(
                lost?.number ?? -1,
                "\(jobs.count - ended) jobs never had an outcome, and nothing is left to run"
            )
        }
        if sleeping != 0 { violated(-1, "\(sleeping) sleepers are left at the end") }
        if running != 0 { violated(-1, "\(running) tasks are left at the end") }
        if streams != 0 { violated(-1, "\(streams) response bodies are left open at the end") }
        for (index, credential) in credentials.enumerated() where credential.inFlight != 0 {
            violated(-1, "a token request of credential \(index) is left at the end")
        }
    }
}
