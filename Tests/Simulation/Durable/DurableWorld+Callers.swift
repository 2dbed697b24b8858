import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport

// Those who hand jobs over and wait for them, and what the upstreams see.
extension DurableWorld {
    func submit(_ number: Int) {
        guard let daemon, daemon.life.isServing else {
            // Nobody listens: the caller tries again in a moment.
            return plan(after: 500_000_000) { [self] _ in submit(number) }
        }
        let route = routes[draw.below(routes.count)]
        let method: Method = draw.pick([.post, .post, .put, .get, .delete, .patch])
        var terms = RequestTerms(forwarded: HeaderFields())
        terms.forwarded.append("X-Request-Id", "\(number)")
        let isKeyed = draw.chance(45)
        if isKeyed {
            let text = draw.chance(40) ? "k\(draw.below(6))" : "k-\(number)"
            terms.forwarded.append("Idempotency-Key", "\"\(text)\"")
            terms.durable.idempotencyKey = text
        }
        if draw.chance(40) { terms.durable.orderingKey = "o\(draw.below(3))" }
        if draw.chance(6) { terms.durable.supersedeKey = "s\(draw.below(3))" }
        if draw.chance(20) { terms.durable.priority = UInt8(draw.below(8)) }
        // Seconds before it may be sent: one that would expire earlier is refused.
        var delay = 0
        switch draw.below(10) {
        case 0, 1:
            delay = draw.pick([0, 1, 5, 60, 900, 20_000])
            terms.durable.due = .after(.seconds(delay))
        case 2:
            delay = draw.pick([-60, 1, 30, 600, 7_200, 100_000])
            terms.durable.due = .date((wall / 1000 + Int64(delay)) * 1000)
        default: break
        }
        if draw.chance(20) {
            let expiry = max(0, delay) + draw.pick([1, 5, 60, 600, 4_000, 100_000])
            terms.durable.expiresAfter = .seconds(expiry)
        }
        let user = UInt32(1_000 + draw.below(2))
        let admission: Admission
        do throws(Problem) {
            let target = "t\(isKeyed ? draw.below(10) / 9 : 0)"
            admission = try daemon.admit(route.name, target, method, terms, user: user)
        } catch {
            checker.note("refused \(error.code)")
            let isTooLate = error.code == .badHeader && .seconds(delay) >= route.expiresAfter
            if route.isConfigured, daemon.life.isServing, !isTooLate {
                checker.fail(nil, "a job is refused: \(error.detail)")
            }
            return
        }
        let job = DurableFacts(number, admission.id, route: route.number, method: method, isKeyed: isKeyed)
        checker.jobs.append(job)
        checker.byID[job.id] = job
        checker.tell(job, "\(method.rawValue) for \(route.name)")
        let wait: Duration? = draw.chance(30) ? .seconds(draw.pick([1, 5, 30, 120])) : nil
        let (alive, facts) = (Confined(daemon), Confined(job))
        call(daemon) { here in await here.accept(admission, facts.value, alive.value, wait) }
    }

    /// Runs what a caller of one process asks for, which ends with the process.
    func call(_ daemon: DurableDaemon, _ work: @escaping @Sendable (Confined<DurableWorld>) async -> Void) {
        let alive = Confined(daemon.life)
        daemon.life.nextCaller += 1
        let number = daemon.life.nextCaller
        daemon.life.callers[number] = spawn { here in
            await work(here)
            alive.value.callers[number] = nil
        }
    }

    /// The job that a request carries out, or asks about.
    private func job(of request: OutboundRequest) -> DurableFacts? {
        let question = "/" + DurableRoute.questionPath
        if request.target.hasPrefix(question) {
            return JobID(text: String(request.target.dropFirst(question.count))).flatMap { checker.byID[$0] }
        }
        let number = request.fields.jobNumber
        return number < 0
            ? checker.notice(with: request.fields[.idempotencyKey])
            : checker.jobs.last { $0.number == number }
    }

    func sent(_ request: OutboundRequest, by life: DurableLife) async -> DurableFlight {
        guard let job = job(of: request), let memory else {
            checker.fail(nil, "an attempt is sent for no job")
            return DurableFlight(checker.jobs[0], life: life.number)
        }
        let isQuestion = request.target.hasPrefix("/" + DurableRoute.questionPath)
        checker.tell(job, isQuestion ? "is asked about" : "is sent")
        let stored = try? await memory.job(job.id)
        var others: [StoredJob] = []
        if job.orderingKey != nil { others = (try? await memory.all(of: routes[job.route].name)) ?? [] }
        checker.began(job, stored, others, life: life.number, wall: wall, isQuestion: isQuestion)
        let flight = DurableFlight(job, life: life.number, isQuestion: isQuestion)
        checker.flights[ObjectIdentifier(flight)] = flight
        job.flight = flight
        guard !isQuestion else { return flight }
        job.lastLife = life.number
        job.isSettled = false
        if plant == .keepsPlace, job.number % 20 == 19 {
            if case .permitted(let permit)? = daemon?.engine.snapshot.routes[routes[job.route].name]?.state
                .enter()
            {
                kept.append(KeptPermit(permit))
            }
        }
        return flight
    }
}

/// A caller without a task, which has what it was told.
private final class PromptCaller {
    var acceptance: PromptAcceptance?
    var waiter: CheckedContinuation<PromptAcceptance.Reply, Never>?

    func hear(_ word: PromptAcceptance.Reply) { waiter.take()?.resume(returning: word) }
}

extension Confined where Value == DurableWorld {
    /// Half of the callers have no task of the daemon's as long as they only wait for the disk.
    private func accept(
        _ admission: Admission,
        _ body: [UInt8],
        _ daemon: DurableDaemon
    ) async throws(Problem) -> Acceptance.Accepted {
        let (acceptance, caller) = (daemon.jobs.acceptance, PromptCaller())
        let patience = StorageDeadline(daemon.relays[0].ports, admission.context.options)
        let hearing = Confined<PromptCaller>(caller)
        if value.isPrompt(50) {
            caller.acceptance = acceptance.acceptPromptly(admission, body, patience) {
                hearing.value.hear($0)
            }
        }
        guard let prompt = caller.acceptance else {
            return try await acceptance.accept(admission, body: .bytes(body))
        }
        switch await withCheckedContinuation({ caller.waiter = $0 }) {
        case .accepted(let accepted): return accepted
        case .refused(let problem): throw problem
        case .waits: return try await prompt.finish()
        }
    }

    fileprivate func accept(
        _ admission: Admission,
        _ job: DurableFacts,
        _ daemon: DurableDaemon,
        _ wait: Duration?
    ) async {
        let accepted: Acceptance.Accepted
        do throws(Problem) {
            accepted = try await accept(admission, Array("{}".utf8), daemon)
        } catch {
            value.checker.note("not accepted: \(error.code)")
            return
        }
        guard !daemon.life.isDead, let found = value.checker.byID[accepted.id] else { return }
        if !accepted.isReplayed {
            job.isAcknowledged = true
            value.checker.tell(job, "is acknowledged")
        } else if found === job {
            value.checker.fail(job, "a new job is called an earlier one")
        }
        guard let wait else { return }
        let number = daemon.life.nextCaller * 1_000 + job.number + daemon.life.number * 1_000_000
        let time = SimulatedTime(self)
        let deadline = time.now().advanced(by: wait)
        value.checker.waiters[number] = (found, value.timeline.now, deadline.nanoseconds)
        let answer: StoredJob?
        do throws(Problem) {
            answer = try await daemon.jobs.job(accepted.id, changedSince: nil, by: deadline, time)
        } catch {
            answer = nil
            let isGone = found.isDropped || daemon.life.isDead
            if !isGone { value.checker.fail(found, "who waits for a job is told: \(error.detail)") }
        }
        value.checker.waiters[number] = nil
        guard let answer, !daemon.life.isDead else { return }
        let now = value.timeline.now
        value.checker.note(answer.state.isTerminal ? "waited to the end" : "waited in vain")
        if !answer.state.isTerminal, now < deadline.nanoseconds, !Task.isCancelled {
            value.checker.fail(found, "who waits for a job is answered too early")
        }
    }
}

final class KeptPermit {
    private let permit: RouteState.Permit

    init(_ permit: consuming RouteState.Permit) { self.permit = permit }
}
