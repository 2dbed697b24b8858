/// Slips of those who come from elsewhere, each with what was meant.
let brokenHints: [BrokenRow] = {
    typealias Row = BrokenRow
    let pointers = [
        ("error.code", "/error/code"), ("$.error.code", "/error/code"), ("error", "/error"),
        ("$.items[0].id", "/items/0/id"), ("$['error']['code']", "/error/code"),
        ("error/code", "/error/code"), ("#/error", "/error"),
    ]
    .map { given, meant in
        Row(
            .route,
            #""success": {"require": [{"json": "\#(given)", "exists": true}]}"#,
            [
                #"2:34: error: a JSON pointer is empty or begins with "/"  "#
                    + #"[/routes/r/success/require/0/json] => write "\#(meant)""#
            ]
        )
    }
    let places = [
        ("$", "write \"\", which is the whole document"),
        ("$..code", "name one place, such as \"/error/code\""),
    ]
    .map { given, hint in
        Row(
            .route,
            #""success": {"require": [{"json": "\#(given)", "exists": true}]}"#,
            [
                #"2:34: error: a JSON pointer is empty or begins with "/"  "#
                    + #"[/routes/r/success/require/0/json] => \#(hint)"#
            ]
        )
    }
    let failovers = [("main", "spare"), ("spare", "m")].map { first, other in
        Row(
            .upstreams,
            #"""
            [{"name": "\#(first)", "url": "https://u.example/"},
             {"name": "\#(other)", "url": "https://v.example/", "use": "failover_only"}],
             "recovery": [{"name": "x", "on": ["any"], "failover": {"upstream": "spair"}}]
            """#,
            [
                #"4:69: error: the route has no upstream named "spair"  "#
                    + #"[/routes/r/recovery/0/failover/upstream] => write "\#(other)""#
            ]
        )
    }
    let comments = [
        "{// routes\n}", "{/* routes */}", "{\"routes\": {} # none\n}", "{\"routes\": {}, // none\n}",
    ]
    .map { text in
        let place = text.distance(
            from: text.startIndex,
            to: text.firstIndex { "/#".contains($0) } ?? text.endIndex
        )
        return Row(.whole, text, ["1:\(place + 1): error: JSON has no comments: remove it"])
    }
    return pointers + places + failovers + comments + [
        Row(.whole, "{}\n// routes", ["2:1: error: JSON has no comments: remove it"]),
        Row(
            .whole,
            "{'routes': {}}",
            ["1:2: error: expected a name in quotes, found \"'\": names and strings stand in double quotes"]
        ),
        Row(
            .whole,
            #"{"routes": {"r": 'x'}}"#,
            [#"1:18: error: expected a value, found "'": names and strings stand in double quotes"#]
        ),
        Row(
            .route,
            #""success": {"status": [204]}"#,
            [
                #"2:24: error: expected a status or class such as "302" or "2xx"  "#
                    + #"[/routes/r/success/status/0] => write "204""#
            ]
        ),
        Row(
            .route,
            #""recovery": [{"name": "x", "on": ["503"], "retry": {"backoff": "exponential"}}]"#,
            [
                #"2:64: error: expected an object  [/routes/r/recovery/0/retry/backoff] "#
                    + #"=> write {"type": "exponential"}"#
            ]
        ),
        Row(
            .route,
            #""recovery": [{"name": "x", "on": ["503"], "retry": {"attempts": 3}}]"#,
            [
                #"2:53: error: unknown key "attempts"  [/routes/r/recovery/0/retry] "#
                    + #"=> did you mean "max_attempts"?"#
            ]
        ),
        Row(
            .route,
            #""retries": 3"#,
            [
                #"2:1: error: unknown key "retries"  [/routes/r] => a rule of "recovery" sends again: "#
                    + #"{"name": "again", "on": ["connection", "503"], "retry": {}}"#
            ]
        ),
        Row(
            .route,
            #""health_check": {}"#,
            [
                #"2:1: error: unknown key "health_check"  [/routes/r] => requests tell how an upstream is; "#
                    + #""circuit_breaker" says when it is sent no more of them"#
            ]
        ),
        Row(
            .whole,
            #"{"routes": {"r": {"base_url": "https://u.example/"}}}"#,
            [
                #"1:19: error: unknown key "base_url"  [/routes/r] => write "upstreams": [{"name": "origin", "url": "#
                    + #""https://api.example.com/"}]"#
            ]
        ),
        Row(
            .whole,
            #"{"routes": {"r": {"upstreams": [{"name": "u", "url": "u.example"}]}}}"#,
            [
                #"1:54: error: the URL must begin with https:// or http://  [/routes/r/upstreams/0/url] => write "#
                    + "https:// before it"
            ]
        ),
    ]
}()
