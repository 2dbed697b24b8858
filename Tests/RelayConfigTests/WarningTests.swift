import RelayConfig
import Testing

/// A route that is accepted and does not do what it looks like, and the ones beside it that do.
struct MisleadingRoute: Sendable, CustomTestStringConvertible {
    var name: String
    var members: String
    /// Lines of the form `severity: message  [pointer] => hint`.
    var warning: String
    var nearMisses: [String]

    var testDescription: String { name }
}

@Suite("A check's words on a route that is accepted")
struct WarningTests {
    private func said(_ members: String) -> [String] {
        let text = members.contains("\"upstreams\"") ? members : #""upstreams": [\#(first)], \#(members)"#
        let result = read(#"{"credentials": {"c": \#(credential)}, "routes": {"r": {\#(text)}}}"#)
        return result.diagnostics.map { found in
            let hint = found.hint.map { " => \($0)" } ?? ""
            return "\(found.severity.rawValue): \(found.message)  [\(found.pointer)]\(hint)"
        }
    }

    @Test("It warns, once, where it is, and with a way out", arguments: misleadingRoutes)
    func warning(_ route: MisleadingRoute) {
        #expect(said(route.members) == ["warning: " + route.warning])
    }

    @Test("It says nothing of what is nearly the same and right", arguments: misleadingRoutes)
    func quiet(_ route: MisleadingRoute) {
        for members in route.nearMisses { #expect(said(members) == [], "\(members)") }
    }
}

private let first = #"{"name": "u", "url": "https://u.example/"}"#
private let second = #"{"name": "v", "url": "https://v.example/", "use": "failover_only"}"#
private let credential = #"""
    {"type": "oauth2_client_credentials", "token_url": "https://t.example/", "client_id": "i",
     "client_secret": {"credential": "s"}}
    """#
private let bearer = #""auth": {"type": "bearer", "credential": "c", "refresh_on_401": false}"#
private let keyHint =
    #"write "idempotency": {"generate": true} if the upstream knows such keys, false if callers send them"#

private let misleadingRoutes: [MisleadingRoute] = [
    MisleadingRoute(
        name: "An upstream that no rule enters",
        members: #""upstreams": [\#(first), \#(second)], "recovery": []"#,
        warning:
            "no rule leads to this upstream, so that nothing is ever sent to it  [/routes/r/upstreams/1] => "
            + #"add {"name": "to-v", "on": ["connection", "timeout"], "failover": {"upstream": "v"}} to "recovery""#,
        nearMisses: [
            #""upstreams": [\#(first), \#(second)], "recovery": [{"name": "x", "on": ["any"], "#
                + #""failover": {"upstream": "v"}}]"#
        ]
    ),
    MisleadingRoute(
        name: "A failover to the first upstream",
        members: #""upstreams": [\#(first), \#(second)], "recovery": [{"name": "x", "on": ["502"], "#
            + #""failover": {"upstream": "v"}}, {"name": "y", "on": ["503"], "failover": {"upstream": "u"}}]"#,
        warning: "this rule never acts: a job is never sent back to the first upstream  "
            + #"[/routes/r/recovery/1/failover/upstream] => write "v""#,
        nearMisses: [
            #""upstreams": [\#(first), \#(second)], "recovery": [{"name": "x", "on": ["502"], "#
                + #""failover": {"upstream": "v"}}, {"name": "y", "on": ["503"], "failover": {"upstream": "v"}}]"#
        ]
    ),
    MisleadingRoute(
        name: "An error document that a failure of its own was meant for",
        members: #""api_error": {"require": ["/error"]}, "#
            + #""success": {"fail": [{"json": "/error/code", "equals": 7, "kind": "seven"}]}"#,
        warning: "api_error, which is asked first, takes answers with /error and makes them api_error  "
            + #"[/routes/r/success/fail/0/json] => name the failure in "error_types" by its "api_code", "#
            + "or remove one of the two",
        nearMisses: [
            #""api_error": {"require": ["/error"]}, "#
                + #""success": {"fail": [{"json": "/errors", "exists": true, "kind": "some"}]}"#,
            #""api_error": {"require": ["/error"], "statuses": ["4xx"]}, "#
                + #""success": {"fail": [{"json": "/error", "exists": true, "kind": "some"}]}"#,
            #""api_error": {"require": ["/error"]}, "#
                + #""success": {"fail": [{"json": "/error", "exists": false, "kind": "none"}]}"#,
            #""api_error": {"require": ["/error/code"]}, "#
                + #""success": {"fail": [{"json": "/error", "exists": true, "kind": "bare"}]}"#,
        ]
    ),
    MisleadingRoute(
        name: "A credential that could be fetched again and is not",
        members: #"\#(bearer), "recovery": [{"name": "x", "on": ["401", "503"], "retry": {}}]"#,
        warning: "nothing fetches the credential anew when the upstream refuses it  "
            + #"[/routes/r/auth/refresh_on_401] => remove it, or add a rule with "refresh_credentials" "#
            + #"or one that ends a request on "401""#,
        nearMisses: [
            #"\#(bearer), "recovery": [{"name": "x", "on": ["403"], "refresh_credentials": {}}]"#,
            #"\#(bearer), "recovery": [{"name": "x", "on": ["401"], "fail": {}}]"#,
            #""auth": {"type": "bearer", "credential": "c"}, "recovery": []"#,
        ]
    ),
    MisleadingRoute(
        name: "A retry that does not send a POST again",
        members: #""request": {"wrap": "/data"}, "recovery": [{"name": "x", "on": ["504"], "retry": {}}]"#,
        warning:
            "a POST without a key is not sent again by this rule once the upstream may have acted on it  "
            + #"[/routes/r/recovery/0/retry] => \#(keyHint); "methods" here says which requests may be repeated"#,
        nearMisses: [
            #""recovery": [{"name": "x", "on": ["504"], "retry": {}}]"#,
            #""request": {"wrap": "/data"}, "recovery": [{"name": "x", "on": ["429"], "retry": {}}]"#,
            #""request": {"wrap": "/data"}, "recovery": [{"name": "x", "on": ["504"], "#
                + #""retry": {"methods": "idempotent_or_keyed"}}]"#,
            #""request": {"wrap": "/data"}, "idempotency": {"generate": true}, "#
                + #""recovery": [{"name": "x", "on": ["504"], "retry": {}}]"#,
        ]
    ),
    MisleadingRoute(
        name: "A wait beyond the time there is",
        members: #""timeouts": {"total": "20s"}, "recovery": [{"name": "x", "on": ["503"], "#
            + #""retry": {"schedule": ["1s", "30s"]}}]"#,
        warning: "a request ends after 20s (timeouts.total), so that it never waits this long  "
            + #"[/routes/r/recovery/0/retry/schedule/1] => shorten the wait, or raise "timeouts.total""#,
        nearMisses: [
            #""timeouts": {"total": "20s"}, "recovery": [{"name": "x", "on": ["503"], "#
                + #""retry": {"schedule": ["1s", "19s"], "max_retry_after": "60s"}}]"#,
            #""timeouts": {"total": "20s"}, "delivery": {"expires_after": "1d"}, "recovery": "#
                + #"[{"name": "x", "on": ["503"], "retry": {"schedule": ["1s", "30s"]}}]"#,
        ]
    ),
    MisleadingRoute(
        name: "A constant wait beyond the time there is",
        members: #""timeouts": {"total": "20s"}, "recovery": [{"name": "x", "on": ["503"], "#
            + #""retry": {"backoff": {"type": "constant", "base_interval": "20s"}}}]"#,
        warning: "a request ends after 20s (timeouts.total), so that it never waits this long  "
            + #"[/routes/r/recovery/0/retry/backoff/base_interval] => shorten the wait, or raise "timeouts.total""#,
        nearMisses: [
            #""timeouts": {"total": "20s"}, "recovery": [{"name": "x", "on": ["503"], "#
                + #""retry": {"backoff": {"base_interval": "5s", "max_interval": "60s"}}}]"#
        ]
    ),
    MisleadingRoute(
        name: "Kept jobs that are given up at the first doubt",
        members: #""delivery": {"mode": "durable"}"#,
        warning:
            "a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or late  "
            + #"[/routes/r/delivery/mode] => \#(keyHint)"#,
        nearMisses: [
            #""delivery": {"mode": "durable"}, "idempotency": {"generate": true}"#,
            #""delivery": {"mode": "durable"}, "idempotency": {"generate": false}"#,
            #""delivery": {"mode": "durable"}, "prepare": [{"each": "job", "#
                + #""set_header": {"Idempotency-Key": "{job.id}"}}]"#,
            #""delivery": {"mode": "durable"}, "signing": {"type": "standard_webhooks", "#
                + #""secrets": [{"credential": "s"}]}"#,
            #""delivery": {"mode": "durable"}, "recovery": [{"name": "x", "on": ["any"], "#
                + #""retry": {"methods": "any"}}]"#,
            #""delivery": {"mode": "durable"}, "recovery": [{"name": "x", "on": ["any"], "hold": {}}]"#,
        ]
    ),
]
