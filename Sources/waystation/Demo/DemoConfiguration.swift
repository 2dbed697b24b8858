/// The demo's configuration: one route for each fault of the upstream.
struct DemoConfiguration {
    let directory: String
    let port: UInt16
    let refusingPort: UInt16

    var jobsSocket: String { directory + "/jobs.sock" }
    var controlSocket: String { directory + "/control.sock" }
    var file: String { directory + "/waystation.json" }
    var secretFile: String { directory + "/client-secret" }

    var text: String {
        """
        {
          "listeners": [
            { "name": "jobs", "unix": \(quoted(jobsSocket)), "mode": "0600", "role": "submit" },
            { "name": "control", "unix": \(quoted(controlSocket)), "mode": "0600", "role": "admin" }
          ],
          "defaults": { "timeouts": { "connect": "1s", "attempt": "5s", "idle": "5s", "total": "10s" } },
          "routes": {
        \(routes.joined(separator: ",\n"))
          }
        }

        """
    }

    private var routes: [String] {
        [
            route(
                "failover",
                upstreams: """
                    { "name": "first", "url": "http://127.0.0.1:\(refusingPort)/" },
                          { "name": "second", "url": "http://127.0.0.1:\(port)/good/", "use": "failover_only" }
                    """,
                """
                "recovery": [
                        { "name": "elsewhere", "on": ["connection"], "failover": { "upstream": "second" } }
                      ]
                """
            ),
            route(
                "busy",
                """
                "recovery": [
                        { "name": "overload", "on": ["429", "503"],
                          "retry": { "max_attempts": 3, "honor_retry_after": true, "max_retry_after": "5s" } }
                      ]
                """
            ),
            route(
                "account",
                """
                "auth": {
                        "type": "oauth2_client_credentials",
                        "token_url": "http://127.0.0.1:\(port)/token",
                        "client_id": "demo",
                        "client_secret": { "file": \(quoted(secretFile)) }
                      },
                      "recovery": [
                        { "name": "stale-token", "on": ["401"], "refresh_credentials": { "max_times": 1 } }
                      ]
                """
            ),
            route(
                "rates",
                """
                "success": {
                        "fail": [ { "json": "/data", "exists": false, "kind": "busy", "retryable": true } ]
                      },
                      "response": { "unwrap": "/data" },
                      "recovery": [ { "name": "busy", "on": ["busy"], \(quickRetry) } ]
                """
            ),
            route("sign-in", #""success": { "status": ["2xx", "302"] }"#),
            route(
                "feed",
                """
                "timeouts": { "idle": "600ms" },
                      "response": { "expect": "json" },
                      "recovery": [
                        { "name": "empty-feed", "on": ["any"],
                          "respond": { "as": "placeholder", "status": 200, "json": { "entries": [] } } }
                      ]
                """
            ),
            route(
                "orders",
                #""recovery": [ { "name": "cut-off", "on": ["connection", "protocol", "timeout"], \#(quickRetry) } ]"#
            ),
        ]
    }

    private var quickRetry: String {
        #""retry": { "max_attempts": 3, "backoff": { "type": "constant", "base_interval": "50ms", "jitter": "none" } }"#
    }

    private func route(_ name: String, upstreams: String? = nil, _ settings: String) -> String {
        let standard = #"{ "name": "demo", "url": "http://127.0.0.1:\#(port)/\#(name)/" }"#
        return """
                "\(name)": {
                  "upstreams": [ \(upstreams ?? standard) ],
                  "allow_addresses": ["127.0.0.0/8"],
                  \(settings)
                }
            """
    }
}
