import RelayConfig
import RelayJSON
import Testing

@testable import waystation

@Suite("waystation init")
struct InitTests {
    private func configuration(_ words: [String]) throws -> InitialConfiguration {
        let arguments = try Arguments(words, of: "init", options: Command.`init`.options)
        return try InitialDraft(arguments).complete(file: "new.json")
    }

    private func route(_ words: [String]) throws -> JSONValue {
        let text = try configuration(words).text
        return try #require(try JSONValue(parsing: Array(text.utf8))["routes"]?["example"])
    }

    @Test(
        "a route is named after its upstream's host",
        arguments: [
            ("https://api.billing.example/v1/", "billing"), ("https://example.com/", "example"),
            ("https://foo.co.uk/", "foo"), ("https://hooks.hp.com", "hp"),
            ("http://localhost:9000/", "localhost"),
            ("http://192.0.2.1/", "upstream"), ("http://[2001:db8::1]/", "upstream"),
            ("https://com.br", "com"),
            ("https://_x.example/", "upstream"), ("no url", "upstream"), ("", "upstream"),
            ("https://\(String(repeating: "a", count: 63)).example/", String(repeating: "a", count: 63)),
        ]
    )
    func name(url: String, name: String) { #expect(InitialConfiguration.usualRoute(url) == name) }

    @Test(
        "each kind of credential is written as the configuration has it, and without a secret",
        arguments: [
            (["--auth", "bearer"], #"{"type":"bearer","token":{"credential":"example-token"}}"#),
            (
                ["--auth", "basic", "--user", "a\"b"],
                #"{"type":"basic","username":"a\"b","password":{"credential":"example-password"}}"#
            ),
            (
                ["--auth", "header", "--secret", "/run/keys/k"],
                #"{"type":"header","name":"X-Api-Key","value":{"file":"/run/keys/k"}}"#
            ),
            (
                ["--auth", "header", "--header", "X-Key", "--secret", "k"],
                #"{"type":"header","name":"X-Key","value":{"credential":"k"}}"#
            ),
            (
                [
                    "--auth", "oauth2_client_credentials", "--token-url", "https://l.example/t",
                    "--client-id", "shop",
                ],
                #"{"type":"oauth2_client_credentials","token_url":"https://l.example/t","client_id":"shop","#
                    + #""client_secret":{"credential":"example-client-secret"}}"#
            ),
            (
                [
                    "--auth", "oauth2_refresh_token", "--token-url", "https://l.example/t", "--client-id",
                    "shop",
                ],
                #"{"type":"oauth2_refresh_token","token_url":"https://l.example/t","client_id":"shop","#
                    + #""refresh_token":{"credential":"example-refresh-token"}}"#
            ),
        ]
    )
    func credential(words: [String], auth: String) throws {
        let words = ["https://example.com/"] + words
        #expect(try route(words)["auth"] == JSONValue(parsing: Array(auth.utf8)))
        #expect(InitialCheck(try configuration(words), file: "new.json").warnings == [])
    }

    @Test("what is kept goes on for as long as kept jobs do, and nothing of it is warned of")
    func durable() throws {
        let words = ["https://example.com/", "--durable"]
        #expect(try route(words)["delivery"]?["mode"]?.text == "durable")
        #expect(try route(words)["recovery"] == nil)
        #expect(try route(words)["idempotency"]?["generate"] == .bool(false))
        #expect(try route(words + ["--generate-keys"])["idempotency"]?["generate"] == .bool(true))
        #expect(InitialCheck(try configuration(words), file: "new.json").warnings == [])
    }

    @Test(
        "what the reader of configurations refuses is refused in its words, with the option it is about",
        arguments: [
            (["ftp://x"], "the URL is refused: the URL must begin with https:// or http://"),
            ([""], "the URL is refused: the URL must begin with https:// or http://"),
            (["https://x y/"], "the URL is refused: not a URL: only visible ASCII"),
            (["https://u:secret@x/"], "the URL is refused: a user name or password may not stand in the URL"),
            (
                ["https://x/?key=secret"],
                "the URL is refused: a query may not stand in the URL of an upstream"
            ),
            (
                ["http://localhost/"],
                "the URL is refused: the host is this machine, which the relay does not dial"
            ),
            (["https://x/", "--route", "Bad"], "--route is refused: a name has only lower-case letters"),
            (["https://x/", "--route", ""], "--route is refused: a name has only lower-case letters"),
            (
                ["https://x/", "--route", "a/upstreams/0/url"],
                "--route is refused: a name has only lower-case"
            ),
            (["https://x/", "--auth", "digest"], "--auth takes none, bearer, basic, header"),
            (["https://x/", "--route", "a\"b"], "--route is refused: a name has only lower-case"),
            (["https://x/\"y"], "the URL is refused: not a URL"),
            (
                ["api.x.example"],
                "the URL is refused: the URL must begin with https:// or http:// (write https:// before it)"
            ),
            (["https://x/", "--auth", "basic"], "--auth basic needs --user"),
            (
                ["https://x/", "--auth", "basic", "--user", "a:b"],
                "--user is refused: a user name has no colon"
            ),
            (["https://x/", "--user", "a"], "--user says nothing to --auth none"),
            (["https://x/", "--secret", "a"], "--secret says nothing to --auth none"),
            (
                ["https://x/", "--auth", "bearer", "--secret", "a b"],
                "--secret is refused: not the name of a"
            ),
            (["https://x/", "--auth", "bearer", "--secret", ""], "--secret is refused: not the name of a"),
            (
                ["https://x/", "--auth", "header", "--header", "a b"],
                "--header is refused: not a valid header name"
            ),
            (
                ["https://x/", "--auth", "oauth2_refresh_token", "--token-url", "x", "--client-id", "a"],
                "--token-url is refused: the URL must begin with"
            ),
            (["https://x/", "--allow-addresses", "all"], "--allow-addresses is refused:"),
            (["https://x/", "https://y/"], "there is one word too many"), ([], "which upstream?"),
        ]
    )
    func refused(words: [String], message: String) {
        let failure = #expect(throws: CommandFailure.self) { try configuration(words) }
        #expect(failure?.code == .usage)
        #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
        #expect(
            failure?.message.contains("secret@") == false && failure?.message.contains("=secret") == false
        )
    }

    @Test("an address that is not public is dialled where that is said")
    func allowed() throws {
        let failure = #expect(throws: CommandFailure.self) { try configuration(["http://10.1.2.3/"]) }
        #expect(failure?.advice == "If it is meant: --allow-addresses 10.0.0.0/8")
        let words = ["http://10.1.2.3/", "--route", "example", "--allow-addresses", "10.1.2.3/32"]
        #expect(try route(words)["allow_addresses"]?.elements.compactMap(\.text) == ["10.1.2.3/32"])
    }

    @Test("what is left to do names the secret, the daemon and the route")
    func steps() throws {
        var steps = InitialSteps(
            file: InitialSteps.usualFile,
            configuration: try configuration(["https://a.example/", "--auth", "bearer"])
        )
        steps.root = "sudo "
        #expect(
            steps.text == """
                Put the token where systemd finds it, for nobody else to read; it is read until Ctrl-D:
                  sudo install -D -m 600 /dev/stdin /etc/waystation/secrets/a-token
                Have systemd give it to the daemon, with these lines in: sudo systemctl edit waystationd
                  [Service]
                  LoadCredential=a-token:/etc/waystation/secrets/a-token
                Start it; one that runs already reads the file by the second command:
                  sudo systemctl enable --now waystationd.socket waystationd-control.socket waystationd
                  sudo systemctl restart waystationd
                Send, as root or a member of the group waystation:
                  curl --unix-socket /run/waystation/jobs.sock http://relay/r/a/
                  waystation send a

                """
        )
        let other = InitialSteps(file: "my file", configuration: try configuration(["https://a.example/"]))
        #expect(other.text.hasPrefix("Start it:\n  waystationd --config 'my file'\n"))
    }
}
