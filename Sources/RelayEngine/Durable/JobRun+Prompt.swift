import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

/// A run that is under way without a task.
///
/// Its lock is held only on the loop of the run, by one at a time: it shows the compiler that nobody else is there.
final class PromptRun: Sendable {
    /// Nil once a task has it, or it is over.
    private let execution: Mutex<Execution?>
    let log: RunLog
    let route: Route
    let began: Instant

    init(_ execution: sending Execution, _ log: RunLog, _ route: Route, began: Instant) {
        self.execution = Mutex(execution)
        self.log = log
        self.route = route
        self.began = began
    }

    /// Goes on as far as nothing has to be waited for, with what the upstream made of what was sent; `isOver` tells
    /// whether nobody wants the run any more.
    func goOn(
        _ run: JobRun,
        _ result: PromptResult? = nil,
        isOver: Bool = false
    ) -> (progress: Execution.Progress, sending: (any Sending)?) {
        execution.withLock { execution in
            guard let execution else { return (.waits, nil) }
            if isOver { execution.giveUp() }
            let progress = result.map { execution.tell($0, run) } ?? execution.goOn(run)
            return (progress, execution.pending)
        }
    }

    /// Gives the job to who goes on with it, or has it at its end.
    func take() -> sending Execution? {
        execution.withLock { execution in
            let taken = execution
            execution = nil
            return taken
        }
    }
}

// A run without a task, as long as nothing has to be waited for but the upstream: driven by the events of its transport.
extension JobRun: AnswerReceiver {
    /// Begins on the loop of the run, which may be another's.
    func start() {
        guard relay.isPrompt else { return startTask() }
        relay.ports.execute { [self] in if !beginPassing(), !beginPromptly() { startTask() } }
    }

    /// Begins here and now.
    ///
    /// - Returns: false where something has to be waited for before it; nothing is done then.
    private func beginPromptly() -> Bool {
        let record = job.record
        // One configuration for the whole run.
        let snapshot = dispatcher.engine.snapshot
        guard job.attempts == job.earlierAttempts, !job.isInDoubt, case .bytes(let bytes) = claim.body,
            bytes.count <= MemoryAccount.free, stop == nil, store.maySend(claim.token),
            let entry = snapshot.routes[record.route], job.attempts == 0 || entry.route.follow == nil,
            !entry.state.isPaused, let body = claim.body.body(from: store)
        else { return false }
        let began = time.now()
        let log = RunLog(self)
        var history = knownHistory
        history.log = log
        let beginning = relay.beginDelivery(
            HTTPRequest(method: record.method, target: record.target, fields: record.fields, body: body),
            JobContext(job, entry, history: history),
            snapshot.vault
        )
        switch beginning {
        case .over(let delivery): finish(delivery, log, entry.route, since: began)
        case .begun(let execution):
            let run = PromptRun(execution, log, entry.route, began: began)
            prompt.withLock { $0 = run }
            proceed(run, run.goOn(self))
        }
        return true
    }

    /// The upstream has answered, or not.
    func received(_ result: PromptResult) {
        guard let run = prompt.withLock({ $0 }) else { return }
        proceed(run, run.goOn(self, result, isOver: keep(nil)))
    }

    private func proceed(_ run: PromptRun, _ step: (progress: Execution.Progress, sending: (any Sending)?)) {
        switch step.progress {
        case .sent: if keep(step.sending) { step.sending?.cancel() }
        case .waits:
            prompt.withLock { $0 = nil }
            keep(
                relay.ports.start { [self] in
                    guard let execution = run.take() else { return }
                    await execution.run()
                    await finish(await result(of: execution.delivery, run.log, run.route), since: run.began)
                }
            )
        case .ended:
            prompt.withLock { $0 = nil }
            guard let execution = run.take() else { return }
            finish(execution.delivery, run.log, run.route, since: run.began)
        }
    }

    func finish(_ delivery: Delivery, _ log: RunLog, _ route: Route, since began: Instant) {
        if let settlement = delivery.settlementNow(of: claim, on: route, stop) {
            return finishPromptly(Result(settlement, delivery, recorded: log.recorded), since: began)
        }
        _ = relay.ports.start { [self] in await finish(await result(of: delivery, log, route), since: began) }
    }
}
