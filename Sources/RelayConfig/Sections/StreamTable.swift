import RelayBase
import RelayJSON
import RelayRoute

extension ConfigurationTable {
    static var stream: Section<StreamRules> {
        Section(
            "stream",
            "The treatment of successful answers that stream. Where the answer is an event stream (text/event-stream) and breaks "
                + "off, its last event is waystation-error, with a problem document as data, unless a length was promised, or it is "
                + "in a coding. Of one that the relay itself cuts that holds where its caller has taken all that came.",
            of: StreamRules()
        ) {
            Field("commit_after", commit.kind, \.commit) {
                "What has to be there before the head of an answer is passed on. An attempt that stalls or breaks off before "
                    + "is a failed one, which recovery treats like any other: a POST without a key is not repeated unless a "
                    + "rule says so."
            }
            Field("keep_alive", .duration(.milliseconds(100) ... .seconds(600)), \.keepAlive) {
                "A caller that wants an event stream more than anything else (its Accept has text/event-stream, at a higher "
                    + "quality than all else it has) and has waited so long gets a head with the status 200, and as often "
                    + "a comment, until there is an answer. From then on the event waystation-error tells of a failure, "
                    + "and waystation-answer of a success that is no event stream or of a request that is kept, with "
                    + "the status; both end the stream."
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
                    + "content, and of any in a coding (Content-Encoding), the first bytes are enough whatever this says. "
                    + "0 waits for none, and needs a time."
            }
            Field("bytes", .size(1...65_536), \.bytes) {
                "Bytes of the content; what is read together with the last of them, at most 128KiB, is held, too. Where "
                    + "limits.memory has no room for them the head is passed on at once."
            }
            Field("time", .duration(.milliseconds(1) ... .seconds(600)), \.time) {
                "The time since the head came; when it is absent an answer without an event fails with its attempt's time."
            }
        }
    }
}

extension RouteCheck {
    /// Why no answer streams, and the way out; nil where they do.
    private var wholeAnswers: (fault: String, hint: String)? {
        if isDurable {
            return ("no answer of a route that keeps its requests streams to a caller", "remove it")
        }
        if policy.inspectsBody {
            return (
                "no answer of this route streams: each is looked into when all of it is there",
                "remove it, or what looks into them: api_error, conditions of success, expect, empty and unwrap"
            )
        }
        guard policy.response.keepsLastGood != nil else { return nil }
        return (
            "no good answer to a GET streams on this route: each is kept when all of it is there",
            "remove it, or \"cache_last_good\""
        )
    }

    /// Answers stream, and there is time for what is waited for.
    func checkStreams(_ reading: inout ReadContext) {
        guard let rules = policy.response.stream else { return }
        if let (fault, hint) = wholeAnswers {
            reading.error(fault, at: node.location("response", "stream"), hint: hint)
        }
        if let commit = rules.commit, commit.events == 0, commit.time == nil {
            reading.error(
                "a head that waits for no event needs a time",
                at: node.location("response", "stream", "commit_after", "events"),
                hint: "add \"time\": \"500ms\", or wait for 1"
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
