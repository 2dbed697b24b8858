import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var recovery: ValueKind<[RuleDraft]> { .list(rule.kind, maximum: 100) }

    private static var rule: Section<RuleDraft> {
        Section(
            "rule",
            "One rule of recovery. The list is read from the top for every failed attempt; the first rule whose "
                + "\"on\" matches and that has something left to do acts. A rule has exactly one action.",
            of: RuleDraft(),
            choices: [
                .exactlyOne(
                    "retry",
                    "refresh_credentials",
                    "failover",
                    "respond",
                    "fail",
                    "dead_letter",
                    "pause_route",
                    "hold"
                )
            ]
        ) {
            Field("name", .name, \.name, isRequired: true) {
                "Stands in the timeline, the journal and Proxy-Status."
            }
            Field("on", .failures, \.on, isRequired: true) {
                "The failures it acts on: statuses, classes, kinds, the groups connection, timeout, dns, tls and "
                    + "protocol, \"any\", and \"exhausted\" when nothing above it has anything left."
            }
            Field("mode", .mode, \.reports) {
                "Whether the rule acts, or only tells what it would have done: then the rules below it are read as if it were "
                    + "not there, and on a route whose rules all do so kept jobs are delivered as on one without rules."
            }
            Field("retry", retry.kind, \.retry) { "Wait and send again." }
            Field("refresh_credentials", refresh.kind, \.refreshes) {
                "Fetch a new credential and send again."
            }
            Field("failover", failover.kind, \.failover) {
                "Send to another upstream, which is entered once a job."
            }
            Field("respond", respond, \.respond) {
                "Answer a request that waits in the upstream's stead; a kept job passes the rule by."
            }
            Field("fail", ending(.fail, "fail", "Ending the job; an empty object."), \.ending) {
                "End the job with the failure as it is."
            }
            Field(
                "dead_letter",
                ending(.deadLetter, "dead_letter", "Giving a durable job up; an empty object."),
                \.ending
            ) {
                "Give a durable job up, for an operator to look at and to retry; any other ends with its failure."
            }
            Field("pause_route", pause, \.ending) {
                "Send nothing new of the route until an operator resumes it, and put a durable job back to wait for "
                    + "that; any other request ends with its failure, and those that wait already go on."
            }
            Field("hold", ending(.hold, "hold", "Putting a durable job aside; an empty object."), \.ending) {
                "Put a durable job aside until an operator releases it; any other ends with its failure."
            }
        }
    }

    private static var retry: Section<RetryDraft> {
        Section(
            "retry",
            "When to send again.",
            of: RetryDraft(),
            choices: [.atMostOne("backoff", "schedule")]
        ) {
            Field("max_attempts", .integer(1...100), \.maxAttempts) {
                "One more than how often the rule may act in one job, whatever others do; 3 when it is absent, or one "
                    + "more than the schedule has entries. Attempts that never reached the wire count here, "
                    + "and not for the job's max_attempts."
            }
            Field("backoff", backoff.kind, \.backoff) { "How the waits grow." }
            Field(
                "schedule",
                .list(.duration(.zero ... .seconds(30 * 86_400)), minimum: 1, maximum: 99),
                \.schedule
            ) { "The waits one by one; the last one repeats where max_attempts allows more." }
            Field("jitter_percent", .integer(0...100), \.jitterPercent) {
                "How much a wait of the schedule may differ at random, both ways; 0 when it is absent."
            }
            Field("honor_retry_after", .boolean, \.policy.honorsRetryAfter) {
                "Whether the upstream's Retry-After replaces a shorter wait."
            }
            Field("max_retry_after", .duration(.zero ... .seconds(86_400)), \.policy.maxRetryAfter) {
                "The longest wait a Retry-After can cause."
            }
            Field("methods", .word(), \.policy.methods) { methodsDoc }
        } check: { draft, node, reading in
            if draft.jitterPercent != nil, draft.schedule == nil, let member = node["jitter_percent"] {
                reading.error(
                    "\"jitter_percent\" belongs to \"schedule\"",
                    at: member.nameRange,
                    hint: "with \"backoff\" write \"jitter\" there"
                )
            }
        }
    }

    private static var backoff: Section<BackoffDraft> {
        Section("backoff", "Waits that grow, or stay the same.", of: BackoffDraft()) {
            Field("type", .word(), \.type) { "Whether every wait is longer than the one before." }
            Field("base_interval", .duration(.milliseconds(1) ... .seconds(86_400)), \.baseInterval) {
                "The first wait."
            }
            Field("multiplier", .number(1...100), \.multiplier) {
                "How much longer each wait is than the one before."
            }
            Field("max_interval", .duration(.milliseconds(1) ... .seconds(86_400)), \.maxInterval) {
                "The longest wait."
            }
            Field("jitter", .word(), \.jitter) {
                "How chance spreads the waits: full takes any time up to the wait, equal any from half of it, "
                    + "none the wait itself. Full when it is absent, none for constant waits."
            }
        } check: { draft, node, reading in
            if draft.type == .constant {
                for key in ["multiplier", "max_interval"] {
                    guard let member = node[key] else { continue }
                    reading.error(
                        "a constant backoff has no \"\(key)\"",
                        at: member.nameRange,
                        hint: "remove it"
                    )
                }
            } else if draft.baseInterval > draft.maxInterval {
                let isDefault = node["max_interval"] == nil
                let limit = DurationText.text(draft.maxInterval)
                reading.error(
                    "base_interval is longer than max_interval (\(limit)\(isDefault ? ", the default" : ""))",
                    at: node.location("base_interval")
                )
            }
        }
    }

    /// The bound that `methods` of a rule sets.
    private static let methodsDoc =
        "Which requests may be sent again when the upstream may have acted: after no complete answer, and after a "
        + "failure other than 4xx and 503 with Retry-After. Those of an idempotent method, those with an idempotency "
        + "key too, or any. Neither the repetition on a new connection within an attempt nor the one after a "
        + "crash asks this."

    private static let fetchesDoc =
        "How often in one job. Once an upstream has refused a token that was fetched because of that, with 401 or 403, no "
        + "other job of the route fetches one for a second, then for twice as long each time up to five minutes, until "
        + "a request succeeds there."

    private static var refresh: Section<Int> {
        Section("refresh_credentials", "Fetching a new credential.", of: 1) {
            Field("max_times", .integer(1...10), \.self) { fetchesDoc }
        }
    }

    private static var failover: Section<FailoverDraft> {
        Section("failover", "Sending to another upstream.", of: FailoverDraft()) {
            Field("upstream", .name, \.upstream, isRequired: true) {
                "One of the route's upstreams, by name."
            }
            Field("methods", .word(), \.methods) { methodsDoc }
        }
    }

    private static var pause: ValueKind<RecoveryRule.Action> {
        Section("pause_route", "Pausing a route.", of: "") {
            Field("reason", .string(upTo: 200), \.self, isRequired: true) {
                "What operators and callers are told; at most 200 bytes."
            }
        }.kind.compactMap { .pauseRoute(reason: $0) }
    }

    /// An action that says nothing more.
    private static func ending(
        _ action: RecoveryRule.Action,
        _ name: String,
        _ doc: String
    ) -> ValueKind<RecoveryRule.Action> {
        Section(name, doc, of: action) {}.kind
    }
}
