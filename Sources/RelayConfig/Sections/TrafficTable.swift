import RelayBase
import RelayJSON
import RelayRoute

// The keys that keep the requests of a route from making an upstream's trouble worse.
extension ConfigurationTable {
    @FieldList<RouteDraft> static var trafficFields: [Field<RouteDraft>] {
        Field("circuit_breaker", breaker.kind, \.policy.traffic.breaker) {
            "When an upstream is sent nothing because it fails. Each upstream has a circuit breaker of its own; "
                + "while it is open requests like those that fail are not sent there, but for one probe at a "
                + "time: they fail with breaker_open, which rules may act on, and kept jobs wait. Requests that "
                + "the upstream answers go on: they are told apart by user, method, path and size (of the path count "
                + "the first two segments, or those up to a version such as v1 and two more, and identifiers "
                + "count as one: /api/v1/orders/*). Failures are a missing or broken answer, 502, 503 and 504: what this side lacks "
                + "(a descriptor, memory), a caller that gives up sooner than the upstream usually answers, and an "
                + "answer that asks for patience count for nothing."
        }
        Field("retry_budget", budget.kind, \.policy.traffic.budget) {
            "How much of the route's load its retries may be, whatever the rules allow. Without room a request ends "
                + "as if the rule were spent; a kept job waits. A retry that succeeds gives back what it took."
        }
        Field("adaptive_concurrency", window.kind, \.policy.traffic.window) {
            "How many requests an upstream is sent at once, within concurrency.max_requests: fewer when it does "
                + "not answer, says that there is too much (429, 503) or takes longer than it did, more again while it "
                + "takes them."
        }
        Field("throttling", throttling.kind, \.policy.traffic.throttling) {
            "What becomes of an upstream's word that there is too much: Retry-After of 429 and 503, and RateLimit, "
                + "RateLimit-Remaining, X-RateLimit-Remaining and X-Rate-Limit-Remaining with their Reset on any "
                + "answer, hold back requests like the one it answers, and all once a second kind is told so. A "
                + "request that cannot wait so long fails with rate_limited, and kept jobs wait. An upstream that "
                + "answers 429 is sent less in a second from then on, and more again while it takes that."
        }
        Field("rate_limit", rateLimit.kind, \.policy.traffic.rateLimit) {
            "How fast the route sends, retries included; without the key as fast as there is work. A request waits "
                + "for its turn if that comes before its time runs out, and fails with rate_limited if not."
        }
    }

    private static var breaker: Section<BreakerSettings> {
        Section(
            "circuit_breaker",
            "When an upstream is sent nothing because it fails.",
            of: BreakerSettings()
        ) {
            Field("enabled", .boolean, \.isEnabled) { "Whether there is one." }
            Field("mode", .mode, \.reports) {
                "Whether it acts, or only tells what it would have done: everything is sent, it sees nothing of what it "
                    + "would have stopped, and a request that it would have sent as a probe is one."
            }
            Field("failure_ratio", .number(0.01...1), \.failureRatio) {
                "Share of failures among the attempts that are judged at which it opens."
            }
            Field("minimum_throughput", .integer(2...10_000), \.minimumThroughput) {
                "Attempts that must have been seen before the ratio counts."
            }
            Field("sampling_duration", .duration(.seconds(1) ... .seconds(600)), \.sampling) {
                "How long an attempt counts. Without the key those of the last 2 s are judged, and at least the last "
                    + "minimum_throughput; with a failure_ratio below 0.95, a slow_call_duration or a "
                    + "minimum_throughput above 64 those of 30s."
            }
            Field("consecutive_failures", .integer(1...10_000), \.consecutiveFailures) {
                "Failures one after the other at which it opens whatever the ratio; without the key none are counted."
            }
            Field("on", .statuses, \.statuses) {
                "Statuses of complete answers that count as failures besides 502, 503 and 504, such as \"500\"; "
                    + "from 400 up."
            }
            Field("break_duration", .duration(.milliseconds(100) ... .seconds(600)), \.breakDuration) {
                "How long it is open before the first probe, a fifth more or less; the next breaks are a tenth of the "
                    + "time since it opened, where that is longer, less what the probe before them has taken."
            }
            Field("max_break_duration", .duration(.milliseconds(100) ... .seconds(3_600)), \.maxBreakDuration)
            { "The longest time between two probes." }
            Field("slow_call_duration", .duration(.milliseconds(1) ... .seconds(3_600)), \.slowDuration) {
                "An attempt that takes longer is slow; without the key none is."
            }
            Field("slow_call_ratio", .number(0.01...1), \.slowRatio) {
                "Share of slow attempts at which it opens."
            }
        } check: { breaker, node, reading in
            if breaker.statuses.codes.contains(where: { $0 < 400 })
                || breaker.statuses.classes.contains(where: { $0 == .success || $0 == .redirection })
            {
                reading.error(
                    "a status below 400 is no failure",
                    at: node.location("on"),
                    hint: "name statuses from 400 up, such as \"500\" or \"4xx\""
                )
            }
            guard breaker.maxBreakDuration < breaker.breakDuration else { return }
            reading.error(
                "the longest break is shorter than the first",
                at: node.location(
                    node["max_break_duration"] == nil ? "break_duration" : "max_break_duration"
                ),
                hint: "give max_break_duration at least break_duration"
            )
        }
    }

    private static var budget: Section<RetryBudgetSettings> {
        Section("retry_budget", "How much of the route's load its retries may be.", of: RetryBudgetSettings())
        {
            Field("enabled", .boolean, \.isEnabled) { "Whether there is one." }
            Field("mode", .mode, \.reports) {
                "Whether it acts, or only tells what it would have done; a retry beyond it goes, and counts for nothing."
            }
            Field("budget_percent", .integer(0...100), \.percent) {
                "Retries that failed or are under way, in percent of the route's other attempts; of the last ten seconds."
            }
            Field("min_retry_concurrency", .integer(0...1_000), \.floor) {
                "Retries that may be under way, their waits included, and four that have failed in the last "
                    + "second count as one, however small that share is; of kept jobs one may be in any case."
            }
        }
    }

    private static var window: Section<WindowSettings> {
        Section(
            "adaptive_concurrency",
            "How many requests an upstream is sent at once.",
            of: WindowSettings()
        ) {
            Field("enabled", .boolean, \.isEnabled) { "Whether that changes." }
            Field("mode", .mode, \.reports) {
                "Whether it acts, or only tells which attempts would have waited."
            }
            Field("initial", .integer(1...65_536), \.initial) {
                "Where it begins; without the key with concurrency.max_requests."
            }
            Field("after_outage", .integer(1...65_536), \.afterOutage) {
                "Where it begins when the breaker has closed, at most where it was."
            }
        }
    }

    private static var throttling: Section<ThrottlingSettings> {
        Section(
            "throttling",
            "What becomes of an upstream's word that there is too much.",
            of: ThrottlingSettings()
        ) {
            Field("enabled", .boolean, \.isEnabled) {
                "Whether it holds back more than the request that got it."
            }
            Field("mode", .mode, \.reports) {
                "Whether it acts, or only tells which attempts would have been held back; no rate is learnt then."
            }
            Field("max_retry_after", .duration(.seconds(1) ... .seconds(86_400)), \.longest) {
                "The longest that one answer holds an upstream back; without the key the longest max_retry_after of "
                    + "the rules that retry 429 or 503 and honour Retry-After, 60s where no rule retries those, "
                    + "and nothing where none of them honours it."
            }
        }
    }

    private static var rateLimit: Section<RateLimitSettings> {
        Section(
            "rate_limit",
            "How fast the route sends.",
            of: RateLimitSettings(maxRequests: 1, per: .seconds(1))
        ) {
            rateFields(of: "Attempts", \.maxRequests, \.per)
            Field("mode", .mode, \.reports) {
                "Whether it acts, or only tells which attempts would have waited, or been refused."
            }
            Field("burst", .integer(1...1_000_000), \.burst) {
                "Attempts that may follow each other at once. Without the key one, so that an upstream that counts "
                    + "strictly never sees more than max_requests in any \"per\": they are spread over it. After a pause as "
                    + "many more as this says may come in one."
            }
        }
    }

    /// So many of something in so much time; what absence of `burst` means is for each rate to say.
    @FieldList<Target> static func rateFields<Target>(
        of counted: String,
        _ maxRequests: WritableKeyPath<Target, Int>,
        _ per: WritableKeyPath<Target, Duration>
    ) -> [Field<Target>] {
        Field("max_requests", .integer(1...1_000_000), maxRequests, isRequired: true) {
            "\(counted) in each \"per\"."
        }
        Field("per", .duration(.milliseconds(1) ... .seconds(86_400)), per) { "What they are counted in." }
    }
}

/// Whether a part acts.
enum ControlMode: String, CaseIterable {
    case enforce
    case report
}

extension ValueKind where Value == Bool {
    /// Whether a part only tells what it would do.
    static var mode: ValueKind {
        ValueKind<ControlMode>.word().map({ $0 == .report }, back: { $0 ? .report : .enforce })
    }
}
