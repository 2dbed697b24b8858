import RelayBase
import RelayConfig
import RelayJSON
import RelayRoute
import Testing

@Suite("Reading a configuration")
struct ReadingTests {
    @Test("A key that the file leaves out has the default that the core documents")
    func defaults() throws {
        let result = read(#"{"routes": {"r": {"upstreams": [{"name": "u", "url": "https://U.Example"}]}}}"#)
        #expect(Diagnostic.render(result.diagnostics) == "")
        let configuration = try #require(result.configuration)
        #expect(configuration.limits.maxConnections == 512)
        #expect(configuration.limits.maxRequestBody == 16 << 20)
        #expect(configuration.limits.maxResponseBody == 16 << 20)
        #expect(configuration.limits.replayBuffer == 256 << 10)
        #expect(configuration.storage.directory == "/var/lib/waystation")
        #expect(configuration.storage.maxSize == 2 << 30)
        #expect(configuration.storage.sync == .full)
        #expect(configuration.storage.retention == Retention())
        #expect(configuration.limits.maxQueuedJobs == 100_000)
        #expect(configuration.log.level == .info)
        #expect(configuration.log.redactedHeaders == ["authorization", "cookie", "set-cookie", "x-api-key"])
        #expect(configuration.secrets.isEmpty)
        let policy = try #require(configuration.routes.first).policy
        let upstream = policy.upstreams[0]
        #expect(upstream.origin == .tcp(host: "u.example", port: 443, isTLS: true))
        #expect(upstream.basePath == "/")
        #expect(policy.maxAttempts == 10)
        #expect(policy.timeouts.total == Timeouts().total)
        #expect(policy.recovery.isEmpty)
        #expect(policy.success.statuses == .success)
        #expect(policy.authentication == nil)
        #expect(policy.delivery == DeliverySettings())
        #expect(policy.signing == nil)
        #expect(policy.idempotency.window == .seconds(86_400))
        #expect(policy.limits.body == 16 << 20)
    }

    @Test(
        "An attempt that nobody has bounded is no longer than all of them together",
        arguments: [
            (#""timeouts": {"total": "5s"}"#, 5.0, 5.0), (#""timeouts": {"total": "1m"}"#, 10, 60),
            (#""timeouts": {"total": "5s", "attempt": "2s"}"#, 2, 5),
            (#""timeouts": {"connect": "1s"}"#, 10, 30),
        ]
    )
    func attempt(_ text: String, _ attempt: Double, _ total: Double) throws {
        let file =
            "{\"routes\": {\"r\": {\"upstreams\": [{\"name\": \"u\", \"url\": \"https://u.example/\"}], \(text)}}}"
        let timeouts = try #require(read(file).configuration?.routes.first).policy.timeouts
        #expect(timeouts.attempt == .seconds(attempt))
        #expect(timeouts.total == .seconds(total))
    }

    @Test("Without listeners there are the two every installation has")
    func listeners() throws {
        let listeners = try #require(read("{}").configuration).listeners
        #expect(listeners.map(\.name) == ["jobs", "control"])
        #expect(listeners.map(\.role) == [.submit, .admin])
        #expect(
            listeners.map(\.address) == [
                .unix(path: "/run/waystation/jobs.sock", mode: 0o660, group: "waystation"),
                .unix(path: "/run/waystation/control.sock", mode: 0o600, group: nil),
            ]
        )
    }

    @Test("A route takes over the defaults key by key, and their rules only when it has none")
    func merging() throws {
        let configuration = try #require(
            read(
                #"""
                {"defaults": {"timeouts": {"connect": "1s", "attempt": "3s"}, "max_attempts": 5,
                   "recovery": [{"name": "d", "on": ["any"], "fail": {}}]},
                 "routes": {
                   "a": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "timeouts": {"attempt": "4s"}},
                   "b": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "max_attempts": 2,
                         "recovery": [{"name": "own", "on": ["503"], "retry": {}}]}}}
                """#
            ).configuration
        )
        let (first, second) = (configuration.routes[0].policy, configuration.routes[1].policy)
        #expect(first.timeouts.connect == .seconds(1))
        #expect(first.timeouts.attempt == .seconds(4))
        #expect(first.timeouts.total == .seconds(30))
        #expect(second.timeouts.attempt == .seconds(3))
        #expect([first.maxAttempts, second.maxAttempts] == [5, 2])
        #expect(first.recovery.map(\.name) == ["d"])
        #expect(second.recovery.map(\.name) == ["own"])
    }

    @Test("The effective configuration says of every value where it comes from")
    func effective() throws {
        let result = read(
            #"""
            {"defaults": {"timeouts": {"connect": "1s"},
               "recovery": [{"name": "d", "on": ["any"], "fail": {}}]},
             "routes": {"a": {"upstreams": [{"name": "u", "url": "https://u.example/"}],
               "timeouts": {"attempt": "4s"}}}}
            """#
        )
        let entries = try #require(result.effective).entries
        let origins = { (pointer: String) in
            entries.filter { $0.pointer == pointer }.map { "\($0.value) \($0.origin)" }
        }
        #expect(origins("/routes/a/timeouts/attempt") == [#""4s" t.json:4"#])
        #expect(origins("/routes/a/timeouts/connect") == [#""1s" defaults.timeouts"#])
        #expect(origins("/routes/a/timeouts/total") == [#""30s" default"#])
        #expect(origins("/routes/a/recovery/0/name") == [#""d" defaults.recovery"#])
        #expect(origins("/routes/a/upstreams/0/use") == [#""always" default"#])
        #expect(origins("/limits/max_connections") == ["512 default"])
        #expect(origins("/listeners").count == 1)
        #expect(Set(entries.map(\.pointer)).count == entries.count)
        let text = try #require(result.effective).text()
        #expect(text.contains("/routes/a/timeouts/connect = \"1s\"  (defaults.timeouts)\n"))
    }

    @Test(
        "A file is read alike with and without its effective configuration",
        arguments: ["config/waystation.json", "config/waystation.example.json"]
    )
    func unasked(path: String) {
        let results = [false, true].map { notesValues in
            ConfigurationReader.read(
                packageFile(path),
                file: "x",
                accounts: testAccounts,
                wallSeconds: testSeconds,
                notesValues: notesValues
            )
        }
        #expect(results.map { $0.effective == nil } == [true, false])
        #expect("\(results[0].configuration as Any)" == "\(results[1].configuration as Any)")
    }

    @Test("No value is listed twice, and nothing inside a list comes from the defaults")
    func effectiveExample() throws {
        let example = packageFile("config/waystation.example.json")
        let result = ConfigurationReader.read(
            example,
            file: "x",
            accounts: testAccounts,
            wallSeconds: testSeconds,
            notesValues: true
        )
        let entries = try #require(result.effective).entries
        #expect(Set(entries.map(\.pointer)).count == entries.count)
        let inherited = entries.filter { $0.origin == "defaults.recovery" }.map(\.pointer)
        #expect(!inherited.isEmpty)
        #expect(!inherited.contains { $0.hasPrefix("/routes/billing/") })
    }

    @Test("Credentials become definitions, shared or the route's own")
    func credentials() throws {
        let configuration = try #require(
            ConfigurationReader.read(
                packageFile("config/waystation.example.json"),
                file: "x",
                accounts: testAccounts,
                wallSeconds: testSeconds
            ).configuration
        )
        let names = configuration.credentials.map(\.name)
        #expect(names == ["books", "route:billing", "route:partner-hooks", "route:sign-in", "route:sidecar"])
        let forms = configuration.routes.map { $0.policy.authentication?.form }
        #expect(
            forms == [
                .bearer, .bearer, nil, .header(name: "X-Api-Key"), .basic(username: "shop"), nil, .bearer,
                nil, nil,
            ]
        )
        guard case .oauth2(let settings) = configuration.credentials[1].kind else {
            Issue.record("no OAuth2 credential")
            return
        }
        #expect(settings.endpoint.origin == .tcp(host: "login.billing.example", port: 443, isTLS: true))
        #expect(settings.target == "/oauth2/token")
        #expect(settings.scopes == ["charges.write"])
        #expect(settings.clientSecret == .credential("billing-client-secret"))
    }

    @Test("Rules become actions with everything the file says about them")
    func rules() throws {
        let rules = try #require(
            read(
                #"""
                {"routes": {"r": {
                  "upstreams": [{"name": "a", "url": "https://a.example/"}, {"name": "b", "url": "https://b.example/"}],
                  "auth": {"type": "oauth2_client_credentials", "token_url": "https://l.example/t", "client_id": "i",
                           "client_secret": {"file": "/s"}},
                  "recovery": [
                    {"name": "schedule", "on": ["5xx"], "retry": {"schedule": ["1s", "2s"], "jitter_percent": 20}},
                    {"name": "plain", "on": ["timeout"], "retry": {"honor_retry_after": false, "methods": "any"}},
                    {"name": "constant", "on": ["dns"], "retry": {"backoff": {"type": "constant", "base_interval": "1s"}}},
                    {"name": "refresh", "on": ["401"], "refresh_credentials": {"max_times": 2}},
                    {"name": "other", "on": ["exhausted"], "failover": {"upstream": "b"}},
                    {"name": "answer", "on": ["404"],
                     "respond": {"as": "placeholder", "status": 200, "json": [1], "and": "keep"}},
                    {"name": "end", "on": ["any"], "fail": {}}]}}}
                """#
            ).configuration
        ).routes[0].policy.recovery
        #expect(rules.map(\.name) == ["schedule", "plain", "constant", "refresh", "other", "answer", "end"])
        guard case .retry(let schedule) = rules[0].action, case .retry(let plain) = rules[1].action,
            case .retry(let constant) = rules[2].action,
            case .refreshCredentials(maxTimes: 2) = rules[3].action,
            case .failover(upstream: 1, methods: .idempotentOrKeyed) = rules[4].action,
            case .respond(let answer) = rules[5].action,
            case .fail = rules[6].action
        else {
            Issue.record("other actions")
            return
        }
        #expect(schedule.maxAttempts == 3)
        #expect(schedule.backoff.schedule == .list([.seconds(1), .seconds(2)]))
        #expect(schedule.backoff.jitter == .percent(20))
        #expect(plain.maxAttempts == 3)
        #expect(plain.backoff.jitter == .full)
        #expect(!plain.honorsRetryAfter)
        #expect(plain.methods == .any)
        #expect(constant.backoff.schedule == .constant(.seconds(1)))
        #expect(constant.backoff.jitter == .none)
        #expect(answer.source == .placeholder)
        #expect(rules.map(\.keepsRequest) == [false, false, false, false, false, true, false])
        #expect(answer.body == Array("[1]".utf8))
        #expect(answer.fields.map(\.name) == ["Content-Type"])
        #expect(rules[0].on == FailureMatcher([.statusClass(.serverError)]))
    }

    @Test("An address that is not public may be dialled when its range is allowed")
    func allowedAddresses() throws {
        let configuration = try #require(
            read(
                #"""
                {"routes": {"r": {"allow_addresses": ["127.0.0.0/8", "::1/128"], "upstreams": [
                  {"name": "a", "url": "http://127.0.0.1:9000/x"}, {"name": "b", "url": "http://[::1]/"},
                  {"name": "c", "url": "http://[::ffff:127.0.0.1]/"}, {"name": "d", "url": "http://localhost/"},
                  {"name": "e", "unix": "/run/e.sock", "use": "failover_only"}]}}}
                """#
            ).configuration
        )
        let upstreams = configuration.routes[0].policy.upstreams
        #expect(upstreams[0].basePath == "/x/")
        #expect(upstreams[1].origin == .tcp(host: "::1", port: 80, isTLS: false))
        #expect(upstreams[4].origin == .unix(path: "/run/e.sock"))
        #expect(upstreams[4].use == .failoverOnly)
        #expect(upstreams[0].allowedAddresses.count == 2)
    }

    @Test("Users and groups are looked up, or given by number")
    func accounts() throws {
        let configuration = try #require(
            read(
                #"""
                {"routes": {"r": {"upstreams": [{"name": "u", "url": "https://u.example/"}],
                  "allow_users": ["www-data", 7], "allow_groups": ["adm"]}}}
                """#
            ).configuration
        )
        #expect(configuration.routes[0].policy.callers.users == [33, 7])
        #expect(configuration.routes[0].policy.callers.groups == [4])
    }

    @Test("Comments may stand in every object and change nothing")
    func comments() {
        let text =
            #"{"$comment": 1, "limits": {"$comment": []}, "routes": {"$comment": "x", "r": {"$comment": {"a": 1}, "upstreams": "#
            + #"[{"$comment": "x", "name": "u", "url": "https://u.example/"}]}}}"#
        #expect(read(text).diagnostics.isEmpty)
    }
}
