import RelayBase
import RelayJSON
import RelayJobs

/// The courses of one job: of those that are alike but for their lengths, the shortest and the longest.
struct CourseSet {
    private struct Ended {
        let course: Forecast.Course
        /// From the job's first attempt on record.
        let length: Duration
    }

    private var found: [[UInt8]: (first: Ended, last: Ended)] = [:]
    private var order: [[UInt8]] = []
    /// Whether one of them waits for what never comes.
    private var hasEndless = false

    /// `later` is how much later than its first attempt on record the job came, in milliseconds.
    mutating func add(_ course: Forecast.Course?, later: Int64) {
        guard let course else {
            hasEndless = true
            return
        }
        let ended = Ended(course: course, length: course.length + .milliseconds(later))
        var json = JSONObjectWriter()
        course.write(into: &json, length: nil)
        let key = json.bytes
        guard let known = found[key] else {
            order.append(key)
            found[key] = (ended, ended)
            return
        }
        if ended.length < known.first.length { found[key]?.first = ended }
        if ended.length > known.last.length { found[key]?.last = ended }
    }

    /// The answer to a trial; `samples` is how many courses chance was asked for.
    func line(samples: Int, isOneOfMany: Bool = false) -> [UInt8] {
        var json = JSONObjectWriter()
        json.array("courses") { list in
            if hasEndless { list.object { $0.member("state", JobState.queued.name) } }
            for (first, last) in order.compactMap({ found[$0] }) {
                for ended in first.length == last.length ? [first] : [first, last] {
                    list.object { ended.course.write(into: &$0, length: ended.length) }
                }
            }
        }
        if isOneOfMany { json.member("one_of_many", true) }
        if samples > 0 { json.member("sampled", samples) }
        return json.bytes + [UInt8(ascii: "\n")]
    }
}

extension Forecast.Course {
    /// Without a length, and the moment of an attempt that is not known, it tells which courses are alike.
    fileprivate func write(into json: inout JSONObjectWriter, length: Duration?) {
        json.member("attempts", attempts.count)
        if let length { json.member("length_ms", length.milliseconds) }
        if let job {
            json.member("state", job.machine.state.name)
            if let end = job.machine.end { json.member("end", end.rawValue) }
        } else if let caller {
            json.member("outcome", caller.outcome.rawValue)
        }
        json.array("rules") { list in
            for attempt in attempts { if let rule = attempt.rule { list.element(rule) } }
        }
        json.array("held_back") { list in
            for attempt in attempts { for held in attempt.heldBack { list.element(held.rule) } }
        }
        if lookedUp.isUnlike { json.member("unlike", true) }
        guard let gap = lookedUp.gap else { return }
        json.object("unknown") { json in
            json.member("why", gap.rawValue)
            json.member("upstream", lookedUp.upstream)
            if length != nil { json.member("at", lookedUp.at) }
        }
    }
}
