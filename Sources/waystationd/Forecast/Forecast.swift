import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute
import RelayServer

/// The ways that a route's machine goes with a series of failures: all that is told here ran.
///
/// It runs twice, with the shortest and with the longest waits that chance can give.
final class Forecast: Sendable {
    /// One run from its beginning to the end.
    final class Course: Sendable {
        /// The answer its caller gets and when, of a request that somebody waits for.
        let caller: CallerAnswer?
        /// The request as its record shows it; nil of a job that is kept from its beginning.
        let report: JobReport?
        /// The job that is kept, or goes on as one.
        let job: ImaginedJob?
        /// How often a token was asked for.
        let tokens: Int
        /// Whether there were more attempts than the series has words.
        let isBeyond: Bool
        let lookedUp: ImaginedWorld.LookedUp
        /// How often an operation was looked at.
        let looks: Int
        /// A word of the series that met what did not ask for it.
        let misplaced: Imagined?
        /// When it came, since it all began.
        private let came: Duration

        init(_ world: ImaginedWorld, _ caller: CallerAnswer?, _ report: JobReport?, _ job: ImaginedJob?) {
            (self.caller, self.report, self.job) = (caller, report, job)
            (tokens, isBeyond, lookedUp) = (world.tokensAsked, world.isBeyond, world.lookedUp)
            (looks, misplaced, came) = (world.looks, world.misplaced, world.came)
        }

        /// Those of the request, and then those of the job.
        var attempts: [Attempt] { job?.attempts ?? report?.attempts ?? [] }

        /// Runs of the job, those that sent nothing included.
        var runs: Int { job?.runs ?? 1 }

        /// Looks at an operation that went on, which the record leaves out.
        var looksLeftOut: Int {
            looks - attempts.count { $0.lookUp.map(LookUp.ofOperations.contains) ?? false }
        }

        /// How long it took until there was an outcome.
        var length: Duration { (job?.end ?? caller?.after ?? came) - came }
    }

    let plan: ForecastPlan
    let shortest: Course
    let longest: Course

    /// Nil where the machine waits for what never comes.
    init?(_ plan: ForecastPlan) {
        // The highest number that is less than one in 53 bits.
        guard let shortest = Self.course(plan, chance: 0), let longest = Self.course(plan, chance: .max)
        else {
            return nil
        }
        (self.plan, self.shortest, self.longest) = (plan, shortest, longest)
    }

    /// A word of the series that met what did not ask for it.
    var misplaced: Imagined? { shortest.misplaced ?? longest.misplaced }

    /// Whether both take the same way, with other waits.
    var isOneCourse: Bool {
        let (one, other) = (shortest.attempts, longest.attempts)
        return one.count == other.count && zip(one, other).allSatisfy { $0.isLike($1) }
            && shortest.job?.machine.state == longest.job?.machine.state
            && shortest.job?.machine.end == longest.job?.machine.end
            && shortest.caller?.status == longest.caller?.status
            && shortest.caller?.code == longest.caller?.code
    }

    static func course(_ plan: ForecastPlan, chance: UInt64?, seed: UInt64 = 0) -> Course? {
        let world = ImaginedWorld(plan, chance: chance, seed: seed)
        world.time.run { await run(plan, world, RouteMemory()) }
        return world.course
    }

    /// Runs a request to its end, beside others that share the memory of its route.
    static func run(_ plan: ForecastPlan, _ world: ImaginedWorld, _ memory: RouteMemory) async {
        let relay = Relay(ports: world.ports)
        if plan.isKept {
            world.end(Course(world, nil, nil, await ImaginedJob(plan, world, relay, memory)))
        } else {
            await ask(plan, world, relay, memory)
        }
    }

    private static func ask(
        _ plan: ForecastPlan,
        _ world: ImaginedWorld,
        _ relay: Relay,
        _ memory: RouteMemory
    ) async {
        var options = JobOptions()
        options.maxAttempts = plan.maxAttempts
        let context = JobContext(
            id: JobID(milliseconds: plan.wall, random: (1, plan.number)),
            route: world.route,
            method: plan.method,
            target: plan.target,
            options: options,
            client: nil,
            memory: memory
        )
        let outcome: Outcome
        switch await relay.beginCollecting(plan.request, context, world.vault) {
        case .failure(let failure): outcome = Outcome(context, failure)
        case .success(let execution):
            execution.keeper = world
            await execution.run()
            execution.answerEnded(.whole)
            outcome = execution.outcome
        }
        let caller = CallerAnswer(outcome, context, after: world.time.now())
        var job: ImaginedJob?
        if let past = world.kept { job = await ImaginedJob(plan, world, relay, context.memory, after: past) }
        world.end(Course(world, caller, outcome.report, job))
    }
}

extension Attempt {
    /// Whether the other is the same but for its times.
    fileprivate func isLike(_ other: Attempt) -> Bool {
        upstream == other.upstream && status == other.status && failure?.kind == other.failure?.kind
            && rule == other.rule && next?.name == other.next?.name
            && heldBack.map(\.rule) == other.heldBack.map(\.rule)
    }
}

/// The answer that the caller of a request gets.
final class CallerAnswer: Sendable {
    let status: Status
    /// The code of the relay's own answer; nil where another made it.
    let code: ProblemCode?
    /// Why, in a sentence; nil of a success.
    let detail: String?
    /// The maker of the answer; nil is the relay.
    let source: AnswerSource?
    let outcome: OutcomeWord
    let retryAfter: Duration?
    let after: Duration

    init(_ outcome: Outcome, _ context: JobContext, after end: Instant) {
        after = Instant(nanoseconds: 0).duration(to: end)
        self.outcome = OutcomeWord(outcome.report.source, isFailure: outcome.failure != nil)
        guard outcome.answer == nil, let failure = outcome.failure else {
            status = outcome.answer?.status ?? 502
            source = outcome.report.source ?? .upstream
            detail = outcome.failure?.detail
            (code, retryAfter) = (nil, nil)
            return
        }
        let problem = Problem(
            failure,
            route: context.route.name,
            job: context.id,
            tookAllTime: outcome.tookAllTime,
            isRepeatable: context.method.isIdempotent
        )
        (status, code, detail, source) = (problem.status, problem.code, problem.detail, nil)
        retryAfter = problem.retryAfter
    }
}
