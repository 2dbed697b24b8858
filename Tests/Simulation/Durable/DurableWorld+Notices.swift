import RelayBase
import RelayEngine
import RelayInterface
import RelayJobs
import RelayRoute
import RelayTestSupport

// Routes that tell others how their jobs end.
extension DurableWorld {
    var hasNotices: Bool { routes.contains { $0.notices != nil } }

    /// One route in five tells another one, which may tell a third: never in a circle.
    func drawNotices() {
        for route in routes.dropLast() where noticeDraw.chance(25) {
            var settings = NoticeSettings()
            settings.route = routes[noticeDraw.number(route.number + 1...routes.count - 1)].name
            if noticeDraw.chance(30) {
                settings.endings.remove(at: noticeDraw.below(settings.endings.count))
            }
            route.tell(settings)
        }
    }

    /// The store asks the process that runs now for its notices; while none does, they are owed.
    func hearNotices(_ events: inout JobStoreEvents) {
        let here = Confined(self)
        events.notices.wish = { here.value.wish($0, $1) }
        events.notices.make = { here.value.notice(of: $0) }
        events.noticed = { here.value.noticed($0) }
    }

    private func wish(_ route: String, _ state: JobState) -> NoticeMaker.Wish {
        let wish = daemon?.notices.maker.wish(route, state) ?? .owed
        guard case .notice = wish else { return wish }
        if plant == .losesNotice, noticeDraw.chance(10) { return .nothing }
        return plant == .keepsDebt && state != .succeeded ? .owed : wish
    }

    fileprivate func notice(of whole: WholeJob) -> NewJob? {
        guard let daemon, let job = checker.byID[whole.job.record.id] else { return nil }
        var notice = daemon.notices.maker.make(whole)
        if plant == .tellsOfNotice { notice?.record.notifies = true }
        if let notice { checker.asked(notice, of: job) }
        return notice
    }

    /// The document of a job as a notice has it, as far as the simulation looks at it.
    func document(of whole: WholeJob) -> [UInt8] {
        var told = whole.job
        told.owesNotice = false
        if plant == .forgetsEarlier { told.notices = 1 }
        let notice = Job(told).notice
        if let job = checker.byID[told.record.id] {
            checker.document(of: job, told.state, supersedes: notice?.supersedes)
        }
        return Array("{}".utf8)
    }

    private func noticed(_ made: [MadeNotice]) {
        for one in made { checker.noticed(one, number: jobCount + checker.jobs.count, isFull: isFull) }
        daemon?.notices.made(made)
    }
}

extension Confined where Value == DurableWorld {
    /// Looks at what is on disk; it holds at every moment, and above all right after a crash.
    func lookAtNotices(_ jobs: [StoredJob], isCalm: Bool = false) async {
        guard value.hasNotices, let facts = try? await value.memory?.facts() else { return }
        value.checker.notices(jobs, owed: facts.owedNotices, isCalm: isCalm)
    }
}

// Bugs around notices.
extension DurableStore {
    /// Writes the notice of an ending before the ending.
    func tellEarly(_ settlement: Settlement, at now: JobMoment) async throws(StoreError) {
        guard plant == .tellsEarly else { return }
        let state: JobState
        switch settlement.ending {
        case .succeeded: state = .succeeded
        case .dead: state = .dead
        default: return
        }
        try await tell(settlement.token.id, at: now) { $0.state = state }
        try await reach()
    }

    /// Writes another notice of the same ending.
    func tellTwice(_ settlement: Settlement, at now: JobMoment) async throws(StoreError) {
        guard plant == .doublesNotice, world.value.noticeDraw.chance(10) else { return }
        try await tell(settlement.token.id, at: now)
    }

    private func tell(
        _ id: JobID,
        at now: JobMoment,
        as change: (inout StoredJob) -> Void = { _ in }
    ) async throws(StoreError) {
        guard var whole = try await inner.whole(id, WholeJob.Extent(attempts: 0, hasBodies: false)) else {
            return
        }
        change(&whole.job)
        guard whole.job.record.notifies, whole.job.state.isTerminal else { return }
        whole.job.notices += 1
        if let notice = world.value.notice(of: whole) { _ = try await inner.enqueue([notice], at: now) }
    }
}
