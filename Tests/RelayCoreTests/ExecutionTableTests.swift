import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import RelayTestSupport
import Testing

/// The events that may happen to a job, one word each.
enum ExecutionEvent: String, CaseIterable {
    case prepared, obtained, missedToken, failed, received, collected, collectingFailed, letGo, foundNoRoom
    case opinion, noOpinion, recovered, notRecovered, named, recalled, advised, passedOn, waited, begun,
        cancelled
    case accepted, notAccepted, permitted, held, heldOver, kept, notKept
}

/// Where a job may stand, and how it gets there.
enum ExecutionPlace: String, CaseIterable {
    case prepare, leave, hold, token, send, collect, classify, recover, name, recall, consult, wait, begin,
        keep, accept, end

    /// Whether only a program's own code brings a job there, of which no run of a durable job has any.
    var isProgram: Bool {
        switch self {
        case .prepare, .classify, .recover, .name, .accept: true
        case .leave, .hold, .token, .send, .collect, .recall, .consult, .wait, .begin, .keep, .end: false
        }
    }

    /// Whether no run of a durable job gets there.
    var isOfRequests: Bool { isProgram || self == .hold || self == .keep }

    fileprivate func machine(_ bench: ExecutionBench) throws -> ExecutionMachine {
        var machine = try bench.machine(
            hasToken: self == .token,
            asks: self == .consult,
            isProgram: isProgram,
            isPermitted: self != .leave && self != .hold,
            doing: self == .keep ? placeholder() : retry(wait: .seconds(1)),
            keeps: self == .keep
        )
        let way: [ExecutionEvent] =
            switch self {
            case .prepare, .leave, .token, .send: []
            case .hold: [.held]
            case .collect: [.received]
            case .classify: [.prepared, .permitted, .received]
            case .recover: [.prepared, .permitted, .received, .opinion]
            case .name: [.prepared, .permitted, .received, .opinion, .notRecovered]
            case .accept: [.prepared, .permitted, .received, .noOpinion]
            case .recall: [.failed]
            case .consult: [.failed, .recalled]
            case .keep: [.failed, .recalled]
            case .wait: bench.isDurable ? [.failed, .recalled, .advised] : [.failed, .recalled]
            case .begin:
                bench.isDurable ? [.failed, .recalled, .advised, .waited] : [.failed, .recalled, .waited]
            case .end: [.received, .collected]
            }
        if self == .wait || self == .begin, bench.isDurable { machine = try bench.machine(asks: true) }
        for event in way { bench.tell(event, to: &machine, bench.moment(1)) }
        _ = machine.takeNotes()
        return machine
    }
}

/// Jobs of either mode, with an answer whose content comes in pieces where nobody looks at it first.
struct ExecutionBench {
    let isDurable: Bool

    /// Passes on whatever it is asked.
    private struct Adviser: RecoveryStrategy {
        func recover(
            from failure: Failure,
            of request: HTTPRequest,
            context: RecoveryContext
        ) async -> RecoveryDisposition { .passOn }
    }

    /// A program without a line of code: the machine asks its driver, never the program.
    private final class Nobody: JobHooks {
        func hasSteps(_ phase: PreparationPhase) -> Bool { false }
        func prepare(
            _ phase: PreparationPhase,
            _ request: HTTPRequest,
            number: Int
        ) async throws(Failure) -> HTTPRequest { request }
        func classify(_ response: HTTPResponse) -> Failure? { nil }
        func quickRecovery(_ failure: Failure, _ response: HTTPResponse?) -> HTTPResponse? { nil }
        func accept(_ response: HTTPResponse, isQuickRecovered: Bool) throws(Failure) {}
        func named(_ failure: Failure) -> Failure { failure }
        func consult(
            _ strategy: any RecoveryStrategy,
            about failure: Failure,
            of request: HTTPRequest,
            _ context: RecoveryContext
        ) async -> RecoveryDisposition { .passOn }
        func attemptBegan(_ attempt: Attempt, of request: HTTPRequest) {}
        func responded(_ response: HTTPResponse, _ attempt: Attempt) {}
        func decided(_ attempt: Attempt) {}
    }

    private let request = HTTPRequest(method: .get, target: "x")

    init(isDurable: Bool) { self.isDurable = isDurable }

    func moment(_ seconds: Int64, isCancelled: Bool = false) -> Moment {
        Moment(
            now: Instant(nanoseconds: seconds * 1_000_000_000),
            wall: 1_800_000_000_000 + seconds * 1_000,
            isCancelled: isCancelled
        )
    }

    func machine(
        _ method: Method = .get,
        hasToken: Bool = false,
        asks: Bool = false,
        isProgram: Bool = false,
        isPermitted: Bool = true,
        doing action: RecoveryRule.Action = retry(wait: .seconds(1)),
        keeps: Bool = false
    ) throws(Failure) -> ExecutionMachine {
        let route = makeRoute {
            let action = asks ? .consult(Adviser(), methods: .any) : action
            var first = rule("r", ["any"], action)
            first.keepsRequest = keeps
            $0.recovery = keeps ? [first, rule("later", ["any"], retry())] : [first]
            $0.traffic = TrafficSettings()
            if hasToken { $0.authentication = Authentication(form: .bearer, credential: "login") }
        }
        var options = JobOptions()
        options.collectsAnswer = !isProgram
        let context = JobContext(
            id: JobID(high: 1, low: 2),
            route: route,
            method: method,
            target: "x",
            options: options,
            client: nil,
            hooks: isProgram ? Nobody() : nil,
            history: isDurable ? JobHistory() : nil
        )
        var machine = try ExecutionMachine(
            HTTPRequest(method: method, target: "x"),
            context,
            added: HeaderFields(),
            canRefresh: false,
            moment(0)
        )
        if isPermitted { machine.granted() }
        return machine
    }

    func tell(_ event: ExecutionEvent, to machine: inout ExecutionMachine, _ moment: Moment) {
        let refused = Failure(.connectionRefused, sent: .neverSent, "refused")
        let cut = Failure(.connectionTerminated, sent: .unknown, "cut off")
        let response = HTTPResponse(status: 200, fields: HeaderFields(), body: .bytes([1]))
        switch event {
        case .prepared: machine.prepared(request, moment)
        case .obtained:
            let token = Token(secret: Secret([1]), generation: 1, expiresAt: nil)
            machine.obtained(token, moment)
        case .missedToken: machine.missedToken(moment)
        case .failed: machine.failed(machine.context.method == .get ? refused : cut, moment)
        case .received:
            let isRead = machine.context.hooks != nil
            let answer = HTTPResponse(
                status: 200,
                fields: HeaderFields(),
                body: isRead ? .bytes([1]) : .stream(PieceBody(wasRead: true))
            )
            machine.received(InboundResponse(response: answer, exchange: Exchange()), moment)
        case .collected: machine.collected(.bytes([1]), moment)
        case .collectingFailed: machine.collectingFailed(cut, moment)
        case .letGo: machine.letGo()
        case .foundNoRoom: machine.foundNoMemory(9, half: 8, moment)
        case .opinion: machine.classified(Failure("mine", sent: .unknown, "mine"), moment)
        case .noOpinion: machine.classified(nil, moment)
        case .recovered: machine.recovered(response, moment)
        case .notRecovered: machine.recovered(nil, moment)
        case .named: machine.named(Failure("named", sent: .neverSent, "named"), moment)
        case .recalled: machine.recalled(RouteRecall(random: 0), moment)
        case .advised: machine.advised(.retry(request, after: .seconds(1)), RouteRecall(random: 0), moment)
        case .passedOn: machine.advised(.passOn, RouteRecall(random: 0), moment)
        case .waited: machine.waited(moment)
        case .begun: machine.begun(isConstrained: false, moment)
        case .cancelled: machine.cancelled(moment)
        case .accepted: machine.accepted()
        case .permitted: machine.granted()
        case .held:
            let until = Instant(nanoseconds: 9_000_000_000)
            machine.held(AttemptDeferral(reason: .rateLimited, until: until), moment)
        case .heldOver: machine.heldOver(moment)
        case .notAccepted: machine.notAccepted(Failure(.decoding, sent: .unknown, "no value"), moment)
        case .kept: machine.kept(KeptJobName(machine.context.id))
        case .notKept: machine.notKept("the disk is full")
        }
    }
}

extension ExecutionMachine {
    /// Where it stands, with what matters of it.
    fileprivate var words: String {
        switch step {
        case .prepare: "prepare"
        case .grant: "leave"
        case .hold: "hold"
        case .token: "token"
        case .send: "send"
        case .collect: "collect"
        case .classify: "classify"
        case .recover(let failure, _): "recover \(failure.kind) \(failure.sent)"
        case .name(let failure): "name \(failure.kind) \(failure.sent)"
        case .recall(let failure, _): "recall \(failure.kind) \(failure.sent)"
        case .consult: "consult"
        case .wait: "wait"
        case .begin: "begin"
        case .keep: "keep"
        case .accept: "accept"
        case .end(.answered(let response, let source)):
            "answered \(response.status.rawValue) \(source.rawValue)"
        case .end(.failed(let failure)): "failed \(failure.kind) \(failure.sent)"
        case .end(.undelivered), .end(.follows): delivery(reservation: nil).words
        }
    }
}

@Suite("Every event at every step of a job, in both modes", .timeLimit(.minutes(1)))
struct ExecutionTableTests {
    /// The outcome of the events that a step waits for; every other changes nothing.
    private static func next(_ place: ExecutionPlace, _ event: ExecutionEvent, isDurable: Bool) -> String? {
        switch (place, event) {
        case (.prepare, .prepared), (.hold, .heldOver): "leave"
        case (.leave, .permitted): "send"
        case (.leave, .held): isDurable ? "back rate_limited" : "hold"
        case (.hold, .cancelled): "recall cancelled neverSent"
        case (.prepare, .failed): "recover connection_refused neverSent"
        case (.token, .obtained): "send"
        case (.token, .missedToken): isDurable ? "back credentials" : "recall credentials_failed neverSent"
        case (.token, .failed), (.send, .failed): "recall connection_refused neverSent"
        case (.send, .received): "collect"
        case (.collect, .collected): "answered 200 upstream"
        case (.collect, .collectingFailed): "recall connection_terminated unknown"
        case (.collect, .letGo): "collect"
        case (.collect, .foundNoRoom): isDurable ? "answered 200 upstream" : "recall overloaded answered"
        case (.classify, .opinion): "recover mine answered"
        case (.classify, .noOpinion), (.recover, .recovered): "accept"
        case (.recover, .notRecovered): "name mine answered"
        case (.name, .named): "recall named answered"
        case (.recall, .recalled): isDurable ? "retry 1.0 seconds" : "wait"
        case (.consult, .advised): "wait"
        case (.consult, .passedOn): isDurable ? "dead exhausted" : "failed connection_refused neverSent"
        case (.wait, .waited): "begin"
        case (.begin, .begun): "leave"
        case (.wait, .cancelled): isDurable ? "back now" : "failed cancelled neverSent"
        case (.keep, .kept), (.keep, .notKept): "answered 200 placeholder"
        case (.accept, .accepted): "answered 200 upstream"
        case (.accept, .notAccepted): "name decoding answered"
        default: nil
        }
    }

    @Test("A legal event has the outcome that the table says, and any other changes nothing")
    func table() throws {
        var legal = 0
        for isDurable in [false, true] {
            let bench = ExecutionBench(isDurable: isDurable)
            for place in ExecutionPlace.allCases where !(isDurable && place.isOfRequests) {
                for event in ExecutionEvent.allCases {
                    var machine = try place.machine(bench)
                    let before = (machine.words, machine.recovery.attempts.count)
                    if place != .end {
                        #expect(before.0.hasPrefix(place.rawValue), "the way to \(place) ends elsewhere")
                    }
                    bench.tell(event, to: &machine, bench.moment(2))
                    let pair = Comment(rawValue: "\(event) at \(place), durable: \(isDurable)")
                    if let words = Self.next(place, event, isDurable: isDurable) {
                        legal += 1
                        #expect(machine.words == words, pair)
                    } else {
                        #expect(machine.words == before.0, pair)
                        #expect(machine.recovery.attempts.count == before.1, pair)
                        #expect(machine.takeNotes().isEmpty, pair)
                    }
                }
            }
        }
        #expect(legal == 30 + 17)
    }

    @Test(
        "Each decision has a meaning for a request that waits, and one for the run of a durable job",
        arguments: [
            ("fail", RecoveryRule.Action.fail, "failed connection_refused neverSent", "dead exhausted"),
            ("dead_letter", .deadLetter, "failed connection_refused neverSent", "dead rejected"),
            ("pause", .pauseRoute(reason: "gone"), "failed connection_refused neverSent", "paused: gone"),
            ("hold", .hold, "failed connection_refused neverSent", "held"),
            ("failover", .failover(upstream: 1), "begin", "begin"),
            ("retry", retry(wait: .seconds(1)), "wait", "retry 1.0 seconds"),
            ("respond", placeholder(), "answered 200 placeholder", "dead exhausted"),
            ("stale", .respondStale, "answered 203 stale", "dead exhausted"),
        ]
    )
    func decisions(name: String, action: RecoveryRule.Action, waiting: String, durable: String) throws {
        for isDurable in [false, true] {
            let bench = ExecutionBench(isDurable: isDurable)
            var machine = try bench.machine(doing: action)
            bench.tell(.failed, to: &machine, bench.moment(1))
            var recall = RouteRecall(random: 0)
            recall.stale = HTTPResponse(status: 203)
            machine.recalled(recall, bench.moment(1))
            #expect(machine.words == (isDurable ? durable : waiting))
            let notes = machine.takeNotes()
            #expect(notes.count { if case .attemptFailed = $0 { true } else { false } } == 1)
            let wantsPause = notes.contains { if case .pauseWanted("gone") = $0 { true } else { false } }
            #expect(wantsPause == (name == "pause" && !isDurable))
        }
    }

    @Test("A cancellation ends a request as cancelled, and a run as a crash would have left it")
    func stopped() throws {
        for (method, words) in [(Method.get, "back now"), (.post, "dead outcome_unknown")] {
            for (isDurable, end) in [(false, "recall cancelled"), (true, words)] {
                let bench = ExecutionBench(isDurable: isDurable)
                var machine = try bench.machine(method)
                bench.tell(.failed, to: &machine, bench.moment(1, isCancelled: true))
                #expect(machine.words.hasPrefix(end), "\(method), durable: \(isDurable)")
                guard !isDurable else { continue }
                machine.recalled(RouteRecall(random: 0), bench.moment(1, isCancelled: true))
                #expect(machine.words.hasPrefix("failed cancelled"))
            }
        }
    }

    @Test("An attempt of a run that came to nothing unsent is none; of a request it is one")
    func unsent() throws {
        for isDurable in [false, true] {
            let bench = ExecutionBench(isDurable: isDurable)
            var machine = try bench.machine(hasToken: true)
            bench.tell(.missedToken, to: &machine, bench.moment(1))
            #expect(machine.recovery.attempts.count == (isDurable ? 0 : 1))
        }
    }

    @Test("No attempt begins at the deadline, and the end says that time was wanting")
    func late() throws {
        let bench = ExecutionBench(isDurable: false)
        var machine = try ExecutionPlace.wait.machine(bench)
        bench.tell(.waited, to: &machine, bench.moment(1_000))
        #expect(machine.words == "failed connection_refused neverSent")
        let outcome = machine.outcome(reservation: nil)
        #expect(outcome.failure?.isPastDeadline == true && outcome.report.state == .dead)
    }
}
