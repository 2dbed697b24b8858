import RelayCore
import Synchronization

/// One run of a claimed job: from its claim to the settlement on disk.
final class JobRun: Sendable {
    private struct State: ~Copyable {
        var task: Task<Void, Never>?
        var permit: RouteState.Permit?
        var isCancelAsked = false
        var isAborted = false
    }

    private let claim: Claim
    private let dispatcher: Dispatcher
    private let lane: DispatchLane
    private let relay: Relay
    /// Whether it finds out about the route's credential.
    private let isProbe: Bool
    private let state: Mutex<State>

    /// Bytes of an answer that may wait for the disk without a permit of the route.
    private static let smallAnswer: UInt64 = 65_536

    init(
        _ claim: Claim,
        _ dispatcher: Dispatcher,
        _ lane: DispatchLane,
        _ relay: Relay,
        _ permit: consuming RouteState.Permit?,
        isProbe: Bool
    ) {
        self.claim = claim
        self.dispatcher = dispatcher
        self.lane = lane
        self.relay = relay
        self.isProbe = isProbe
        state = Mutex(State(permit: permit))
    }

    var id: JobID { claim.token.id }
    private var job: StoredJob { claim.job }
    private var store: any JobStore { dispatcher.store }
    private var time: any TimeSource { relay.ports.time }
    private var moment: JobMoment { JobMoment(dispatcher.engine.time) }

    private func giveBackPermit() { _ = state.withLock { $0.permit.take() } }

    func perform() async {
        let began = time.now()
        // Read with its claim, and in memory until its run is over.
        let held = relay.ports.memory.flatMap { memory -> MemoryHold? in
            guard case .bytes(let bytes) = claim.body, bytes.count > MemoryAccount.free else { return nil }
            return memory.overdraw(bytes.count)
        }
        defer { withExtendedLifetime(held) {} }
        var result = await attempt()
        // A large answer waits for the disk in memory, and nothing comes in its place meanwhile.
        let isLarge = (result.settlement.answer?.body.length ?? 0) > JobRun.smallAnswer
        if !isLarge { giveBackPermit() }
        let (random, now) = (relay.ports.entropy.next(), time.now())
        let isGateMoved = lane.ask { $0.ran(result.credential, isProbe: isProbe, random: random, now) }
        if isGateMoved { lane.wake() }
        // What a retry lacks others may have.
        if let hold = result.hold, hold.reason != .budgetSpent {
            lane.ask { $0.heldBack(until: hold.until, since: began, now) }
        }
        if let reason = result.pauseReason {
            await dispatcher.pauses.pause(lane.route, by: result.report.attempts.last?.rule, reason)
        }
        lane.ask { $0.settling(time.now()) }
        let settled = await settle(&result.settlement)
        result.settlement.answer = nil
        result.room = nil
        giveBackPermit()
        if lane.ask({ $0.settled(time.now()) }) { lane.wake() }
        if let settled { await tell(result, settled.state, settled.end) }
        dispatcher.left(self)
    }
}

// Who may end it.
extension JobRun {
    /// Whether somebody cancelled the job.
    private var isCancelAsked: Bool { state.withLock { $0.isCancelAsked } }

    /// Keeps the task that performs it, to be cancelled.
    func keep(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.task = task
            return state.isCancelAsked || state.isAborted
        }
        if isOver { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelAsked = true
            return state.task
        }
        task?.cancel()
    }

    func abort() {
        let task = state.withLock { state in
            state.isAborted = true
            return state.task
        }
        task?.cancel()
    }
}

// The attempts.
extension JobRun {
    /// What one run came to; its answer is in the settlement alone, which may let it go.
    private struct Result {
        var settlement: Settlement
        var report: JobReport
        /// Why the route is to be paused.
        var pauseReason: String?
        var credential = DispatchMachine.Credential.unknown
        /// What the run waits for before it may send.
        var hold: TrafficHold?
        /// The memory of the answer.
        var room: MemoryHold?
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
                    id: id,
                    route: record.route,
                    user: record.submitter?.user,
                    state: job.state,
                    cause: .run
                )
            return Result(settlement: Settlement(claim.token, ending), report: report)
        }
        if isCancelAsked { return ending(.cancelled) }
        guard dispatcher.phase == .serving, let entry else { return ending(.back(after: .zero, nil)) }
        // Only the bodies of jobs that are over are dropped.
        guard let body = claim.body.body(from: store) else { return ending(.dead(.corrupt)) }
        let log = RunLog(claim, store, dispatcher.engine.time)
        let context: JobContext
        do throws(StoreError) {
            var history = try await history()
            history.log = log
            context = JobContext(job, entry, history: history)
        } catch {
            return ending(error.code == .corrupt ? .dead(.corrupt) : .back(after: .seconds(1), nil))
        }
        // The route may have been paused, or the relay stopped, while the store was asked.
        guard dispatcher.phase == .serving, !entry.state.isPaused else {
            return ending(.back(after: .zero, nil))
        }
        let delivery = await relay.deliver(
            HTTPRequest(method: record.method, target: record.target, fields: record.fields, body: body),
            context: context,
            vault: snapshot.vault
        )
        let stop: Delivery.Stop? =
            isCancelAsked ? .cancelled : dispatcher.phase == .serving ? nil : .relayStops
        var settlement = await delivery.settlement(of: claim, on: entry.route, stop)
        settlement.attempts.removeFirst(log.recorded)
        var result = Result(settlement: settlement, report: delivery.report)
        if case .routePaused(let reason, _) = delivery.ending { result.pauseReason = reason }
        result.credential = delivery.credential
        result.room = delivery.room
        if case .back = delivery.ending { result.hold = delivery.hold }
        return result
    }

    /// What the job has behind it, as far as it counts.
    private func history() async throws(StoreError) -> JobHistory {
        var history = JobHistory()
        history.attempts = job.attempts
        history.spentAttempts = job.spentAttempts
        history.isInDoubt = job.isInDoubt
        history.deadline = job.expiresAt.map { dispatcher.engine.time.instant(ofWall: $0) }
        var last = job.earlierAttempts
        while last < job.attempts {
            let page = try await store.attempts(of: id, after: last, limit: 256)
            for attempt in page {
                if let rule = attempt.chargedRule { history.ruleUses[rule, default: 0] += 1 }
                history.wasInterrupted = attempt.failure?.kind == .interrupted
                last = max(last, attempt.number)
            }
            if page.count < 256 { break }
        }
        return history
    }
}

// The settlement on disk, and what is told of it.
extension JobRun {
    /// Settles, and again with growing waits while there is no room, or the answer has no place beside the record.
    ///
    /// - Returns: where the job stands now, and why when it is over; nil when that is not this run's to say.
    private func settle(_ settlement: inout Settlement) async -> (state: JobState, end: EndReason?)? {
        var wait: Duration = .milliseconds(100)
        while true {
            do throws(StoreError) {
                let answers = try await store.settle([settlement], at: moment)
                guard case .applied(let state, let end)? = answers.first else { return nil }
                return (state, end)
            } catch {
                switch error.code {
                case .full, .directory, .foreign, .slow, .stalled: break
                case .corrupt, .newerSchema, .locked, .failed, .closed: return nil
                }
                lane.ask { $0.settlementFailed() }
                // That the job is over matters more than what it was answered.
                if wait > .milliseconds(100) { settlement.answer?.body = .expunged }
            }
            // In a task of its own: that the job was cancelled must not cut its settlement short.
            let (time, pause) = (time, wait)
            if dispatcher.phase == .aborted, wait > .seconds(1) { return nil }
            await relay.ports.start { try? await time.sleep(until: time.now().advanced(by: pause)) }.value
            wait = min(wait * 2, .seconds(5))
        }
    }

    private func tell(_ result: Result, _ state: JobState, _ end: EndReason?) async {
        let report = JobReport(
            result.report,
            state,
            end: end,
            attemptCount: job.attempts + result.report.attempts.count
        )
        dispatcher.announcer.record(state.isTerminal ? .ended(report) : .changed(report))
        if state == .held, result.settlement.ending == .held(.routePaused) {
            await dispatcher.pauses.releaseIfResumed(id, of: job.record.route)
        }
    }
}
