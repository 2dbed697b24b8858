import RelayBase
import RelayInterface
import RelayJSON

extension Command {
    static let whatIf = Command(
        "what-if",
        "ROUTE FAILURE... [-o table|json]",
        "Tells what a route would do with a series of failures.",
        details: """
            Runs the machine of the daemon's program on a series that is only imagined: nothing is sent, and no
            daemon has to run. It tells each attempt, the rule that acts, the wait, and what the caller gets and
            when. Each FAILURE is what becomes of one attempt, whichever upstream it goes to; the last goes on.

            503                      an answer with that status, or with any other
            ok                       an answer that the route takes for a success
            timeout                  no answer comes
            refused, reset, dns, tls, unreachable, or a kind that waystation explain knows, as
                                     connection_timeout
            @FILE, 500@FILE          an answer with that content, whose status is 200 or the one before @;
                                     a FILE that begins with HTTP/ is the whole answer
            found, absent            the answer to a question what became of a request (verify)
            running, done, failed    the answer to a look at an operation (follow)
            token:401                what the token endpoint answers, which gives a token otherwise
            503x3, 503x*             three times, for ever
            429,retry-after=2m       with a Retry-After
            ok,in=2s                 after two seconds, or in=longest: in the last moment

            Planned windows (closed) are kept as of now, or as of --at. Without --config it is the usual file, or
            where that cannot be read, or a socket is named, the one that the daemon has read.

            """,
        operands: [
            .asked([.routes]),
            .words([
                "ok", "timeout", "refused", "reset", "dns", "tls", "unreachable", "401", "429", "500", "503",
                "found",
                "absent", "running", "done", "failed",
            ]),
        ],
        options: [
            OptionSpec("config", "c", value: "FILE", "the configuration; /etc/waystation/waystation.json"),
            OptionSpec(
                "method",
                "X",
                value: "METHOD",
                "the method; GET, and POST of a kept job, with a body or with verify"
            ),
            OptionSpec("body", value: "FILE|JSON", "the request's content, for a route that looks into it"),
            OptionSpec("key", nil, "the request has an idempotency key"),
            OptionSpec("durable", nil, "the request is kept, and delivered from there"),
            OptionSpec("at", value: "TIME", "when it begins, such as 2027-01-31T08:00:00Z; now"), .output,
            .control,
        ]
    ) { arguments throws(CommandFailure) in
        let format = try arguments.format()
        guard let route = arguments.operands.first, arguments.operands.count > 1 else {
            throw .usage("which route, and what becomes of its attempts?", of: "what-if")
        }
        let configuration = try DaemonFile.read(arguments)
        var order = JSONObjectWriter()
        order.member("route", route)
        order.array("series") { list in for word in arguments.operands.dropFirst() { list.element(word) } }
        if arguments.has("durable") { order.member("durable", true) }
        if arguments.has("key") { order.member("key", true) }
        if let body = arguments["body"] { order.member("body", body) }
        if let method = arguments["method"] { order.member("method", method) }
        if let text = arguments["at"] {
            guard let at = WallTime(text) else {
                throw .usage("--at takes a date and time such as 2027-01-31T08:00:00Z", of: "what-if")
            }
            order.member("at", at.milliseconds)
        }
        let answer = try DaemonProgram.imagine(order.bytes, configuration)
        if format == .json {
            Output.standard.write(answer)
            return .done
        }
        guard let json = try? JSONValue(parsing: answer) else {
            throw CommandFailure(.failed, "\(DaemonProgram.path) said nothing that can be read")
        }
        Output.standard.write(ForecastText(json).text(for: .standard))
        return .done
    }
}

/// The daemon's configuration where nobody names another.
let defaultConfiguration = "/etc/waystation/waystation.json"
