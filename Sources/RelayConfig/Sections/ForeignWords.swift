// The words of other relays and clients for things.
extension ConfigurationTable {
    private static let upstreams =
        "write \"upstreams\": [{\"name\": \"origin\", \"url\": \"https://api.example.com/\"}]"
    private static let rule =
        "a rule of \"recovery\" sends again: {\"name\": \"again\", \"on\": [\"connection\", \"503\"], \"retry\": {}}"
    private static let breaker =
        "requests tell how an upstream is; \"circuit_breaker\" says when it is sent no more of them"

    /// Words that stand for a key of a route elsewhere, and what to write here.
    static let foreignWords: [String: (key: String?, hint: String)] = [
        "url": ("upstreams", upstreams),
        "base_url": ("upstreams", upstreams),
        "target": ("upstreams", upstreams),
        "upstream": ("upstreams", upstreams),
        "backend": ("upstreams", upstreams),
        "backends": ("upstreams", upstreams),
        "servers": ("upstreams", upstreams),
        "retry": (nil, rule),
        "retries": (nil, rule),
        "retry_policy": (nil, rule),
        "headers": (nil, "write \"request\": {\"headers\": {\"set\": {\"X-Name\": \"value\"}}}"),
        "fallback": (nil, "a rule of \"recovery\" answers in the upstream's stead, with \"respond\""),
        "cache": (nil, "write \"response\": {\"cache_last_good\": {}}, and a rule that answers with it"),
        "proxy": (nil, "the relay connects to upstreams itself; it has no proxy of its own to go through"),
        "health_check": (nil, breaker),
        "healthcheck": (nil, breaker),
        "health_checks": (nil, breaker),
    ]
}
