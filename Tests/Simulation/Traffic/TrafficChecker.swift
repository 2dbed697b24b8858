import RelayBase
import RelayCore
import RelayEngine

/// Holds the traffic of one route to what is promised of it, from what crosses its borders: attempts and answers at the
/// transport, outcomes, events, what it tells of itself.
///
/// It shares nothing with the machines that decide: each promise is looked at anew, in the words of the decisions.
final class TrafficChecker: SimulatedChecker<String> {
    /// Every configuration there has been, by its number.
    var terms: [TrafficTerms] = []
    let names: [String]
    var sides: [TrafficSide]
    var jobs: [TrafficJob] = []
    /// Those of callers, and those that go on with one that was answered in the upstream's stead.
    var byID: [JobID: TrafficJob] = [:]
    var laterByID: [JobID: TrafficJob] = [:]
    var budget = TrafficBudget()
    var turns = TrafficTurns()
    var waits: [TrafficWait] = []
    var order = 0
    /// Attempts that ended in one instant.
    var endedNow: (at: Int64, count: Int) = (0, 0)
    var lastEnd: (flight: TrafficFlight, sign: TrafficSign, health: TrafficSign.Health)?
    /// Whether the route has permits to spare.
    var hasPermits: () -> Bool = { false }
    /// Whether every moment is kept, for who reads a broken promise.
    var isTelling = false
    private(set) var story: [String] = []

    init(_ timeline: Timeline, names: [String], wanted: [String]?) {
        self.names = names
        sides = names.map { _ in TrafficSide() }
        super.init(timeline, wanted: wanted)
    }

    var present: TrafficTerms { terms[terms.count - 1] }

    func fail(_ job: TrafficJob?, _ sentence: String) { fail(job?.number ?? -1, sentence) { story } }

    func tell(_ what: @autoclosure () -> String) {
        order += 1
        hash.mix(UInt64(bitPattern: now))
        hash.mix(UInt64(order))
        if isTelling { story.append("  \(Moment.time(now))  \(what())") }
    }

    /// The record of a request is part of the trace.
    func record(_ outcome: Outcome) {
        hash.mix(UInt64(outcome.answer?.status.rawValue ?? 0))
        tell("on record: \(outcome.attempts)")
        for attempt in outcome.attempts {
            hash.mix(UInt64(bitPattern: attempt.beganAt))
            hash.mix(UInt64(bitPattern: attempt.duration.saturatedNanoseconds))
            hash.mix(UInt64(attempt.status?.rawValue ?? 0))
            for byte in attempt.upstream.utf8 { hash.mix(UInt64(byte)) }
        }
    }

    func instantOver() {
        for place in sides.indices where sides[place].mustOpen {
            sides[place].mustOpen = false
            let counts = sides[place].counts
            let words = "\(counts.count) counted, \(counts.count(where: \.failed)) of them failed"
            fail(nil, "the breaker of \(names[place]) does not open although there is cause: \(words)")
        }
    }

    // The events at the transport.

    func sent(_ job: TrafficJob, place: Int, terms number: Int) -> TrafficFlight {
        tell("job \(job.number)\(job.isKept ? ", kept," : "") is sent to \(names[place]), terms \(number)")
        let terms = self.terms[number]
        let isRetry = job.isKept ? (job.sent > 0 || job.hasPast) && !job.goesOn : job.retries
        let flight = TrafficFlight(job, place, terms, began: now, order: order, isRetry: isRetry)
        if let cancelledAt = job.cancelledAt, cancelledAt < now, !job.isKept {
            fail(job, "a request is sent after it was cancelled")
        }
        if job.isOver { fail(job, "an attempt is sent for a job that has ended") }
        checkAllowance(job)
        if !terms.isOff {
            checkBreaker(flight)
            checkPatience(flight)
            checkPace(flight)
            budget.sent(flight, isFirst: job.sent == 0, self)
            turns.sent(flight, self)
            checkFailover(flight)
        }
        job.sent += 1
        job.goesOn = true
        job.moved += job.moving
        job.moving = 0
        sides[place].underWay.append(flight)
        sides[place].begun.append((now, job.kind, job.isKept ? 0 : job.began))
        return flight
    }

    func landed(_ flight: TrafficFlight, _ said: TrafficSign) {
        guard flight.isOpen else { return }
        tell("job \(flight.job.number) \(said.word)")
        flight.isOpen = false
        flight.job.landed += 1
        if said.isSpent { flight.job.spent += 1 }
        flight.job.mayHaveActed = said.mayHaveActed
        sides[flight.place].underWay.removeAll { $0 === flight }
        endedNow = (now, endedNow.at == now ? endedNow.count + 1 : 1)
        let (sign, isVague) = judged(flight, said)
        lastEnd = (flight, sign, sign.health)
        // How long is usual nobody knows where nothing is asked before an attempt.
        flight.job.untold = isVague || flight.terms.isOff && sign.cause == .caller ? nil : sign
        if flight.terms.isOff { return }
        if flight.isProbe || flight.isMaybeProbe { sides[flight.place].probeEnded = now }
        if sign.health == .works || sign.load == .fine {
            sides[flight.place].answered += 1
            sides[flight.place].latest[flight.job.like] = now
            sides[flight.place].longestAnswer = max(sides[flight.place].longestAnswer, now - flight.began)
        }
        switch sign.load {
        case .fine: sides[flight.place].losses[flight.job.kind] = nil
        case .lost, .tooMuch: sides[flight.place].losses[flight.job.kind, default: 0] += 1
        case .nothing: break
        }
        countForBreaker(flight, sign, isVague: isVague)
        countPatience(flight, sign, isVague: isVague)
        countPace(flight, sign, isVague: isVague)
        budget.landed(flight, sign, isVague: isVague, now)
        sides[flight.place].last = (flight, sign, isVague || flight.isMaybeProbe)
    }

    /// The sign of an attempt's end, and whether that is in doubt: it counts against the upstream that its caller gave
    /// up, or had no time left, where it waited longer than four times what 99 of 100 answers took.
    private func judged(_ flight: TrafficFlight, _ sign: TrafficSign) -> (TrafficSign, isVague: Bool) {
        let (side, waited) = (sides[flight.place], now - flight.began)
        guard sign.isGivenUp || sign.isLate && waited < flight.terms.attempt else {
            // A request that is cancelled in the same instant may have been heard first.
            return (sign, flight.job.cancelledAt.map { $0 <= now } ?? false)
        }
        let unknown = min(flight.terms.attempt, 2_000_000_000)
        let isKnown = side.answered >= 20
        // Of what answers took half as much again may be remembered.
        if waited >= (isKnown ? max(250_000_000, side.longestAnswer * 6) : unknown) {
            // The attempts that ended in this instant may or may not count towards the twenty.
            if isKnown || side.answered + endedNow.count < 20 {
                note("given up after long")
                return (sign.counted, flight.terms.isOff)
            }
        }
        if waited < min(unknown, 250_000_000) {
            note("given up soon")
            return (sign.forgiven, false)
        }
        return (sign, true)
    }
}
