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
            .route,
            #""request": {"headers": {"set": {"X-A": "1", "x-a": "hunter2", "X-B": "2"}}}"#,
            [
                #"2:45: error: the same header as "X-A": upper and lower case are one  "#
                    + "[/routes/r/request/headers/set/x-a] => remove one"
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
        Row(
            .route,
            #"""
            "auth": {"type": "oauth2_client_credentials", "token_url": "https://u.example/t", "client_id": "c",
              "client_secret": {"env": "S"}, "token_request": {
                "parameters": {"Grant_Type": "password"}, "headers": {"authorization": "x", "Host": "y"}},
              "answer": {"token": "jwt", "lifetime_unit": "h"}}
            """#,
            [
                "3:28: warning: an environment variable can be read under /proc  [/routes/r/auth/client_secret/env] => "
                    + #"prefer {"credential": …} or {"file": …}"#,
                #"4:20: error: the parameter "Grant_Type" is written by the relay itself  "#
                    + "[/routes/r/auth/token_request/parameters/Grant_Type] => "
                    + #"use the credential's own members, such as "client_id" and "scopes""#,
                #"4:59: error: the header "authorization" is written by the relay itself  "#
                    + "[/routes/r/auth/token_request/headers/authorization] => remove it",
                #"4:81: error: the header "Host" is written by the relay itself  "#
                    + "[/routes/r/auth/token_request/headers/Host] => remove it",
                #"5:23: error: a JSON pointer is empty or begins with "/"  [/routes/r/auth/answer/token] => "#
                    + #"write "/jwt""#,
                #"5:47: error: expected "s" or "ms"  [/routes/r/auth/answer/lifetime_unit]"#,
            ]
        ),
    ]
}()
