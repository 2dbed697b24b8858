import RelayBase
import RelayConfig
import RelayJSON
import Testing

@Suite("Secrets in a configuration")
struct SecretTests {
    /// Every way in which an operator may put a secret where it does not belong.
    static let slips = [
        #""auth": {"type": "bearer", "token": "hunter2"}"#,
        #""auth": {"type": "bearer", "token": ["hunter2"]}"#,
        #""auth": {"type": "bearer", "token": {"credential": "hunter2", "value": "hunter2"}}"#
            .replacing("\"credential\": \"hunter2\"", with: "\"credential\": \"x\""),
        #""auth": {"type": "bearer", "token": {"value": "hunter2"}}"#,
        #""auth": {"type": "bearer", "tokken": "hunter2"}"#,
        #""auth": {"type": "unknown", "x": "hunter2", "y": ["hunter2"], "z": {"a": "hunter2"}}"#,
        #""auth": {"secret": "hunter2"}"#,
        #""auth": "Bearer hunter2""#,
        #""auth": ["hunter2"]"#,
        #""authentication": {"bearer": "hunter2"}"#,
        #""auth": {"type": "basic", "username": "u", "password": "hunter2"}, "max_attempts": 0"#,
        #""auth": {"type": "basic", "username": "u", "password": "hunter2", "password": "hunter2"}"#,
        #""auth": {"type": "header", "name": "X-Api-Key", "value": "hunter2" "#,
        #""auth": {"type": "header", "name": "X-Api-Key", "value": "hunter2}"#,
        #""auth": {"type": "header", "name": "X-Api-Key", "value": hunter2}"#,
        #""auth": {"type": "header", "name": "X-Api-Key", "value" "hunter2"}"#,
        #""auth": {"type": "header", "name": "X-Api-Key", "value": 'hunter2'}"#,
        #""request": {"headers": {"set": {"Authorization": "hunter2"}}}"#,
        #""request": {"headers": {"set": {"X-Key": "hunter2", "Host": "hunter2"}}}"#,
        #""request": {"headers": {"set": {"X-Key": 1, "X-Other": "hunter2"}}}"#,
        #""prepare": [{"each": "job", "set_header": {"X-Key": "{hunter2"}}]"#,
        #""upstreams2": [{"url": "https://u:hunter2@h/"}]"#,
        #""hook": "https://h.example/x?hunter2""#,
        #""hook": "https://h.example/services/T0/hunter2""#,
        #""hook": "https://hunter2hunter2hunter2.example/""#,
        #""hook": "https://h.example:hunter2/""#,
        #""hook": "hunter2://h.example/""#,
        #""retries": ["5s", {"deep": "hunter2"}]"#,
        #""passphrase": "5s hunter2""#,
    ]

    @Test("No message, excerpt or hint repeats one, whatever is wrong", arguments: slips)
    func neverEchoed(_ slip: String) {
        let result = read(BrokenRow(.route, slip, []).file)
        #expect(result.configuration == nil)
        #expect(!Diagnostic.render(result.diagnostics).contains("hunter2"))
        #expect(!String(decoding: Diagnostic.json(result.diagnostics), as: UTF8.self).contains("hunter2"))
    }

    @Test(
        "Nor where the file is of another language",
        arguments: [
            "{'token': 'hunter2'}", #"{token: "hunter2"}"#, #"{token : 'hunter2', "x": 1}"#,
            #"{"token": 'hunter2'}"#, "{\"token\": \"hunter2\" // don't tell\n}",
        ]
    )
    func strangeFile(file: String) {
        let text = Diagnostic.render(read(file).diagnostics)
        #expect(text.contains("error") && !text.contains("hunter2"), "\(text)")
    }

    @Test("An excerpt shows the rest of the line, and its caret still stands right")
    func excerpt() {
        let result = read(
            BrokenRow(.route, #""auth": {"type": "bearer", "token": "hunter2"}, "x": 1"#, []).file
        )
        let expected = """
             2 | "auth": {"type": "bearer", "token": "***"}, "x": 1
               |                                             ^~~
            """
        #expect(result.diagnostics.last?.render().contains(expected) == true)
    }

    /// Members that an operator has to see to recognise the slip.
    static let harmless = [
        #""time_out": "5s""#, #""timeouts": {"overall": "1h30m"}"#, #""buffer": "16MiB""#, #""keep": true"#,
        #""tries": 4"#, #""base": "https://eu.billing.example:8443/api/v1/""#, #""when": ["timeout", "5xx"]"#,
        #""used": "failover_only""#, #""deliver": {"kind": "durable"}"#,
    ]

    @Test("A value that can be no secret is shown under an unknown key too", arguments: harmless)
    func shown(_ slip: String) {
        let result = read(BrokenRow(.route, slip, []).file)
        let text = Diagnostic.render(result.diagnostics)
        #expect(result.configuration == nil && text.contains(slip) && !text.contains("***"))
    }

    @Test("A key that sounds like one hides even such a value")
    func soundsLikeOne() {
        for slip in [
            #""secret_word": "timeout""#, #""x": {"my_token": "5s", "password": "https://h.example/"}"#,
        ] {
            let text = Diagnostic.render(read(BrokenRow(.route, slip, []).file).diagnostics)
            #expect(text.contains("***") && !text.contains("timeout\"") && !text.contains("5s"))
            #expect(!text.contains("https://h.example/\"}"))
        }
    }

    @Test("Every reference is listed for the daemon to resolve, with its place")
    func references() throws {
        let result = read(
            #"""
            {"credentials": {"c": {"type": "oauth2_refresh_token", "token_url": "https://l.example/t?x=1",
               "client_id": "i", "client_secret": {"file": "/s"}, "refresh_token": {"credential": "r"}}},
             "routes": {"a": {"upstreams": [{"name": "u", "url": "https://u.example/"}],
               "auth": {"type": "bearer", "token": {"env": "T"}}}}}
            """#
        )
        let configuration = try #require(result.configuration)
        #expect(configuration.secrets.map(\.reference) == [.file("/s"), .credential("r"), .environment("T")])
        #expect(
            configuration.secrets.map(\.pointer.text) == [
                "/credentials/c/client_secret", "/credentials/c/refresh_token", "/routes/a/auth/token",
            ]
        )
        #expect(configuration.secrets.map(\.position.line) == [2, 2, 4])
    }
}
