import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

/// The world of one imagined request: its upstreams and token endpoints do what a series says, chance gives the same
/// number each time, and nothing is signed or kept in truth.
final class ImaginedWorld: Transport, Entropy, EventSink, MessageSigner, RequestKeeper {
    private struct State {
        var attempts = 0
        var tokens = 0
        var isBeyond = false
        var kept: PriorAttempts?
        var course: Forecast.Course?
        var moments: [Instant] = []
        var draws: UInt64 = 0
        var lookedUp = LookedUp()
        var looks = 0
        var misplaced: Imagined?
    }

    /// All that was looked up in records.
    struct LookedUp {
        /// Why the first that is not known is not, which ends everything unless others go beside it; nil while all is.
        var gap: RecordedOutcomes.Gap?
        var upstream = ""
        /// Milliseconds since 1970 UTC.
        var at: Int64 = 0
        /// Whether attempts on record around a moment were not the same.
        var isUnlike = false
    }

    let time: ImaginedTime
    let route: Route
    let vault: CredentialVault
    private let plan: ForecastPlan
    private let chance: UInt64?
    private let state = Mutex(State())

    /// Beside `other` it has the same time, route and tokens.
    ///
    /// `chance` is what chance gives each time it is asked; nil gives numbers that are spread over all there are, from
    /// `seed` on. `work` bounds what jobs do.
    init(
        _ plan: ForecastPlan,
        chance: UInt64?,
        seed: UInt64 = 0,
        work: Int = .max,
        beside other: ImaginedWorld? = nil
    ) {
        self.plan = plan
        self.chance = chance
        time = other?.time ?? ImaginedTime(since: plan.wall, work: work)
        route = other?.route ?? plan.route.resolved(plan.secrets)
        vault = other?.vault ?? CredentialVault(plan.credentials, secrets: plan.secrets)
        state.withLock { $0.draws = seed }
    }

    var ports: RelayPorts {
        RelayPorts(
            transport: self,
            time: time,
            entropy: self,
            sink: self,
            start: { [time] work in Task(executorPreference: time) { await work() } },
            signer: self
        )
    }

    /// When the request comes, since it all began.
    var came: Duration { Instant(nanoseconds: 0).duration(to: time.instant(ofWall: plan.wall)) }

    /// Whether there were more attempts than the series has words.
    var isBeyond: Bool { state.withLock { $0.isBeyond } }

    /// The attempts of a request that a rule has kept.
    var kept: PriorAttempts? { state.withLock { $0.kept } }

    /// All of it, once it has come to its end.
    var course: Forecast.Course? { state.withLock { $0.course } }

    func end(_ course: Forecast.Course) { state.withLock { $0.course = course } }

    /// How often a token endpoint was asked.
    var tokensAsked: Int { state.withLock { $0.tokens } }

    var lookedUp: LookedUp { state.withLock { $0.lookedUp } }

    /// How often an operation was looked at.
    var looks: Int { state.withLock { $0.looks } }

    /// A word of an upstream that met what did not ask for it.
    var misplaced: Imagined? { state.withLock { $0.misplaced } }

    /// When there was an attempt.
    var moments: [Instant] { state.withLock { $0.moments } }

    func next() -> UInt64 {
        if let chance { return chance }
        return state.withLock { state in
            // Numbers that fill an interval evenly would have every sum of waits near its middle (SplitMix64).
            state.draws &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state.draws
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    func record(_ event: JobEvent) {}

    func signatures(of message: [UInt8], with settings: SigningSettings) throws(Failure) -> String {
        "v1,imagined"
    }

    func keep(_ body: Body, _ past: PriorAttempts) async -> KeepAnswer {
        state.withLock { $0.kept = past }
        return .kept(KeptJobName(JobID(milliseconds: time.wallMilliseconds(), random: (2, 2))))
    }
}

// The transport.
extension ImaginedWorld {
    func send(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        guard route.policy.upstreams.contains(request.upstream) else { return try await grant(request) }
        if let record = plan.record { return try await recall(request, record) }
        let now = time.now()
        let imagined = state.withLock { state in
            let (imagined, isBeyond) = plan.series[state.attempts]
            state.attempts += 1
            state.moments.append(now)
            if isBeyond { state.isBeyond = true }
            return imagined
        }
        let isLook =
            route.follow != nil && request.target.hasPrefix(ForecastPlan.operation(of: request.upstream))
        if isLook { state.withLock { $0.looks += 1 } }
        if case .word(let word) = imagined.end {
            let mayAsk = isLook ? LookUp.ofOperations : isQuestion(request) ? LookUp.ofRequests : []
            guard mayAsk.contains(word), let answer = plan.answer(word) else {
                state.withLock { $0.misplaced = $0.misplaced ?? imagined }
                throw Failure(.cancelled, sent: .neverSent, "nothing asked for that word")
            }
            return try await play(imagined, request, answer)
        }
        if isLook { return try await play(imagined, request, plan.answer(.done) ?? plan.good) }
        var inbound = try await play(imagined, request, plan.good)
        inbound.response = plan.naming(inbound.response, of: request.upstream)
        return inbound
    }

    /// Whether it asks what became of a request.
    private func isQuestion(_ request: OutboundRequest) -> Bool {
        plan.route.lookUp != nil && request.method != plan.method
    }

    /// The answer that the attempt would have had, as far as records tell.
    private func recall(
        _ request: OutboundRequest,
        _ record: RecordedOutcomes
    ) async throws(Failure) -> InboundResponse {
        let moment = time.wallMilliseconds()
        var record = record
        if plan.drawsDoubts { record.takesLater = next() & 1 == 0 }
        let found =
            isQuestion(request)
            ? RecordedOutcomes.Found(answer: .unknown(.question))
            : record.find(request.upstream.name, at: moment)
        state.withLock { state in
            if found.isUnlike { state.lookedUp.isUnlike = true }
            guard case .unknown(let gap) = found.answer, state.lookedUp.gap == nil else { return }
            (state.lookedUp.gap, state.lookedUp.upstream, state.lookedUp.at) = (
                gap, request.upstream.name, moment
            )
        }
        switch found.answer {
        case .known(let imagined): return try await play(imagined, request, plan.good)
        case .unknown where plan.isAmongOthers:
            // Its own end is not known from here on; that of others may be the same either way.
            let failure = Imagined(word: "503", end: .answer(503, fields: [], body: []))
            return try await play(record.takesLater ? .good : failure, request, plan.good)
        case .unknown: throw Failure(.cancelled, sent: .neverSent, "no record tells what it would have met")
        }
    }

    private func grant(_ request: OutboundRequest) async throws(Failure) -> InboundResponse {
        let index = state.withLock { state in
            defer { state.tokens += 1 }
            return state.tokens
        }
        let tokens = plan.series.tokens
        return try await play(
            index < tokens.count ? tokens[index] : .good,
            request,
            plan.token(number: index)
        )
    }

    private func play(
        _ imagined: Imagined,
        _ request: OutboundRequest,
        _ good: HTTPResponse
    ) async throws(Failure) -> InboundResponse {
        switch imagined.end {
        case .failure(let kind): throw try await failed(kind, request)
        case .recorded(let kind, let sent, let status):
            try await wait(imagined.delay, request)
            throw Failure(kind, sent: sent, "\(request.upstream.origin.text): \(kind)", status: status)
        case .good, .word:
            try await wait(imagined.delay, request)
            return InboundResponse(response: good, exchange: Exchange())
        case .answer(let status, let fields, let body):
            try await wait(imagined.delay, request)
            var head = HeaderFields()
            for field in fields { head.append(field.name, field.value) }
            let content: Body = body.isEmpty || status.forbidsContent ? .empty : .bytes(body)
            return InboundResponse(
                response: HTTPResponse(status: status, fields: head, body: content),
                exchange: Exchange()
            )
        }
    }

    /// Waits for an answer as long as one waits for it.
    private func wait(_ delay: Imagined.Delay, _ request: OutboundRequest) async throws(Failure) {
        let end: Instant
        switch delay {
        case .none: return
        case .exactly(let time): end = self.time.now().advanced(by: time)
        case .longest:
            let last = min(request.deadline, time.now().advanced(by: request.timeouts.idle))
            end = last.before(by: .milliseconds(1))
        }
        guard end < request.deadline, time.now().duration(to: end) <= request.timeouts.idle else {
            throw try await silent(request)
        }
        try await pause(until: end, .unknown)
    }

    private func failed(_ kind: FailureKind, _ request: OutboundRequest) async throws(Failure) -> Failure {
        let place = request.upstream.origin.text
        if kind == .httpResponseTimeout { return try await silent(request) }
        if FailureGroup.timeout.contains(kind) {
            let isConnecting = FailureGroup.connection.contains(kind)
            let limit = isConnecting ? request.timeouts.connect : request.timeouts.idle
            let end = min(time.now().advanced(by: limit), request.deadline)
            let sent: Sent = isConnecting ? .neverSent : .unknown
            try await pause(until: end, sent)
            if end == request.deadline, !isConnecting { return late(request) }
            let name = isConnecting ? "timeouts.connect" : "timeouts.idle"
            return Failure(kind, sent: sent, "\(place): \(kind) after \(name) (\(DurationText.text(limit)))")
        }
        let sent: Sent =
            kind.isBeforeSending
            ? .neverSent
            : FailureGroup.protocol.contains(kind) && kind != .httpResponseIncomplete ? .answered : .unknown
        let detail =
            switch kind {
            case .connectionRefused: "cannot connect to \(place): Connection refused (ECONNREFUSED)"
            case .connectionTerminated: "\(place) closed the connection without an answer"
            default: "\(place): \(kind)"
            }
        return Failure(kind, sent: sent, detail)
    }

    /// Nothing comes for as long as one waits for it.
    private func silent(_ request: OutboundRequest) async throws(Failure) -> Failure {
        let idle = time.now().advanced(by: request.timeouts.idle)
        try await pause(until: min(idle, request.deadline), .unknown)
        guard idle < request.deadline else { return late(request) }
        return Failure(
            .connectionReadTimeout,
            sent: .unknown,
            "\(request.upstream.origin.text) sent nothing for timeouts.idle"
                + " (\(DurationText.text(request.timeouts.idle)))"
        )
    }

    private func late(_ request: OutboundRequest) -> Failure {
        let limit = request.timeLimit.map { " within \($0.text)" } ?? " in time"
        return Failure(
            .httpResponseTimeout,
            sent: .unknown,
            "no response head came from \(request.upstream.origin.text)\(limit)"
        )
    }

    private func pause(until end: Instant, _ sent: Sent) async throws(Failure) {
        do { try await time.sleep(until: end) } catch {
            throw Failure(.cancelled, sent: sent, "the request was cancelled")
        }
    }
}

extension FailureKind {
    /// Whether an attempt that fails like that sends nothing.
    fileprivate var isBeforeSending: Bool {
        self != .connectionTerminated
            && (self == .destinationIPProhibited
                || [FailureGroup.dns, .connection, .tls].contains { $0.contains(self) })
    }
}
