import Glibc
import RelayBase
import RelayClient
import RelayConfig
import RelayJSON
import RelayPosix
import RelayRoute

extension Command {
    static let check = Command(
        "check",
        "[FILE] [--strict] [--worst] [--online [--timeout DURATION]] [-o table|json]",
        "Checks a configuration and tells every mistake at once.",
        details: """
            FILE is /etc/waystation/waystation.json unless it is given; - is standard input. Each mistake comes
            with its line and place and, where there is one, a hint. Nothing but the file is looked at: secrets,
            certificates and the directories of sockets are checked by waystationd --check, as the daemon's user.

            For a configuration without mistakes it tells what each route comes to at worst: the most attempts, the
            longest time to an outcome, and what an upstream that is down is sent. The daemon's program says so, by
            the machine that would run. With --worst -o json prints that instead of the mistakes.

            --online goes to every upstream and token endpoint, side by side, and tells what the first request would
            meet: the name, whether its addresses may be dialled, the connection, TLS with the days its certificates
            last, pinned keys, a token, and the request that the route's "check" names. Nothing else is sent. Without
            FILE the daemon that runs does it, for the configuration in force, with its own tokens, once at a time and
            within 30s, for admins. A FILE is looked at by the daemon's program as you, with the secrets that you may
            read, and no refresh token is spent. The exit status is 1 where an endpoint cannot be used.

            """,
        operands: [.file],
        options: [
            OptionSpec("strict", nil, "count warnings as errors"),
            OptionSpec("worst", nil, "what routes come to at worst, also as JSON"),
            OptionSpec("online", nil, "go to the endpoints and tell what a request would meet"),
            OptionSpec("timeout", value: "DURATION", "with --online, for all of it (10s)"), .output, .control,
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        let format = try arguments.format()
        if arguments.has("online") { return try goOnline(arguments, format) }
        guard !arguments.has("timeout"), !arguments.has("socket") else {
            let word = arguments.has("timeout") ? "timeout" : "socket"
            throw .usage("--\(word) says nothing without --online", of: arguments.command)
        }
        let file = arguments.operands.first ?? defaultConfiguration
        let bytes =
            file == "-"
            ? try FileBytes.read(descriptor: STDIN_FILENO, "standard input") : try FileBytes.read(path: file)
        let result = ConfigurationReader.read(
            bytes,
            file: file,
            accounts: AccountResolver(user: Accounts.user, group: Accounts.group, zoneFile: ZoneFiles.read),
            wallSeconds: Int64(time(nil))
        )
        let errors = result.diagnostics.count { $0.severity == .error }
        let warnings = result.diagnostics.count - errors
        let isRefused = errors > 0 || result.configuration == nil || (arguments.has("strict") && warnings > 0)
        switch format {
        case .json where arguments.has("worst") && !isRefused:
            Output.standard.write(try DaemonProgram.imagine(Array("{}".utf8), bytes))
        case .json: Output.standard.write(Diagnostic.json(result.diagnostics))
        case .table:
            Output.error.write(Diagnostic.render(result.diagnostics))
            let routes = isRefused ? nil : result.configuration?.routes.count
            let verdict = Diagnostic.verdict(file, result.diagnostics, routes: routes)
            (isRefused ? Output.error : Output.standard).write(verdict)
            if !isRefused, result.configuration?.namesOtherFiles ?? false {
                Output.standard.write(
                    "note: secrets and certificates were not read; waystationd --check reads them\n"
                )
            }
            if !isRefused { try showWorst(bytes, isAsked: arguments.has("worst")) }
        }
        return isRefused ? .invalidConfiguration : .done
    }
}

/// Goes to the endpoints of the file that is named; without one the daemon that runs goes to its own.
private func goOnline(_ arguments: Arguments, _ format: OutputFormat) throws(CommandFailure) -> ExitCode {
    try arguments.allow(["online", "strict", "timeout", "output", "socket"], in: "--online")
    let limit = try arguments.duration("timeout") == nil ? nil : arguments["timeout"]
    guard let file = arguments.operands.first else { return try askDaemon(arguments, limit, format) }
    guard file != "-" else { throw .usage("--online takes a file by its name", of: arguments.command) }
    guard !arguments.has("socket") else {
        throw .usage("--socket says nothing beside a file", of: arguments.command)
    }
    var words = ["--check", file, "--online", "-o", format == .json ? "json" : "text"]
    if arguments.has("strict") { words.append("--strict") }
    if let limit { words += ["--timeout", limit] }
    try DaemonProgram.become(words)
}

private func askDaemon(
    _ arguments: Arguments,
    _ limit: String?,
    _ format: OutputFormat
) throws(CommandFailure) -> ExitCode {
    var query: [String] = []
    if let limit { query.append("timeout=\(limit)") }
    if arguments.has("strict") { query.append("strict=true") }
    // The daemon ends a look after 30 s.
    let daemon = DaemonAccess.control(arguments, timeout: .seconds(45))
    let target = "/v1/endpoints/check" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    let response: RelayResponse
    do throws(CommandFailure) {
        response = try daemon.request(.post, target)
    } catch {
        guard error.code == .notReachable else { throw error }
        throw CommandFailure(
            error.code,
            error.message,
            advice: "Without a daemon, name the file: waystation check --online FILE"
        )
    }
    guard response.status.class == .success else { throw CommandFailure(response) }
    let document = try DaemonAccess.parse(response)
    let isWell = document["cause"] == nil
    switch format {
    case .json: Output.standard.write(response.body + [UInt8(ascii: "\n")])
    case .table:
        Output.standard.write(safeLines(document["text"]?.text ?? ""))
        if isWell { Output.standard.write(safeLines(document["verdict"]?.text ?? "")) }
    }
    if !isWell { Output.error.write(safeLines(document["verdict"]?.text ?? "")) }
    return isWell ? .done : .failed
}

/// Shows the worst that routes come to; where nobody has asked for it, a daemon's program that is not there is no fault.
private func showWorst(_ configuration: [UInt8], isAsked: Bool) throws(CommandFailure) {
    do throws(CommandFailure) {
        let answer = try DaemonProgram.imagine(Array("{}".utf8), configuration)
        guard let json = try? JSONValue(parsing: answer) else { return }
        Output.standard.write(WorstCaseText(json).text(for: .standard))
    } catch {
        if isAsked { throw error }
        Output.standard.write("note: worst cases are not told: \(error.message)\n")
    }
}

extension Configuration {
    /// Whether there are secrets or certificates that only the daemon can look at.
    fileprivate var namesOtherFiles: Bool {
        !secrets.isEmpty || routes.contains { $0.policy.upstreams.contains { $0.tls.authorityFile != nil } }
    }
}
