import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayJobs
import RelayRoute

extension OpenAPI {
    /// The words of whoever asks for something.
    static let reason = Schema.text(JobFilter.textLengths)
        .with("pattern", .string("^[^\\u0000-\\u001f\\u007f]*$"))

    static let routeSchemas: KeyValuePairs<String, Schema> = [
        "Route": RouteSituation.schema,
        "RouteList": .object([Property("routes", .list(.named("Route")))]),
        "Table": RouteTable.schema, "RouteUpstream": RouteUpstream.schema, "LastFailure": LastFailure.schema,
        "PauseOrder": .strict([
            .maybe("reason", reason, "In bytes."),
            .maybe("for", .duration(PauseOrder.durations), "Without it until the route is resumed."),
        ]),
        "BreakerOrder": .strict([
            Property("state", .word(BreakerMachine.Order.allCases.map(\.rawValue) + [BreakerOrder.auto])),
            .maybe("upstream", .text(JobFilter.textLengths), "Without it all of the route."),
            .maybe("for", .duration(BreakerOrder.durations).standard(.string("10m"))),
        ]),
        "ClearOrder": .strict([
            .maybe("upstream", .text(JobFilter.textLengths), "Without it all of the route."),
            .maybe(
                "requests",
                .text(JobFilter.textLengths),
                "As `failing` and `holds` name them; without it all."
            ),
        ]),
        "Shape": ShapeTable.schema.doc("How many jobs wait, by how long already."),
        "History": HistoryDocument.schema.doc("The last hour of routes, in columns, oldest first."),
    ]
}
