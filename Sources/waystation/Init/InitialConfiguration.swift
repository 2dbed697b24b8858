import RelayConfig
import RelayRoute

/// A configuration to begin with: one route, from a few answers.
struct InitialConfiguration {
    var url: String
    var route: String
    var credential = InitialCredential()
    /// Ranges of addresses that are not public and may be dialled.
    var allowed: [String] = []
    var isDurable = false
    /// Whether the upstream knows keys that make repeating a request safe.
    var generatesKeys = false

    /// The one that is installed, for who has not said anything yet.
    static let shipped = InitialConfiguration(url: "https://example.com/", route: "example")

    var text: String {
        var members = [
            #""description": \#(quoted("Reach it at /r/\(route)/ on /run/waystation/jobs.sock."))"#,
            #""upstreams": [ { "name": "origin", "url": \#(quoted(url)) } ]"#,
        ]
        if let auth { members.append("\"auth\": \(auth)") }
        if !allowed.isEmpty {
            members.append("\"allow_addresses\": [ \(allowed.map(quoted).joined(separator: ", ")) ]")
        }
        if isDurable {
            // A kept job goes on by the rules that hold without any: for two days, and not for a few seconds.
            members.append(#""delivery": { "mode": "durable" }"#)
            members.append(#""idempotency": { "generate": \#(generatesKeys) }"#)
            members.append(#""timeouts": { "connect": "2s", "attempt": "10s" }"#)
        } else {
            if generatesKeys { members.append(#""idempotency": { "generate": true }"#) }
            members.append(#""timeouts": { "connect": "2s", "attempt": "10s", "total": "30s" }"#)
            members.append(
                """
                "recovery": [
                        { "name": "overload", "on": [ "429", "503" ], \
                "retry": { "max_attempts": 4, "max_retry_after": "15s" } },
                        { "name": "transient", "on": [ "connection", "timeout", "502", "504" ], \
                "retry": { "max_attempts": 3 } }
                      ]
                """
            )
        }
        return """
            {
              "$schema": "/usr/share/waystation/waystation.schema.json",
              "$comment": "waystation.json(5) describes every key; \
            /usr/share/waystation/waystation.example.json has more routes. Check with: waystation check FILE",

              "routes": {
                \(quoted(route)): {
                  \(members.joined(separator: ",\n      "))
                }
              }
            }

            """
    }

    private var auth: String? {
        guard let secret = credential.kind.secret else { return nil }
        var members = [("type", quoted(credential.kind.rawValue))]
        for part in credential.kind.parts {
            members.append((part.key, quoted(credential.values[part.key] ?? "")))
        }
        switch credential.location {
        case .credential(let name): members.append((secret.key, "{ \"credential\": \(quoted(name)) }"))
        case .file(let path): members.append((secret.key, "{ \"file\": \(quoted(path)) }"))
        case nil: break
        }
        return "{ \(members.map { "\"\($0)\": \($1)" }.joined(separator: ", ")) }"
    }

    /// The name of a route to an upstream: of `https://api.billing.example/v1/` it is `billing`.
    static func usualRoute(_ url: String) -> String {
        guard let url = try? UpstreamURL(parsing: url), url.address == nil else { return "upstream" }
        var labels = url.host.split(separator: ".").map(String.init)
        if labels.count > 1 { labels.removeLast() }
        // Of foo.co.uk the name is foo.
        let second = ["ac", "co", "com", "edu", "gov", "net", "org"]
        if labels.count > 1, let last = labels.last, second.contains(last) { labels.removeLast() }
        let name = labels.last ?? "upstream"
        return ConfigurationReader.isName(name) ? name : "upstream"
    }
}
