import RelayBase
import RelayClient
import RelayJSON

extension Command {
    static let pause = Command(
        "pause",
        "ROUTE [--for DURATION] [--reason TEXT] [-o table|json]",
        "Sends nothing of a route until it is resumed.",
        details: """
            Durable jobs are accepted and wait; requests that wait for their answer get 503 route_paused.

            """,
        operands: [.asked([.routes])],
        options: [
            OptionSpec("for", value: "DURATION", "resume by itself after this long, such as 10m"),
            OptionSpec("reason", value: "TEXT", "what others are told"), .output,
            OptionSpec("utc", nil, "print times in UTC"), .control,
        ]
    ) { arguments throws(CommandFailure) in
        let route = try routeOperand(arguments)
        var document = JSONObjectWriter()
        if let reason = arguments["reason"] { document.member("reason", reason) }
        if let span = try arguments.duration("for") { document.member("for", DurationText.text(span)) }
        let target = "/v1/routes/\(percentEncoded(route))/pause"
        return try changeRoute(arguments, .post, target, document.bytes) { $0.pause ?? "goes on" }
    }

    static let resume = Command(
        "resume",
        "ROUTE [-o table|json]",
        "Lets a paused route go on, with the jobs that waited for it.",
        details: """
            A planned window (closed) stays as it is, and is told: a configuration without it opens the route.

            """,
        operands: [.asked([.routes])],
        options: [.output, OptionSpec("utc", nil, "print times in UTC"), .control]
    ) { arguments throws(CommandFailure) in
        let route = try routeOperand(arguments)
        let target = "/v1/routes/\(percentEncoded(route))/resume"
        return try changeRoute(arguments, .post, target, []) { $0.pause ?? $0.afterResume }
    }
}

func routeOperand(_ arguments: Arguments) throws(CommandFailure) -> String {
    try arguments.limitOperands(to: 1)
    guard let route = arguments.operands.first else { throw .usage("which route?", of: arguments.command) }
    return route
}

/// Has the daemon change something of a route, and prints the route's document or what `words` says of it.
func changeRoute(
    _ arguments: Arguments,
    _ method: Method,
    _ target: String,
    _ document: [UInt8],
    words: (RouteDocument) -> String
) throws(CommandFailure) -> ExitCode {
    let format = try arguments.format()
    let response = try DaemonAccess.control(arguments).change(method, target, document)
    return try Output.standard.show(response.body, as: format) { () throws(CommandFailure) in
        let view = RouteDocument(try DaemonAccess.parse(response), Moments(isUTC: arguments.has("utc")))
        return "\(view.name): \(words(view))\n"
    }
}
