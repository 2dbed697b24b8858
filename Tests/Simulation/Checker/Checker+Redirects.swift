import RelayBase
import RelayJobs
import RelayRoute

extension Checker {
    private static let mostHops = 5

    /// Whether the attempt is sent on because its answer was a redirect that its route follows.
    func followed(_ job: JobRecord, _ request: OutboundRequest) -> Bool {
        guard case .judging(.answers(let answer), _) = job.stage, let target = redirect(job, answer) else {
            return false
        }
        job.hops += 1
        if answer.status != 307, answer.status != 308 { job.hopsAsk = false }
        note(.redirected)
        if job.hops == Checker.mostHops { note(.redirectedOften) }
        let method = job.hopMethod ?? job.program?.sending?.method ?? job.method
        let becomesGet =
            answer.status == 303 && method != .head
            || (answer.status == 301 || answer.status == 302) && method == .post
        job.hopMethod = becomesGet ? .get : method
        if becomesGet { job.hopDropped = true }
        if request.method != job.hopMethod { fail(job, "a redirect is followed with another method") }
        if request.target != target { fail(job, "a redirect is followed to another target") }
        if becomesGet, case .empty = request.body {
        } else if becomesGet {
            fail(job, "a redirect that makes a GET is followed with content")
        }
        return true
    }

    /// Where the answer leads on the same upstream; nil when it is not to be followed.
    func redirect(_ job: JobRecord, _ answer: Answer) -> String? {
        guard job.route.policy.response.redirects == .follow, job.hops < Checker.mostHops,
            [301, 302, 303, 307, 308].contains(answer.status)
        else { return nil }
        return answer.location?.target
    }
}
