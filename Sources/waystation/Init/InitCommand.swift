import Glibc
import RelayConfig

extension Command {
    static let `init` = Command(
        "init",
        "[URL] [OPTION...]",
        "Writes a first configuration.",
        details: """
            URL is the upstream's. Without it a terminal is asked for what no option says. The result is checked as
            waystation check does before it is written, to /etc/waystation/waystation.json: that the one stands
            there that came with the installation makes no difference, and any other one stays unless --force is
            given. The file holds no secret but says where one is kept; what is left to do is printed.

            KIND is none, bearer, basic (with --user), header (with --header), or oauth2_client_credentials or
            oauth2_refresh_token (with --token-url and --client-id).

              waystation init https://api.example.com/v1/ --auth bearer --secret example-token

            """,
        options: [
            OptionSpec("route", value: "NAME", "the route's name; from the URL's host"),
            OptionSpec(
                "auth",
                value: "KIND",
                "what the upstream knows you by; none",
                completes: .words(InitialCredential.Kind.allCases.map(\.rawValue))
            ),
            OptionSpec(
                "secret",
                value: "NAME|FILE",
                "the systemd credential or the file it is kept in",
                completes: .file
            ),
            OptionSpec("user", value: "NAME", "the user of basic"),
            OptionSpec("header", value: "NAME", "the header that has the key; X-Api-Key"),
            OptionSpec("token-url", value: "URL", "the token endpoint of oauth2"),
            OptionSpec("client-id", value: "ID", "the client of oauth2"),
            OptionSpec("durable", nil, "keep each request on disk and deliver it later"),
            OptionSpec(
                "generate-keys",
                nil,
                "give requests an Idempotency-Key, which the upstream must know"
            ),
            OptionSpec(
                "allow-addresses",
                value: "RANGE",
                "may be dialled though not public; may stand more than once"
            ),
            OptionSpec("output", "o", value: "FILE|-", "write it there; - is standard output"),
            OptionSpec("force", nil, "replace what stands there, and keep a backup"),
        ]
    ) { arguments throws(CommandFailure) in
        let draft = try InitialDraft(arguments)
        let path = arguments["output"] ?? InitialSteps.usualFile
        let file = path == "-" ? nil : try InitialFile(path, isForced: arguments.has("force"))
        let asks = draft.url == nil && isatty(STDIN_FILENO) == 1
        let name = file?.path ?? "standard output"
        let configuration =
            asks ? try InitialQuestions(draft: draft, file: name).ask() : try draft.complete(file: name)
        // Also what somebody has answered is looked at once more as a whole.
        let check = InitialCheck(configuration, file: name)
        if let refusal = check.refusal {
            throw CommandFailure(
                .invalidConfiguration,
                "the configuration is refused: \(refusal.message)",
                advice: refusal.hint
            )
        }
        guard let file else {
            Output.standard.write(configuration.text)
            Output.error.write(Diagnostic.render(check.warnings))
            return .done
        }
        let backup = try file.write(configuration.text)
        Output.error.write(Diagnostic.render(check.warnings))
        if let backup { Output.standard.write("What stood there is kept: \(safe(backup))\n") }
        let steps = InitialSteps(file: path, configuration: configuration)
        Output.standard.write("\(safe(path)): ok, 1 route: \(configuration.route)\n\n\(steps.text)")
        return .done
    }
}
