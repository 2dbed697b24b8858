import RelayBase
import RelayInterface
import RelayRoute

/// The traits of records and rules that something is to be said of.
struct RehearsalTraits {
    private var hasTimeouts = false
    private var hasContent = false
    private var hasLimits = false
    private var heeds = false
    private var looks = false
    private var hasOutages = false
    private var hedges = false
    private var isTogether = false
    private var moved: Set<String> = []

    mutating func take(_ attempts: RecordedAttempts, _ limits: RecordedLimits, _ route: Route) {
        if attempts.hasTimeouts { hasTimeouts = true }
        if attempts.hasContent { hasContent = true }
        if limits.hasSome { hasLimits = true }
        if attempts.hasOutages { hasOutages = true }
        if route.policy.apiError != nil || !route.policy.errorTypes.isEmpty { looks = true }
        if route.hedges { hedges = true }
        if attempts.isProtected { isTogether = true }
        moved.formUnion(attempts.moved.map { "\(route.name)/\($0)" })
        for case .retry(let retry) in route.policy.recovery.map(\.action) where retry.honorsRetryAfter {
            heeds = true
        }
    }

    /// `samples` are the courses of jobs for which chance makes a difference.
    func sentences(samples: [Int]) -> [String] {
        var all = [
            (isTogether
                ? "All jobs on record go together where the file has protections on their route: what they do to"
                    + " circuit breakers, budgets, windows and rates counts, and that of requests on no record does not."
                : "Each job is alone, since the file has no protections on its route.")
                + " Tokens are there. An upstream of the same name is taken for the same one."
        ]
        if !moved.isEmpty {
            all.append(
                "The file has other servers by the name of \(moved.sorted().map(safe).joined(separator: ", ")):"
                    + " attempts that went elsewhere say nothing of them."
            )
        }
        all.append(
            "A moment is known within 10 s of an attempt on record of the same route, upstream and class of request,"
                + " with none between that ended otherwise; of two unlike ones around it each is tried."
        )
        if hedges { all.append("No attempt is late: second sendings (hedge) are not imagined.") }
        if let least = samples.min() {
            all.append("Waits with jitter are samples: \(least) of all that chance can give, or more.")
        }
        if hasLimits {
            all.append(
                "Of max_attempts and the time to live, what all jobs of a route have is taken for the route's. Where they"
                    + " are unlike, what most have is anybody's, and anything else the caller's own. Other bounds of"
                    + " callers are not on record."
            )
        }
        if hasOutages {
            all.append(
                "A 5xx that \(RecordedAttempts.jobsOfOutage) jobs or more had in a row, without a success between, is"
                    + " taken for the upstream's, and not for what their requests were about."
            )
        }
        if hasTimeouts {
            all.append("An upstream that was silent stays silent, however long the file waits.")
        }
        if hasContent {
            all.append(
                "An answer that failed by its content fails again in the same way: its content is not on record."
            )
        }
        if looks {
            all.append(
                "Contents and fields of answers that failed are not on record: what the file looks for in them is"
                    + " taken as missing."
            )
        }
        if heeds { all.append("Retry-After is not on record: rules that heed it wait as without it.") }
        return all
    }
}

extension Route {
    /// The names of rules that look at nothing of a failure that is not on record.
    var rulesOnRecord: [String] {
        var unseen = Set(policy.errorTypes.map(\.kind) + policy.success.fail.map(\.kind))
        unseen.formUnion([.apiError, .invalidResponse])
        let renames = policy.errorTypes.contains { $0.treatAsStatus != nil }
        return policy.recovery.filter { rule in
            !rule.on.tokens.contains { token in
                switch token {
                case .kind(let kind): unseen.contains(kind)
                case .group(let group): unseen.contains { group.contains($0) }
                case .status, .statusClass: renames
                case .any, .exhausted: false
                }
            }
        }.map(\.name)
    }
}
