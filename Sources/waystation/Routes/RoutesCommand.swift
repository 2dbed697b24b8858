import RelayBase
import RelayJSON

extension Command {
    static let routes = Command(
        "routes",
        "[NAME] [OPTION...]",
        "Lists the routes with their jobs, or shows one, or its last hour.",
        operands: [.asked([.routes])],
        options: OptionSpec.list + [
            OptionSpec("history", nil, "the last hour of the route, minute by minute")
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        let style = try ListStyle(arguments)
        let daemon = DaemonAccess.control(arguments)
        if arguments.has("history") {
            let target = "/v1/history?route=\(percentEncoded(try routeOperand(arguments)))"
            let (bytes, history) = try daemon.document(.get, target)
            switch style.format {
            case .table: Output.standard.write(style.text(of: historyTable(history, style.moments)))
            case .json, .ndjson: Output.standard.write(bytes + [UInt8(ascii: "\n")])
            case .name: Output.standard.write(safe(arguments.operands[0]) + "\n")
            }
            return .done
        }
        if let name = arguments.operands.first {
            let (bytes, route) = try daemon.document(.get, "/v1/routes/\(percentEncoded(name))")
            let view = RouteDocument(route, style.moments)
            switch style.format {
            case .table: Output.standard.write(view.sheet)
            case .json, .ndjson: Output.standard.write(bytes + [UInt8(ascii: "\n")])
            case .name: Output.standard.write(view.name + "\n")
            }
            return .done
        }
        let (bytes, document) = try daemon.document(.get, "/v1/routes")
        let routes = document["routes"]?.elements ?? []
        switch style.format {
        case .table: Output.standard.write(style.text(of: routesTable(routes, style.moments)))
        case .json: Output.standard.write(bytes + [UInt8(ascii: "\n")])
        case .ndjson:
            for route in routes { Output.standard.write(route.line) }
        case .name:
            for route in routes { Output.standard.write(RouteDocument(route, style.moments).name + "\n") }
        }
        return .done
    }
}

func routesTable(_ routes: [JSONValue], _ moments: Moments) -> TextTable {
    var table = TextTable([
        ("ROUTE", .left), ("STATE", .left), ("DELIVERY", .left), ("SCHEDULED", .right), ("QUEUED", .right),
        ("RUNNING", .right), ("RETRYING", .right), ("HELD", .right), ("DEAD", .right), ("OLDEST", .right),
        ("NOTE", .left),
    ])
    for json in routes {
        let route = RouteDocument(json, moments)
        table.add([
            route.name, route.state, safe(json["delivery"]?.text ?? "–"), route.jobs("scheduled"),
            route.jobs("queued"), route.jobs("running"), route.jobs("retrying"), route.jobs("held"),
            route.jobs("dead"), moments.ageOfOldest(json["oldest_job_at"]?.text),
            route.pause ?? route.closed ?? "",
        ])
    }
    return table
}
