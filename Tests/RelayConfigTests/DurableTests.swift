import RelayBase
import RelayConfig
import RelayJSON
import RelayRoute
import Testing

@Suite("Jobs that are kept")
struct DurableTests {
    private let text =
        #"""
        {"storage": {"directory": "/srv/w", "max_size": "64MiB",
           "retention": {"succeeded": "1h", "dead": "90d", "bodies": "2d"}},
         "limits": {"max_queued_jobs": 5},
         "routes": {"hooks": {
           "upstreams": [{"name": "u", "url": "https://u.example/"}],
           "delivery": {"mode": "durable", "expires_after": "3d", "ordering": "route", "max_attempts": 12,
             "keep_requests": "on_failure", "keep_responses": "never"},
           "signing": {"type": "standard_webhooks", "secrets": [{"credential": "new"}, {"file": "/old"}]},
           "idempotency": {"window": "30d"},
           "recovery": [
             {"name": "gone", "on": ["410"], "pause_route": {"reason": "the receiver answered 410 Gone"}},
             {"name": "odd", "on": ["409"], "hold": {}},
             {"name": "rejected", "on": ["4xx"], "dead_letter": {}},
             {"name": "later", "on": ["any"], "retry": {"schedule": ["5s", "5m"]}}]}}}
        """#

    @Test("A file says how the disk is used, and how long jobs that are over are kept")
    func storage() throws {
        let result = read(text)
        #expect(Diagnostic.render(result.diagnostics) == "")
        let configuration = try #require(result.configuration)
        #expect(configuration.storage.directory == "/srv/w")
        #expect(configuration.storage.maxSize == 64 << 20)
        #expect(configuration.storage.retention.succeeded == .seconds(3600))
        #expect(configuration.storage.retention.dead == .seconds(90 * 86_400))
        #expect(configuration.storage.retention.bodies == .seconds(2 * 86_400))
        #expect(configuration.limits.maxQueuedJobs == 5)
        let off = read(#"{"storage": {"sync": "off"}, "routes": {}}"#)
        #expect(off.configuration?.storage.sync == .off)
    }

    @Test("How a route delivers, signs, and knows a key")
    func delivery() throws {
        let policy = try #require(read(text).configuration?.routes.first).policy
        var expected = DeliverySettings()
        expected.mode = .durable
        expected.expiresAfter = .seconds(3 * 86_400)
        expected.ordering = .route
        expected.maxAttempts = 12
        expected.keepsRequests = .onFailure
        expected.keepsResponses = .never
        #expect(policy.delivery == expected)
        #expect(policy.signing == SigningSettings(secrets: [.credential("new"), .file("/old")]))
        #expect(policy.idempotency.window == .seconds(30 * 86_400))
    }

    @Test(
        "Jobs of a route without a list of rules are delivered later, and a list that lets an outage pass is warned of",
        arguments: [
            ("", true, false), (#", "recovery": []"#, false, true),
            (#", "recovery": [{"name": "r", "on": ["503"], "retry": {}}]"#, false, true),
            (#", "recovery": [{"name": "r", "on": ["connection"], "retry": {}}]"#, false, false),
            (#", "recovery": [{"name": "r", "on": ["any"], "hold": {}}]"#, false, false),
        ]
    )
    func reach(recovery: String, isLater: Bool, isWarned: Bool) throws {
        let result = read(
            #"{"routes": {"r": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "#
                + #""delivery": {"mode": "durable"}\#(recovery)}}}"#
        )
        let policy = try #require(result.configuration?.routes.first).policy
        #expect(policy.deliversLater == isLater)
        #expect(Diagnostic.render(result.diagnostics).contains("cannot be reached") == isWarned)
    }

    @Test("The actions that only jobs on disk can take")
    func actions() throws {
        let rules = try #require(read(text).configuration?.routes.first).policy.recovery
        guard case .pauseRoute("the receiver answered 410 Gone") = rules[0].action,
            case .hold = rules[1].action, case .deadLetter = rules[2].action, case .retry = rules[3].action
        else {
            Issue.record("other actions: \(rules.map(\.action))")
            return
        }
    }

    @Test("Signing secrets are among those the daemon reads before it uses the file, each with its place")
    func secrets() throws {
        let secrets = try #require(read(text).configuration).secrets
        #expect(
            secrets.map(\.pointer.text) == [
                "/routes/hooks/signing/secrets/0", "/routes/hooks/signing/secrets/1",
            ]
        )
        #expect(secrets.map(\.reference) == [.credential("new"), .file("/old")])
        #expect(secrets.map(\.position.line) == [8, 8])
    }

    @Test("A route that keeps nothing unasked has the same settings for those that are asked")
    func asked() throws {
        let result = read(
            #"""
            {"routes": {"r": {"upstreams": [{"name": "u", "url": "https://u.example/"}],
              "delivery": {"expires_after": "1s"},
              "recovery": [{"name": "n", "on": ["any"], "respond": {"as": "fallback", "status": 503}},
                           {"name": "d", "on": ["any"], "dead_letter": {}}]}}}
            """#
        )
        #expect(Diagnostic.render(result.diagnostics) == "")
        let policy = try #require(result.configuration?.routes.first).policy
        #expect(policy.delivery.mode == .sync)
        #expect(policy.delivery.expiresAfter == .seconds(1))
    }

    @Test("Rules below one that answers and keeps are those of the kept jobs, whatever their waits")
    func keeping() throws {
        func rules(_ and: String, _ below: String) -> ReadResult {
            let answer =
                #"{"name": "n", "on": ["any"], "respond": {"as": "placeholder", "status": 200\#(and)}}"#
            return read(
                #"""
                {"routes": {"r": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "max_attempts": 100,
                  "recovery": [\#(answer)\#(below)]}}}
                """#
            )
        }
        let later = #", {"name": "l", "on": ["any"], "retry": {"schedule": ["1h", "5h"]}}"#
        let kept = rules(#", "and": "keep""#, later)
        #expect(Diagnostic.render(kept.diagnostics) == "")
        #expect(kept.configuration?.routes.first?.policy.deliversLater == false)
        #expect(Diagnostic.render(rules("", later).diagnostics).contains("never reached"))
        let alone = rules(#", "and": "keep""#, "")
        #expect(Diagnostic.render(alone.diagnostics) == "")
        #expect(alone.configuration?.routes.first?.policy.deliversLater == true)
        #expect(rules("", "").configuration?.routes.first?.policy.deliversLater == false)
        let again = #", {"name": "m", "on": ["any"], "respond": {"as": "placeholder", "status": 200}}"#
        #expect(Diagnostic.render(rules(#", "and": "keep""#, again).diagnostics).contains("never reached"))
    }

    @Test("The effective configuration shows all of it, so that a reload sees what changed")
    func effective() throws {
        let entries = try #require(read(text).effective).entries
        let values = { (pointer: String) in
            entries.filter { $0.pointer == pointer }.map { "\($0.value) \($0.origin)" }
        }
        #expect(values("/storage/sync") == [#""full" default"#])
        #expect(values("/storage/max_size") == [#""64MiB" t.json:1"#])
        #expect(values("/routes/hooks/delivery/ordering") == [#""route" t.json:6"#])
        #expect(values("/routes/hooks/signing/secrets/0/credential") == [#""new" t.json:8"#])
        #expect(values("/routes/hooks/recovery/0/pause_route/reason").count == 1)
    }
}
