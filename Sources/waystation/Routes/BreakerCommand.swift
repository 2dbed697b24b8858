import RelayBase
import RelayClient
import RelayJSON

extension Command {
    static let breaker = Command(
        "breaker",
        "ROUTE[/UPSTREAM] open|closed|auto [--for DURATION] [-o table|json]",
        "Keeps the breaker of an upstream open or closed for a time, or leaves it to itself again.",
        details: """
            Open, nothing is sent to it: requests fail with breaker_open, and kept jobs wait. Closed, it is sent to
            whatever comes of it. Without an upstream the word is for all of the route.

            """,
        operands: [.asked([.upstreams]), .words(["open", "closed", "auto"])],
        options: [
            OptionSpec("for", value: "DURATION", "how long that holds, 1s to 1d (10m)"), .output,
            OptionSpec("utc", nil, "print times in UTC"), .control,
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 2)
        guard arguments.operands.count == 2 else {
            throw .usage("which route, and open, closed or auto?", of: arguments.command)
        }
        let words = arguments.operands[0].split(separator: "/", maxSplits: 1).map(String.init)
        guard let route = words.first else { throw .usage("which route?", of: arguments.command) }
        var document = JSONObjectWriter()
        document.member("state", arguments.operands[1])
        if words.count == 2 { document.member("upstream", words[1]) }
        if let span = try arguments.duration("for") { document.member("for", DurationText.text(span)) }
        let target = "/v1/routes/\(percentEncoded(route))/breaker"
        return try changeRoute(arguments, .put, target, document.bytes) { $0.upstreams ?? "no upstreams" }
    }
}
