import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayRoute
import RelayTestSupport

// Those who send requests, one by one, in streams, and to be kept.
extension TrafficWorld {
    /// Plans all that comes.
    ///
    /// - Returns: when the last of them has come, in milliseconds.
    func planCallers() -> Int {
        let perSecond = draw.pick([5, 20, 60, 200])
        var at: Int64 = 0
        var number = 0
        while number < jobCount {
            at += Int64(draw.below(2_000_000)) * 1_000 / Int64(perSecond)
            let size = draw.chance(3) ? draw.number(2...30) : 1
            let numbers = Array(number..<min(jobCount, number + size))
            number += numbers.count
            expected += numbers.count
            let isStream = size > 1 && draw.chance(40)
            call(after: at) { isStream ? $0.stream(numbers) : numbers.forEach($0.submit) }
        }
        return Int(at / 1_000_000) + 1
    }

    func submit(_ number: Int) { draw.chance(keptShare) ? keep(number) : request(number) }

    /// Somebody sends one after the other, a few at once.
    private func stream(_ numbers: [Int]) {
        checker.note("streams")
        let width = draw.number(1...4)
        for lane in 0..<width {
            let own = numbers.indices.filter { $0 % width == lane }.map { numbers[$0] }
            spawn { here in for number in own { await here.perform(number) } }
        }
    }

    private func request(_ number: Int) {
        tasks[number] = spawn { here in await here.perform(number) }
        guard draw.chance(8) else { return }
        call(after: draw.chance(20) ? 0 : draw.time(1...draw.pick([50, 1_000, 8_000]))) {
            $0.cancel(number)
        }
    }

    private func cancel(_ number: Int) {
        guard let job = checker.jobs.first(where: { $0.number == number }), !job.isOver else { return }
        checker.cancelled(job)
        if plant != .deaf { tasks[number]?.cancel() }
    }

    private func keep(_ number: Int) { spawn { here in await here.keep(number) } }

    fileprivate func admit(_ number: Int, isKept: Bool) -> (Admission, TrafficJob)? {
        guard let daemon else { return nil }
        var terms = RequestTerms(forwarded: HeaderFields())
        terms.forwarded.append("X-Request-Id", "\(number)")
        terms.wantsDurable = isKept
        let present = checker.present
        let isKeyed = draw.chance(15)
        if isKeyed {
            terms.forwarded.append("Idempotency-Key", "k\(number)")
            terms.durable.idempotencyKey = "k\(number)"
        }
        if draw.chance(15) { terms.options.maxAttempts = draw.pick([1, 2, 4]) }
        let user: UInt32 = draw.chance(60) ? 1_000 : 1_000 + UInt32(draw.below(4))
        let urgency = draw.pick([3, 3, 0, 5] as [UInt8])
        terms.durable.priority = plant == .hidesUrgency ? 3 : urgency
        let method: Method = draw.pick([.get, .post])
        let path = draw.below(3)
        let target = TrafficJob.target(plant?.mixesRequests == true ? 0 : path, draw.below(4))
        if !isKept {
            terms.options.collectsAnswer = draw.chance(50)
            terms.options.allowsFallback = draw.chance(90)
            if draw.chance(20) { terms.options.timeout = .milliseconds(draw.pick([100, 500, 3_000])) }
        }
        let total = min(present.total, terms.options.timeout?.saturatedNanoseconds ?? .max)
        let admission: Admission
        do throws(Problem) {
            let told = plant == .hidesUsers ? 1_000 : user
            admission = try daemon.admit(TrafficWorld.route, target, method, terms, user: told)
        } catch {
            checker.fail(nil, "a request is refused: \(error.detail)")
            return nil
        }
        let wish = TrafficWish(
            number: number,
            id: admission.id,
            method: method.rawValue,
            path: path,
            user: user,
            urgency: urgency,
            isKept: isKept,
            allowsFallback: terms.options.allowsFallback,
            readsAll: isKept || terms.options.collectsAnswer,
            terms: present,
            began: timeline.now,
            deadline: isKept ? .max : timeline.now + total,
            end: terms.options.timeout.map { timeline.now + $0.saturatedNanoseconds } ?? .max,
            foundRoom: hasPermits,
            isSafe: isKeyed || method.isIdempotent,
            mostAttempts: terms.options.maxAttempts ?? .max
        )
        let job = TrafficJob(wish)
        checker.began(job)
        return (admission, job)
    }
}

extension Confined where Value == TrafficWorld {
    fileprivate func perform(_ number: Int) async {
        defer { value.expected -= 1 }
        guard let (admission, job) = value.admit(number, isKept: false), let daemon = value.daemon else {
            return
        }
        let passing = TrafficPassing(world: self, daemon: daemon, admission: admission, job: job)
        if let outcome = await passing.outcome() {
            value.checker.ended(job, outcome, stored: nil)
            value.tasks[number] = nil
            return
        }
        let keeper = admission.mayBeKept ? TrafficKeeper(self, admission, job) : nil
        let outcome = await daemon.run(admission, keeper: keeper)
        let stored = outcome.report.keptJob == nil ? nil : try? await value.memory?.job(admission.id)
        value.checker.ended(job, outcome, stored: stored)
        value.tasks[number] = nil
    }

    fileprivate func keep(_ number: Int) async {
        defer { value.expected -= 1 }
        guard let (admission, job) = value.admit(number, isKept: true), let jobs = value.jobs else { return }
        do throws(Problem) {
            _ = try await jobs.acceptance.accept(admission, body: .bytes(Array("{}".utf8)))
        } catch {
            value.checker.fail(job, "a job is not kept: \(error.detail)")
        }
    }
}

// The attempts that the upstreams see.
extension TrafficWorld {
    func sent(_ request: OutboundRequest, place: Int) -> TrafficFlight {
        guard let job = job(of: request) else { preconditionFailure("an attempt is sent for no job") }
        let flight = checker.sent(job, place: place, terms: TrafficTerms.number(of: request))
        look()
        let isFull = !hasPermits
        checker.checkRoom(flight, isFull: isFull)
        if plant == .alwaysFull { entry?.memory.traffic.isFull = true }
        return flight
    }

    func landed(_ flight: TrafficFlight, _ sign: TrafficSign) {
        guard flight.isOpen else { return }
        look()
        checker.landed(flight, sign)
    }

    /// An attempt that a plant makes of nothing.
    func burn(_ request: OutboundRequest) -> Failure? {
        guard plant == .burnsAttempt, let job = job(of: request), job.isKept else { return nil }
        burned += 1
        return burned % 20 == 0 ? Failure(.connectionRefused, sent: .neverSent, "simulated") : nil
    }

    private func job(of request: OutboundRequest) -> TrafficJob? {
        let number = request.fields.jobNumber
        return checker.jobs.last { $0.number == number }
    }
}
