import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

/// One run of a claimed job: from its claim to the settlement on disk.
final class JobRun: Sendable {
    private struct State: ~Copyable {
        var task: Task<Void, Never>?
        /// The wait that is under way while there is no task.
        var sending: (any Sending)?
        var permit: RouteState.Permit?
        var isCancelAsked = false
        var isAborted = false
    }

    let claim: Claim
    let dispatcher: Dispatcher
    private let routeDispatcher: RouteDispatcher
    let relay: Relay
    let passage: (any DeliveryPassage)?
    /// Whether it finds out about the route's credential.
    private let isProbe: Bool
    private let state: Mutex<State>
    /// The run without a task, between two of its events.
    let prompt = Mutex<PromptRun?>(nil)
    /// The same as long as its request is passed through.
    let passed = Mutex<Passed?>(nil)

    /// Whether its first attempt is yet to begin.
    private let isStarting = Atomic(true)

    /// Bytes of an answer that may wait for the disk without a permit of the route.
    private static let smallAnswer: UInt64 = 65_536

    init(
        _ claim: Claim,
        _ dispatcher: Dispatcher,
        _ routeDispatcher: RouteDispatcher,
        _ loop: DeliveryLoop,
        _ permit: consuming RouteState.Permit?,
        isProbe: Bool
    ) {
        self.claim = claim
        self.dispatcher = dispatcher
        self.routeDispatcher = routeDispatcher
        relay = loop.relay
        passage = loop.passage
        self.isProbe = isProbe
        state = Mutex(State(permit: permit))
    }

    var id: JobID { claim.token.id }
    var job: StoredJob { claim.job }
    var store: any JobStore { dispatcher.store }
    var time: any TimeSource { relay.ports.time }
    var moment: JobMoment { JobMoment(dispatcher.engine.time) }

    private func giveBackPermit() { _ = state.withLock { $0.permit.take() } }

    private func perform() async {
        let began = time.now()
        // Read with its claim, and in memory until its run is over.
        let held = relay.ports.memory.flatMap { memory -> MemoryReservation? in
            guard case .bytes(let bytes) = claim.body, bytes.count > MemoryAccount.free else { return nil }
            return memory.reserveUnchecked(bytes.count)
        }
        defer { withExtendedLifetime(held) {} }
        await finish(await attempt(), since: began)
    }

    /// Settles what the run came to, and tells of it.
    func finish(_ result: Result, since began: Instant) async {
        finishSending(result, since: began)
        if let reason = result.pauseReason {
            await dispatcher.pauses.pause(
                routeDispatcher.route,
                by: result.report.attempts.last?.rule,
                reason
            )
        }
        routeDispatcher.ask { $0.settling(time.now()) }
        await settle(result, nil)
    }

    /// Its first attempt begins, and has the turn that it was claimed for; or there will be none.
    func started() {
        guard isStarting.exchange(false, ordering: .relaxed), routeDispatcher.ask({ $0.started() }) else {
            return
        }
        routeDispatcher.wake()
    }

    /// The run is done with its upstream.
    func finishSending(_ result: Result, since began: Instant) {
        started()
        // A large answer waits for the disk in memory, and nothing comes in its place meanwhile.
        let isLarge = (result.settlement.answer?.body.length ?? 0) > JobRun.smallAnswer
        if !isLarge { giveBackPermit() }
        let (random, now) = (relay.ports.entropy.next(), time.now())
        let isGateMoved = routeDispatcher.ask {
            $0.ran(result.credential, isProbe: isProbe, random: random, now)
        }
        if isGateMoved { routeDispatcher.wake() }
        // Others may have what a retry lacks, and a run that leaves the line does so for them.
        if let hold = result.hold, hold.pause == nil {
            routeDispatcher.ask { $0.heldBack(until: hold.until, since: began, now) }
        }
    }

    /// The same of a run that needs no task for its settlement either.
    func finishPromptly(_ result: Result, since began: Instant) {
        guard result.pauseReason == nil else {
            _ = relay.ports.start { [self] in await finish(result, since: began) }
            return
        }
        finishSending(result, since: began)
        routeDispatcher.ask { $0.settling(time.now()) }
        let isAsked = store.settle(result.settlement, at: moment) { [self] answer in
            relay.ports.execute { [self] in settledPromptly(result, answer) }
        }
        if !isAsked { _ = relay.ports.start { [self] in await settle(result, nil) } }
    }

    private func settledPromptly(_ result: consuming Result, _ answer: SettlementAnswer) {
        switch answer {
        case .success(.applied(.held, _)), .failure:
            _ = relay.ports.start { [self, result] in await settle(result, answer) }
        case .success(let answer):
            isSettled(&result)
            tell(result, answer)
            dispatcher.left(self)
        }
    }

    /// Settles, and tells what that came to; where the store has been asked already it has said `answer`.
    private func settle(_ result: Result, _ answer: SettlementAnswer?) async {
        var result = result
        let answer = await settled(&result.settlement, answer)
        isSettled(&result)
        if let answer {
            tell(result, answer)
            if case .applied(.held, _) = answer {
                switch result.settlement.ending {
                case .held(.routePaused): await dispatcher.pauses.releaseIfResumed(id, of: job.record.route)
                case .held(.networkConstrained): await dispatcher.network.releaseIfOpen(job)
                default: break
                }
            }
        }
        dispatcher.left(self)
    }

    /// The store has its last word, and what was held for it is let go.
    private func isSettled(_ result: inout Result) {
        result.settlement.answer = nil
        result.reservation = nil
        giveBackPermit()
        if routeDispatcher.ask({ $0.settled(time.now()) }) { routeDispatcher.wake() }
    }
}

// The run's end from outside.
extension JobRun {
    /// Whether somebody cancelled the job.
    var isCancelAsked: Bool { state.withLock { $0.isCancelAsked } }

    /// Performs it in a task, which is kept to be cancelled.
    func startTask() {
        keep(relay.ports.start { [self] in await perform() })
    }

    /// Keeps the task that does what is left of it, to be cancelled.
    func keep(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.task = task
            return state.isCancelAsked || state.isAborted
        }
        if isOver { task.cancel() }
    }

    func cancel() { end { $0.isCancelAsked = true } }

    func abort() { end { $0.isAborted = true } }

    private func end(_ mark: (inout State) -> Void) {
        let (task, sending) = state.withLock { state in
            mark(&state)
            return (state.task, state.sending)
        }
        task?.cancel()
        sending?.cancel()
    }

    /// Keeps the wait that is under way without a task, to be cancelled; nil when there is none.
    ///
    /// - Returns: whether the run is to end.
    func keep(_ sending: (any Sending)?) -> Bool {
        state.withLock { state in
            state.sending = sending
            return state.isCancelAsked || state.isAborted
        }
    }
}

// The attempts.
extension JobRun {
    /// The result of one run; its answer is in the settlement alone, which may let it go.
    struct Result: Sendable {
        var settlement: Settlement
        var report: JobReport
        /// Why the route is to be paused.
        var pauseReason: String?
        var credential = DispatchMachine.Credential.unknown
        /// The hold that the run waits for before it may send.
        var hold: AttemptDeferral?
        /// Whether the operation of the job was done: its upstream has nothing to stop.
        var isOperationDone = false
        /// The memory of the answer.
        var reservation: MemoryReservation?

        init(_ settlement: Settlement, _ report: JobReport) {
            self.settlement = settlement
            self.report = report
        }

        /// `recorded` attempts of the run are on disk already.
        init(_ settlement: Settlement, _ delivery: Delivery, recorded: Int) {
            self.settlement = settlement
            self.settlement.attempts.removeFirst(recorded)
            report = delivery.report
            pauseReason = delivery.pauseReason
            credential = delivery.credential
            reservation = delivery.reservation
            isOperationDone = delivery.isOperationDone
            if case .requeued = delivery.ending { hold = delivery.hold }
        }
    }

    private func attempt() async -> Result {
        let record = job.record
        // One configuration for the whole run.
        let snapshot = dispatcher.engine.snapshot
        let entry = snapshot.routes[record.route]
        func ending(_ ending: Settlement.Ending) -> Result {
            let report =
                entry.map { JobReport(JobContext(job, $0, history: JobHistory()), job.state) }
                ?? JobReport(
                    JobChange(
                        id: id,
                        route: record.route,
                        user: record.submitter?.user,
                        on: record.submitter?.node ?? .none,
                        state: job.state,
                        cause: .run
                    )
                )
            return Result(Settlement(claim.token, ending), report)
        }
        if isCancelAsked { return ending(.cancelled) }
        guard dispatcher.phase == .serving, let entry else { return ending(.requeued(after: .zero, nil)) }
        // Only the bodies of jobs that are over are dropped.
        guard let body = claim.body.body(from: store) else { return ending(.dead(.corrupt)) }
        let log = RunLog(self)
        let context: JobContext
        do throws(StoreError) {
            var history = try await history(on: entry.route)
            history.log = log
            context = JobContext(job, entry, history: history)
        } catch {
            return ending(error.code == .corrupt ? .dead(.corrupt) : .requeued(after: .seconds(1), nil))
        }
        // The route may have been paused, or the relay stopped, while the store was asked.
        guard dispatcher.phase == .serving, !entry.state.isPaused, store.maySend(claim.token) else {
            return ending(.requeued(after: .zero, nil))
        }
        let delivery = await relay.deliver(
            HTTPRequest(method: record.method, target: record.target, fields: record.fields, body: body),
            context: context,
            vault: snapshot.vault
        )
        return await result(of: delivery, log, entry.route)
    }

    func result(of delivery: Delivery, _ log: RunLog, _ route: Route) async -> Result {
        let settlement = await delivery.settlement(of: claim, on: route, stop)
        return Result(settlement, delivery, recorded: log.recorded)
    }

    /// Why the run is to be over.
    var stop: Delivery.Stop? {
        isCancelAsked ? .cancelled : dispatcher.phase == .serving ? nil : .relayStops
    }

    /// The job's earlier attempts, as far as they count.
    private func history(on route: Route) async throws(StoreError) -> JobHistory {
        var history = knownHistory
        // An upstream's word in this life also settles what another life left with it, and an operation may go on.
        let after = job.isInDoubt || route.follow != nil ? 0 : job.earlierAttempts
        try await history.read(job, on: route, from: store, after: after)
        return history
    }

    /// The same of a job that has not been tried since it was accepted, or replayed.
    var knownHistory: JobHistory {
        var history = JobHistory()
        history.attempts = job.attempts
        history.dueAt = job.runAt
        history.spentAttempts = job.spentAttempts
        if job.isInDoubt { history.beginsInDoubt() }
        history.deadline = job.expiresAt.map { dispatcher.engine.time.instant(ofWall: $0) }
        return history
    }
}

// The settlement on disk, and what is told of it.
extension JobRun {
    typealias SettlementAnswer = Swift.Result<Settlement.Answer, StoreError>

    /// Settles, and again with growing waits while there is no room, or the answer has no place beside the record.
    ///
    /// - Returns: what the store says in the end; nil when it cannot.
    private func settled(
        _ settlement: inout Settlement,
        _ first: SettlementAnswer?
    ) async -> Settlement.Answer? {
        var wait: Duration = .milliseconds(100)
        var answer = first
        while true {
            let error: StoreError
            switch answer {
            case .success(let answer)?: return answer
            case .failure(let failure)?: error = failure
            case nil:
                answer = await asked(settlement)
                continue
            }
            guard error.mayPass else { return nil }
            routeDispatcher.ask { $0.settlementFailed() }
            // That the job is over matters more than what it was answered; a server that is away has room for both.
            if wait > .milliseconds(100), !error.isAway || dispatcher.isShort {
                settlement.answer?.body = .expunged
            }
            if dispatcher.phase == .aborted, wait > .seconds(1) { return nil }
            // In a task of its own: that the job was cancelled must not cut its settlement short.
            let longest: Duration = error.isAway ? .seconds(1) : .seconds(5)
            let (time, pause) = (time, spread(min(wait, longest), of: error))
            await relay.ports.start { try? await time.sleep(until: time.now().advanced(by: pause)) }.value
            wait = min(wait * 2, .seconds(5))
            answer = nil
        }
    }

    /// Every node asks a server that comes back, and each run of it: not all at once.
    private func spread(_ wait: Duration, of error: StoreError) -> Duration {
        error.isAway ? wait.spread(relay.ports.entropy.next()) : wait
    }

    private func asked(_ settlement: Settlement) async -> SettlementAnswer {
        await Swift.Result { () async throws(StoreError) in
            try await store.settle([settlement], at: moment).first ?? .stale
        }
    }

    /// Tells where the job stands now, unless that is not this run's to say.
    private func tell(_ result: Result, _ answer: Settlement.Answer) {
        guard case .applied(let state, let end) = answer else { return }
        let report = result.report.settled(
            as: state,
            end: end,
            attemptCount: job.attempts + result.report.attempts.count
        )
        dispatcher.announcer.record(state.isTerminal ? .ended(report) : .changed(report))
        if end == .cancelled, !result.isOperationDone {
            dispatcher.stopOperations(of: [(id, job.record.route)])
        }
    }
}
