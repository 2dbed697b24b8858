import RelayBase
import RelayCore
import RelayJobs

extension Acceptance {
    /// An admitted job that is to go on disk with others.
    package struct Candidate: Sendable {
        let admission: Admission
        let body: StoredBody
        let deadline: StorageDeadline
    }

    /// Puts admitted jobs on disk in one commit, and tells of each what it would be told alone.
    ///
    /// Where there is no room for all of them the first have it.
    package func accept(_ candidates: [Candidate]) async -> [Result<Accepted, Problem>] {
        // They come by one connection.
        let context = candidates.first?.admission.context
        let reservation = capacity.reserve(
            upTo: candidates.count,
            of: context?.client?.user,
            isBounded: context?.share != nil
        )
        return await accept(candidates, holding: reservation)
    }

    /// Holds the room until the jobs are known to be on disk, or not to be.
    private func accept(
        _ candidates: [Candidate],
        holding capacity: borrowing QueueCapacity.Reservation
    ) async -> [Result<Accepted, Problem>] {
        let count = capacity.count
        var group = JobGroup(candidates.map { newJob($0.admission, $0.body) }, candidates.map(\.deadline))
        group.refuseAsFull(from: count)
        var refusal: StoreError?
        var answers = await enqueue(group)
        var spare: [Int] = []
        for index in group.jobs.indices {
            guard case .failure(let error) = answers[index], error.code == .full else { continue }
            refusal = error
            spare.append(index)
        }
        if refusal != nil {
            // A caller that reads 507 and then asks for the status sees why.
            await watch.look()
            // Also without keys: the store removes the files of bodies that it does not accept.
            for index in spare { group.jobs[index].lacksCapacity = true }
            let part = JobGroup(spare.map { group.jobs[$0] }, spare.map { candidates[$0].deadline })
            for (index, answer) in zip(spare, await enqueue(part)) {
                answers[index] = .success((try? answer.get()) ?? .abandoned)
            }
        }
        return group.jobs.indices.map { index in
            let job = group.jobs[index]
            return Result { () throws(Problem) in
                let answer: EnqueueResult
                do throws(StoreError) {
                    answer = try answers[index].get()
                } catch {
                    throw Problem(error, accepting: job)
                }
                guard job.lacksCapacity, answer == .abandoned else { return try accepted(job, answer) }
                let route = job.record.route
                if let refusal, index < count { throw refused(refusal, route) }
                throw full(candidates[index].admission)
            }
        }
    }

    /// The store's answers, or `abandoned` of those whose callers' patience is over first, unless nobody knows of them.
    private func enqueue(_ group: JobGroup) async -> [AcceptanceWaits.Answer] {
        guard let ports = group.ports, !StorageDeadline.isOver(store, ports.time) else {
            return group.abandoned
        }
        let jobs = group.awaited()
        let began = ports.time.now()
        let pending = ports.begin { [self] in await put(jobs) }
        for limit in group.limits {
            var answer = await ports.wait(for: pending, by: began.advanced(by: limit))
            if answer == nil, !group.giveUp(jobs, at: limit) { answer = await pending.value() }
            guard let answer else { continue }
            return zip(jobs, answer).map { $0.givenUp ?? $1 }
        }
        return jobs.map { $0.givenUp ?? .success(.abandoned) }
    }

    private func put(_ jobs: [NewJob]) async -> [AcceptanceWaits.Answer] {
        let answers = await store.enqueueEach(jobs, at: JobMoment(engine.time))
        // A job with a key stays, for the caller that comes again.
        for (job, answer) in zip(jobs, answers) where job.staysGivenUp || job.wait?.isGivenUp != true {
            if case .success(let answer) = answer { announce(job, answer) }
        }
        return answers
    }
}

/// Jobs that go on disk together, and how long each caller waits for that.
private struct JobGroup {
    var jobs: [NewJob]
    private let deadline: [StorageDeadline]

    init(_ jobs: [NewJob], _ deadline: [StorageDeadline]) {
        self.jobs = jobs
        self.deadline = deadline
    }

    var ports: RelayPorts? { deadline.first?.ports }

    /// The ends of patience, soonest first.
    var limits: [Duration] { Set(deadline.map(\.limit)).sorted() }

    var abandoned: [AcceptanceWaits.Answer] { jobs.map { _ in .success(.abandoned) } }

    mutating func refuseAsFull(from index: Int) {
        for index in index..<jobs.count { jobs[index].lacksCapacity = true }
    }

    /// The jobs, each with a wait of its own.
    func awaited() -> [NewJob] {
        jobs.map { job in
            var job = job
            job.wait = AcceptanceWait()
            return job
        }
    }

    /// Those whose patience ends at `limit` wait no longer.
    ///
    /// - Returns: false when the store was first, and the answer is on its way.
    func giveUp(_ jobs: [NewJob], at limit: Duration) -> Bool {
        zip(jobs, deadline).filter { $1.limit == limit }.allSatisfy { $0.0.wait?.giveUp() ?? true }
    }
}

extension NewJob {
    /// The answer to its caller, which has given up; nil where it waits.
    fileprivate var givenUp: AcceptanceWaits.Answer? {
        guard let wait, wait.isGivenUp else { return nil }
        return wait.isInDoubt ? .failure(.unconfirmed) : .success(.abandoned)
    }
}
