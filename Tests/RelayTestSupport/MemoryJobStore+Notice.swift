import RelayBase
import RelayJobs

extension MemoryJobStore.State {
    /// Makes the notices that are owed, where that can be now.
    mutating func makeNotices(_ maker: NoticeMaker) {
        for position in owing.sorted() {
            guard let entry = entries[position], let job = job(position) else { continue }
            switch maker.wish(entry.record.route, entry.machine.state) {
            case .owed: continue
            case .nothing: entries[position]?.machine.noticeWaived()
            case .notice(let extent):
                var whole = WholeJob(job, entry.attempts.suffix(extent.attempts))
                whole.actions = entry.actions
                if extent.hasAnswer(of: job) { whole.answer = entry.answer }
                if extent.hasBodies { whole.body = entry.body }
                guard !facts.isFull, let notice = maker.make(whole) else { continue }
                let moment = JobMoment(wall: timeline.wall(ofLine: timeline.now), steady: 0)
                if enqueue(notice, at: moment).isAccepted {
                    noticed.append(MadeNotice(notice.record, of: entry.record.id, entry.record.route))
                }
                entries[position]?.machine.noticeMade()
            }
            owing.remove(position)
        }
    }
}

extension MemoryJobStore {
    /// Whether its disk has no room for notices.
    package func setFull(_ isFull: Bool) { change { $0.facts.isFull = isFull } }
}
