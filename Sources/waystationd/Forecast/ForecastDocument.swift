import RelayBase
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute
import RelayServer

extension Forecast {
    /// The forecast as `waystation what-if` prints it with `-o json`; each job is an object of the API.
    var document: [UInt8] {
        var json = JSONObjectWriter()
        json.member("route", plan.route.name)
        json.member("method", plan.method.rawValue)
        json.member("keyed", plan.isKeyed)
        json.member("durable", plan.isKept)
        json.array("series") { list in for imagined in plan.series.attempts { list.element(imagined.word) } }
        if plan.isClosedAtTimes { json.member("at", begin.description) }
        if let closedUntil { json.member("closed_until", closedUntil.description) }
        json.member("one_course", isOneCourse)
        json.object("shortest") { write(shortest, into: &$0) }
        json.object("longest") { write(longest, into: &$0) }
        json.array("assumes") { list in for sentence in assumptions { list.element(sentence) } }
        return json.bytes
    }

    private var begin: WallTime { WallTime(milliseconds: plan.wall) }

    /// The end of the planned window in which it begins; nil where the route is open then.
    private var closedUntil: WallTime? {
        let end = plan.route.policy.closed?.end(at: plan.wall / 1_000)
        return end.map { WallTime(milliseconds: $0 * 1_000) }
    }

    /// The moment at which it begins, as far as planned windows make a difference.
    private var windows: String {
        if let closedUntil {
            return "It begins at \(begin), in a planned window (closed) that ends at \(closedUntil)."
        }
        let next = plan.route.policy.closed?.change(after: plan.wall / 1_000)
        let text = next.map { "; the next begins at \(WallTime(milliseconds: $0 * 1_000))" } ?? ""
        return "It begins at \(begin), outside of planned windows (closed)\(text)."
    }

    private func write(_ course: Course, into json: inout JSONObjectWriter) {
        json.member("length_ms", course.length.milliseconds)
        if let caller = course.caller {
            json.object("caller") { json in
                json.member("after_ms", caller.after.milliseconds)
                json.member("status", caller.status.rawValue)
                json.member("source", caller.source?.rawValue ?? "relay")
                json.member("outcome", caller.outcome.rawValue)
                if let code = caller.code { json.member("code", code.name) }
                if let detail = caller.detail { json.member("detail", detail) }
                if let wait = caller.retryAfter { json.member("retry_after_ms", wait.milliseconds) }
            }
        }
        if let report = course.report {
            let end = plan.wall + (course.caller?.after ?? .zero).saturatedNanoseconds / 1_000_000
            Job(report, finishedAt: end).withoutIdleTimes.write("request", into: &json)
        }
        if let job = course.job { Job(job, plan).withoutIdleTimes.write("job", into: &json) }
    }

    /// All that is taken for granted, since a series does not say it.
    private var assumptions: [String] {
        var sentences = [
            "The route is idle: its circuit breakers are closed, its retry budget is whole, and no other"
                + " request is under way."
        ]
        if plan.isClosedAtTimes { sentences.append(windows) }
        if plan.route.lookUp != nil {
            sentences.append(
                plan.method.isSafe
                    ? "A question what became of an attempt (verify) is asked after methods that are not safe only, such"
                        + " as POST."
                    : "A question what became of an attempt (verify) meets the next word of the series: found and"
                        + " absent answer it."
            )
        }
        if plan.route.follow != nil {
            sentences.append(
                "A 202 begins an operation (follow), and each look at it meets the next word of the series: ok and done"
                    + " are its end, failed is another, and it goes on with running."
            )
        }
        let left = max(shortest.looksLeftOut, longest.looksLeftOut)
        if left > 0 {
            let isOne = left == 1
            sentences.append(
                "\(left) look\(isOne ? "" : "s") at an operation that went on \(isOne ? "is" : "are") left out."
            )
        }
        if plan.route.hedges {
            sentences.append("No attempt is late: second sendings (hedge) are not imagined.")
        }
        if shortest.isBeyond || longest.isBeyond, let last = plan.series.attempts.last {
            sentences.append(
                "The last word of the series goes on: every attempt beyond it meets \(last.word)."
            )
        }
        if max(shortest.tokens, longest.tokens) > 0 {
            sentences.append(
                "The token endpoint gives a new token at once whenever it is asked, unless the series says"
                    + " otherwise with token:STATUS."
            )
        }
        if plan.body == nil, let lookUp = plan.route.lookUp, !lookUp.pointers.isEmpty {
            sentences.append(
                "The request's body has what the question looks for in it (--body names another)."
            )
        }
        if let job = [shortest.job, longest.job].compactMap({ $0 }).first(where: { $0.goesOn }) {
            sentences.append(
                "It stops here, at attempt \(job.attempts.count) after \(DurationText.text(job.end)): the job goes on"
                    + " like that until it expires."
            )
        }
        if shortest.job != nil || longest.job != nil {
            sentences.append(
                "The daemon runs all the time, and no other job of the route is before this one."
            )
        }
        return sentences
    }
}

extension Job {
    /// The job as the API would tell of it at its end.
    fileprivate init(_ job: ImaginedJob, _ plan: ForecastPlan) {
        self.init()
        let machine = job.machine
        id = JobID(milliseconds: plan.wall, random: (1, 1)).description
        route = plan.route.name
        stateWord = machine.state.name
        reason = machine.reason?.name
        end = machine.end?.rawValue
        if machine.state.isTerminal {
            outcomeWord = OutcomeWord(nil, isFailure: machine.state != .succeeded).rawValue
        }
        createdAt = WallTime(milliseconds: plan.wall)
        expiresAt = machine.expiresAt.map { WallTime(milliseconds: $0) }
        finishedAt = machine.finishedAt.map { WallTime(milliseconds: $0) }
        status = job.status
        maxAttempts = job.maxAttempts
        countedAttempts = job.attempts.count
        spentAttempts = Int(machine.spentAttempts)
        isInDoubt = machine.isInDoubt
        isDurable = true
        request.method = plan.method.rawValue
        request.path = "/"
        listedAttempts = job.attempts.map { Attempt($0, since: plan.wall) }
        let upstream = job.attempts.last { $0.failure != nil }?.upstream
        if machine.state != .succeeded { lastFailure = job.failure.map { Failure($0, of: upstream) } }
    }

    /// The same, without the time of attempts that take none since nobody has said how long they take.
    fileprivate var withoutIdleTimes: Job {
        var job = self
        job.listedAttempts = job.listedAttempts.map { attempts in
            attempts.map { attempt in
                var attempt = attempt
                if attempt.time == .zero { attempt.time = nil }
                return attempt
            }
        }
        return job
    }
}

extension Duration {
    var milliseconds: Double { Double(saturatedNanoseconds / 1_000) / 1_000 }
}
