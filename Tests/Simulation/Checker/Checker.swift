import RelayBase
import RelayCore
import RelayJobs

/// Holds the core to its promises.
///
/// It sees what passes the ports (what is sent and when, what is answered, what is recorded, how jobs end) and the
/// policy the route is believed to have, and nothing of the core's inside.
final class Checker: SimulatedChecker<Coverage> {
    var routes: [RouteCase] = []
    var credentials: [CredentialRecord] = []
    var jobs: [JobRecord?]
    /// When the network became constrained, or no more, in turn.
    var networkChanges: [Int64] = []
    private(set) var begun = 0
    private(set) var ended = 0
    private(set) var mostInFlight = 0
    let plant: Plant?
    var traced: Int?
    private(set) var tracedTimeline: [String] = []

    init(jobs count: Int, _ timeline: Timeline, _ plant: Plant?) {
        jobs = Array(repeating: nil, count: count)
        self.plant = plant
        super.init(timeline, wanted: plant?.sentences)
    }

    var isConstrained: Bool { networkChanges.count % 2 == 1 }
    var wallSeconds: Int64 { Timeline.wall(at: now) / 1000 }

    func fail(_ job: JobRecord?, _ sentence: String) {
        fail(job?.number ?? -1, sentence) { job?.timeline.map(\.text) ?? [] }
    }

    /// Of a job that is over.
    func fail(_ number: Int, _ sentence: String) { fail(number, sentence) { [] } }

    func note(_ job: JobRecord, _ event: Moment.Event, _ one: Int = 0, _ two: Int = 0, _ word: String = "") {
        let moment = Moment(at: now, event: event, first: one, second: two, word: word)
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
        if begun - ended >= 200 { note(.manyInFlight) }
        note(job, .began, job.route.number, Int(job.deadline))
        if !job.isUnpreparable, job.program == nil { begin(job, at: now) }
    }

    /// `isNew` tells that its task has not run yet.
    func cancelled(_ number: Int, isNew: Bool = false) {
        guard let job = jobs[number] else { return note(.cancelledTooLate) }
        note(job, .cancelled)
        job.cancelledAt = now
        if isNew { return note(.cancelledBefore) }
        switch job.stage {
        case .attempting: note(.cancelledToken)
        case .sending: note(.cancelledSend)
        case .judging(_, let stream):
            note(stream?.isOpen == true ? .cancelledCollect : .cancelledSend)
        case .waiting: note(.cancelledWait)
        case .closing: note(.cancelledTooLate)
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
        if failure.detail.utf8.contains(UInt8(ascii: "~")) { fail(job, "an error's text shows a secret") }
    }

    private func job(_ context: JobContext) -> JobRecord? {
        let number = Int(context.id.low)
        guard number < jobs.count, let job = jobs[number] else {
            fail(number, "an event is recorded for a job that has ended")
            return nil
        }
        return job
    }

    func left(_ number: Int) {
        guard let job = jobs[number] else { return fail(number, "a job ends twice") }
        if job.outcomes != 1 { fail(job, "a job has \(job.outcomes) outcomes instead of one") }
        ended += 1
        if number == traced { tracedTimeline = job.timeline.map(\.text) }
        jobs[number] = nil
    }

    /// Nothing runs and nothing waits any more.
    func quiet(sleeping: Int, running: Int, streams: Int) {
        if ended != jobs.count {
            fail(
                jobs.first { $0 != nil } ?? nil,
                "\(jobs.count - ended) jobs never had an outcome, and nothing is left to run"
            )
        }
        if sleeping != 0 { fail(nil, "\(sleeping) sleepers are left at the end") }
        if running != 0 { fail(nil, "\(running) tasks are left at the end") }
        if streams != 0 { fail(nil, "\(streams) response bodies are left open at the end") }
        for (index, credential) in credentials.enumerated() where credential.inFlight != 0 {
            fail(nil, "a token request of credential \(index) is left at the end")
        }
    }
}
