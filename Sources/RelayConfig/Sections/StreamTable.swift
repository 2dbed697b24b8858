import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var stream: Section<StreamRules> {
        Section(
            "stream",
            "The treatment of successful answers that stream. Where the answer is an event stream (text/event-stream) and breaks "
                + "off, its last event is waystation-error, with a problem document as data.",
            of: StreamRules()
        ) {
            Field("commit_after", commit.kind, \.commit) {
                "What has to be there before the head of an answer is passed on. An attempt that stalls or breaks off before "
                    + "is a failed one, which recovery treats like any other: a POST without a key is not repeated unless a "
                    + "rule says so."
            }
            Field("keep_alive", .duration(.milliseconds(100) ... .seconds(600)), \.keepAlive) {
                "Who asks for an event stream (Accept) and has waited so long gets a head with the status 200, and as often a "
                    + "comment, until there is an answer. From then on a failure, and an answer that is no event stream, "
                    + "is told by the event waystation-error instead of by its status."
            }
        }
    }

    private static var commit: Section<StreamRules.Commit> {
        Section(
            "commit_after",
            "What has to be there before the head of a streamed answer is passed on: the first of these counts.",
            of: StreamRules.Commit()
        ) {
            Field("events", .integer(0...1000), \.events) {
                "Events with data of an event stream, or lines of JSON (application/x-ndjson); a comment is none. Of other "
                    + "content the first bytes are enough. 0 waits for none."
            }
            Field("bytes", .size(1...1 << 20), \.bytes) { "Bytes of the content; no more are held." }
            Field("time", .duration(.milliseconds(1) ... .seconds(600)), \.time) {
                "The time since the head came; when it is absent an answer without an event fails with its attempt's time."
            }
        }
    }
}

extension RouteCheck {
    /// Answers stream, and there is time for what is waited for.
    func checkStreams(_ reading: inout ReadContext) {
        guard let rules = policy.response.stream else { return }
        if isDurable || policy.inspectsBody {
            reading.error(
                isDurable
                    ? "no answer of a route that keeps its requests streams to a caller"
                    : "no answer of this route streams: each is looked into when all of it is there",
                at: node.location("response", "stream"),
                hint: isDurable
                    ? "remove it"
                    : "remove it, or what looks into them: api_error, conditions of success, expect, empty and unwrap"
            )
        }
        if let time = rules.commit?.time, time >= policy.timeouts.attempt {
            reading.warn(
                "no head is passed on by this time: the attempt's own is over before, after "
                    + DurationText.text(policy.timeouts.attempt),
                at: node.location("response", "stream", "commit_after", "time"),
                hint: "raise \"timeouts.attempt\", or remove it"
            )
        }
        if let wait = rules.keepAlive, wait >= policy.timeouts.total {
            reading.warn(
                "nobody is ever kept waiting that long: a request's time is over after "
                    + DurationText.text(policy.timeouts.total),
                at: node.location("response", "stream", "keep_alive"),
                hint: "choose less, such as \"15s\", or raise \"timeouts.total\""
            )
        }
    }
}
