import RelayBase
import RelayCore
import RelayJobs
import RelayRoute

/// A kept job from its acceptance to its last line: the states are those of the store, the runs those of the relay.
struct ImaginedJob: Sendable {
    private(set) var machine: JobStateMachine
    private(set) var attempts: [Attempt] = []
    /// Of its last run.
    private(set) var failure: Failure?
    private(set) var status: Status?
    /// When it came to its end, or to where nothing of its own leads on, since it all began.
    private(set) var end = Duration.zero
    /// The attempts that a job may have.
    let maxAttempts: Int
    /// Whether it would go on beyond the last attempt that was looked at.
    private(set) var goesOn = false
    private(set) var runs = 0
    /// The runs before, as the next one takes them.
    private var past = JobHistory()

    /// Runs in a row that send nothing, at most: what such a job waits for does not come.
    private static let idleRuns = 50
    /// The same of a job beside others, of which an open breaker takes one after the other for its probes.
    private static let idleRunsAmongOthers = 10_000
    /// Of which there is a bound; a look whether the route is open counts as 1.
    static let workOfRun = 16
    /// Attempts at most: what an upstream refuses as one too many costs the job none.
    private static let mostAttempts = 10_000

    /// Runs a job to its end; with a `past` it goes on with a request that a rule has answered.
    init(
        _ plan: ForecastPlan,
        _ world: ImaginedWorld,
        _ relay: Relay,
        _ memory: RouteMemory = RouteMemory(),
        after past: PriorAttempts? = nil
    ) async {
        let (time, route) = (world.time, world.route)
        let now = time.wallMilliseconds()
        let request = plan.request
        machine = JobStateMachine(
            runAt: StoreClock.advance(now, by: past?.wait ?? .zero),
            expiresAt: plan.expires
                ?? StoreClock.advance(plan.accepted ?? now, by: route.policy.delivery.expiresAfter),
            mayRepeat: route.mayRepeatAfterCrash(request.method, request.fields),
            isDated: false,
            isBlocked: false,
            now: now
        )
        var options = JobOptions()
        options.collectsAnswer = true
        options.maxAttempts = plan.maxAttempts
        let limit = route.policy.delivery.maxAttempts ?? route.policy.maxAttempts
        maxAttempts = min(limit, plan.maxAttempts ?? limit)
        if let past {
            machine.inherit(past)
            attempts = past.attempts
            for attempt in attempts { self.past.count(attempt) }
        }
        let idleRuns = plan.isAmongOthers ? Self.idleRunsAmongOthers : Self.idleRuns
        var (token, idle, notBefore) = (UInt64(0), 0, Instant(nanoseconds: 0))
        /// Whether it waits for its route, as others beside it may.
        var waits = false
        while !machine.state.isTerminal, machine.state != .held, idle < idleRuns,
            plan.isAmongOthers || world.lookedUp.gap == nil
        {
            var due = max(machine.runAt, time.wallMilliseconds())
            if time.now() < notBefore { due = max(due, time.wallMilliseconds(of: notBefore)) }
            if let expires = machine.expiresAt, expires <= due {
                try? await time.sleep(until: time.instant(ofWall: expires))
                _ = machine.expire(now: expires)
                break
            }
            try? await time.sleep(until: time.instant(ofWall: due))
            if waits, let gate = time.gate(plan.target), time.take(1) {
                notBefore = gate
                continue
            }
            guard attempts.count < Self.mostAttempts, time.take(Self.workOfRun) else {
                goesOn = true
                break
            }
            machine.wake(now: due)
            token += 1
            runs += 1
            let begun = BegunAttempt(upstream: route.policy.upstreams[0].name, beganAt: due)
            guard machine.claim(token: token, begun, now: due) else { break }
            let context = JobContext(
                id: JobID(milliseconds: plan.wall, random: (1, plan.number)),
                route: route,
                method: request.method,
                target: request.target,
                options: options,
                client: nil,
                memory: memory,
                history: history(time)
            )
            let run = await relay.deliver(request, context: context, vault: world.vault)
            settle(run, token, time.wallMilliseconds())
            // A look at an operation leaves no attempt behind.
            idle = run.attempts.isEmpty && machine.reason != .following ? idle + 1 : 0
            if case .requeued(let wait, let reason) = run.ending {
                waits = plan.isAmongOthers && (reason == .breakerOpen || reason == .rateLimited)
                // Nobody tells it of the end of a probe that is under way.
                let pause: Duration = waits && run.hold == nil ? .milliseconds(100) : .milliseconds(1)
                let soonest = time.now().advanced(by: max(wait, pause))
                notBefore = max(run.hold?.until ?? soonest, soonest)
                if waits { time.shut(plan.target, until: notBefore) }
                if reason == .credentials { break }
            } else {
                waits = false
                if plan.isAmongOthers, machine.state == .succeeded { time.open(plan.target) }
            }
        }
        end = Instant(nanoseconds: 0).duration(to: time.now())
    }

    private mutating func settle(_ run: Delivery, _ token: UInt64, _ now: Int64) {
        attempts += run.attempts
        for attempt in run.attempts { past.count(attempt) }
        (failure, status) = (run.failure, run.answer?.status)
        _ = machine.settle(
            token: token,
            run.ending,
            attempts: UInt32(clamping: run.attempts.count),
            spent: UInt32(clamping: run.attempts.count { $0.isSpent }),
            kind: run.failure?.kind,
            isUncertain: run.isUncertain,
            isSettled: run.isSettled,
            now: now
        )
    }

    /// As the run of a claimed job takes it from the store.
    private func history(_ time: ImaginedTime) -> JobHistory {
        var history = past
        history.attempts = Int(machine.attempts)
        history.spentAttempts = Int(machine.spentAttempts)
        history.isInDoubt = machine.isInDoubt
        history.dueAt = machine.runAt
        history.deadline = machine.expiresAt.map { time.instant(ofWall: $0) }
        return history
    }
}
