import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs

extension OpenAPI {
    private static let kinds = Schema.word(EventKind.allCases.map(\.type))

    static let eventSchemas: KeyValuePairs<String, Schema> = [
        "Event": .object([
            Property("specversion", .constant(.string("1.0"))),
            Property(
                "source",
                .pattern("^/waystationd(/.+)?$"),
                "With the daemon's name where it is one of a fleet."
            ),
            Property("type", kinds),
            Property("time", .moment),
            Property("datacontenttype", .constant(.string(MediaType.json))),
            .maybe("id", .pattern("^[0-9]+$"), "A number; a heartbeat has none."),
            .maybe("subject", .text, "The job, or the route."),
            .maybe("data", .named("EventData")),
        ]).doc("One event, with the attributes of CloudEvents 1.0."),
        "ServerSentEvent": .object([
            Property("id", .pattern("^[0-9]+$")), Property("event", kinds),
            Property(
                "data",
                Schema.text.with("contentMediaType", .string(MediaType.json))
                    .with("contentSchema", Schema.named("Event").json)
            ),
        ]).doc("One event of an event stream (WHATWG HTML §9.2), of which there is one after the other."),
        "EventData": .object([
            .maybe("route", .text), .maybe("job", .job), .maybe("uid", .count), .maybe("attempt", .count),
            .maybe("node", .text, "The daemon of a fleet on whose machine that is the user."),
            .maybe("upstream", .text), .maybe("status", .status), .maybe("kind", .failureKind),
            .maybe("detail", .text), .maybe("rule", .text),
            .maybe("end", .openWord(EndReason.known.map(\.rawValue))), .maybe("wait_ms", .milliseconds),
            .maybe("source", .source),
            .maybe(
                "state",
                .word(["open", "closed", BreakerOrder.auto, "done", "stopped", "failed"]),
                "Of a breaker, or of a run that is over."
            ),
            .maybe("run", .integer(1...), "A run's number."),
            .maybe("action", .word(JobAction.allCases.map(\.rawValue)), "Of a run."),
            .maybe("total", .count, "Of a run: jobs that matched when it began."),
            .maybe("matched", .count, "Of a run: jobs that it has looked at."),
            .maybe("changed", .count, "Of a run: jobs that it has changed."),
            .maybe(
                "previous",
                .word(RouteStanding.Breaker.allCases.map(\.rawValue)),
                "The state of a breaker before an operator's order."
            ),
            .maybe("code", .word(Problem.Code.allCases.map(\.name)), "Of a refused request."),
            .maybe("by", .named("Principal"), "Who asked for it."),
            .maybe(
                "lost",
                .integer(1...),
                "Of a gap: so many events are gone; missing where nobody knows."
            ),
        ]),
    ]
}
