import RelayBase
import RelayJobs
import RelayRoute
import RelayTestSupport

// The endings that another route is told of: each has one notice, or owes it.
extension DurableChecker {
    /// How long a notice may be owed with nothing in its way, in nanoseconds.
    private static let patience: Int64 = 5_000_000_000

    var isOwing: Bool { jobs.contains { $0.owedSince != nil } }

    func notice(with key: String?) -> DurableFacts? {
        key.flatMap { key in jobs.last { $0.noticeKey == key } }
    }

    /// A notice is being made of a job, whose ending is in the same transaction.
    func document(of job: DurableFacts, _ state: JobState, supersedes: String?) {
        if !state.isTerminal { fail(job, "a notice comes before its ending") }
        if supersedes != (job.notices > 0 ? job.id.notice(job.notices).description : nil) {
            fail(job, "a notice does not say what it supersedes, or says it of nothing")
        }
        job.toldState = state
    }

    func asked(_ notice: NewJob, of job: DurableFacts) {
        if notice.record.notifies { fail(job, "a notice asks for a notice") }
        offered[notice.record.id] = notice
    }

    func noticed(_ made: MadeNotice, number: Int, isFull: Bool) {
        guard let job = byID[made.job], let new = offered[made.notice.id],
            let target = routes[job.route].notices.flatMap({ route($0.route) })
        else { return fail(nil, "a notice is made of a job that is to be told to nobody") }
        if isFull { fail(job, "a notice is made on a disk that is full") }
        if job.origin != nil { fail(job, "the ending of a notice is told") }
        if job.toldReplay == job.replays { fail(job, "an ending is told twice") }
        if made.notice.id != job.id.notice(job.notices + 1) { fail(job, "a notice has another one's number") }
        if made.notice.route != target.name { fail(job, "a notice goes to another route") }
        job.notices += 1
        job.toldReplay = job.replays
        tell(job, "its ending is told: notice \(job.notices), job \(number)")
        note(job.notices > 1 ? "told of an ending after a retry" : "told of an ending")
        if job.isOwed { note("made a notice that was owed") }
        let notice = DurableFacts(number, new.record.id, route: target.number, method: .post, isKeyed: true)
        (notice.origin, notice.noticeKey) = (job, new.record.idempotencyKey)
        jobs.append(notice)
        byID[notice.id] = notice
        store(notice, new, now)
        // Nobody waits for its acceptance, and it is there to stay all the same.
        notice.isAcknowledged = true
    }

    /// Holds what is on disk to what was seen being made.
    func notices(_ stored: [StoredJob], owed: Int, isCalm: Bool) {
        for now in stored {
            guard let job = byID[now.record.id] else {
                let origin = now.record.idempotencyKey.flatMap { JobID(ofNoticeWithKey: $0) }
                guard now.record.isNotice, let origin else {
                    fail(nil, "a job is kept that nobody handed over")
                    continue
                }
                let isOver = stored.first { $0.record.id == origin }?.state.isTerminal ?? true
                fail(byID[origin], isOver ? "an ending is told twice" : "a notice comes before its ending")
                continue
            }
            look(at: job, now, isCalm: isCalm)
        }
        let owing = stored.count(where: \.owesNotice)
        if owed != owing { fail(nil, "the store counts \(owed) notices that are owed, and \(owing) are") }
    }

    private func look(at job: DurableFacts, _ now: StoredJob, isCalm: Bool) {
        let settings = routes[job.route].notices
        let telling = job.origin == nil ? settings : nil
        if now.record.isNotice != (job.origin != nil) { fail(job, "a notice is not marked as one") }
        if now.record.notifies != (telling != nil) {
            fail(job, "a job forgets that its ending is to be told")
        }
        if now.notices != job.notices + (now.owesNotice ? 1 : 0) {
            fail(job, "a job has \(now.notices) notices, and \(job.notices) were made")
        }
        let isWanted =
            now.state.isTerminal && telling?.endings.contains { $0.rawValue == now.state.name } == true
        let isTold = job.toldReplay == job.replays
        // While its route is gone, nobody can say that an ending is none of those that are told.
        if now.owesNotice, !now.state.isTerminal || telling == nil || isTold {
            fail(job, "a job owes a notice that nobody is to have")
        }
        if isWanted, !isTold, !now.owesNotice { fail(job, "an ending is told to nobody") }
        if isTold, !now.state.isTerminal { fail(job, "a notice comes before its ending") }
        if isTold, job.toldState != now.state { fail(job, "a notice tells of another ending than the job's") }
        job.isOwed = now.owesNotice
        let isInReach = !isWanted || telling.flatMap { route($0.route) }?.isConfigured == true
        guard now.owesNotice, isCalm, routes[job.route].isConfigured, isInReach else {
            if now.owesNotice { note("saw a notice owed") }
            job.owedSince = nil
            return
        }
        let since = job.owedSince ?? self.now
        job.owedSince = since
        if self.now - since > DurableChecker.patience { fail(job, "a notice is owed and nobody makes it") }
    }
}
