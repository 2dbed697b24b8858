/// Messages and identity of a route.
let brokenRoutes = BrokenRow.rows(
    #"""
    route "request": {"query": {"set": {"v": 2}}}
      2:36: error: expected a string or a secret  [/routes/r/request/query/set/v]
    route "request": {"query": {"set": {"": "hunter2"}}}
      2:31: error: a query parameter has a name of 1 to 256 bytes  [/routes/r/request/query/set/]
    route "request": {"query": {"set": {"api_key": "hunter2"}}}
      2:42: warning: the name of the parameter sounds like a secret's, and its value stands in the
        configuration  [/routes/r/request/query/set/api_key]
        => write {"credential": "NAME"} or {"file": "PATH"} if it is one
    route "timeouts": {"attempt": 10}
      2:25: error: a duration needs a unit  [/routes/r/timeouts/attempt] => write "10s" or "10ms"
    route "timeouts": {"attempt": "10"}
      2:25: error: expected a duration from 1ms to 1h, such as "250ms" or
        "1h30m"  [/routes/r/timeouts/attempt]
        => whole numbers with d, h, m, s and ms, in this order
    route "timeouts": {"attempt": "1.5s"}
      2:25: error: expected a duration from 1ms to 1h, such as "250ms" or
        "1h30m"  [/routes/r/timeouts/attempt]
        => whole numbers with d, h, m, s and ms, in this order
    route "timeouts": {"attempt": "1s1h"}
      2:25: error: expected a duration from 1ms to 1h, such as "250ms" or
        "1h30m"  [/routes/r/timeouts/attempt]
        => whole numbers with d, h, m, s and ms, in this order
    route "timeouts": {"attempt": "0s"}
      2:25: error: expected a duration from 1ms to 1h, such as "250ms" or
        "1h30m"  [/routes/r/timeouts/attempt]
    route "timeouts": {"attempt": "60s"}
      2:25: error: timeouts.attempt (1m) is longer than timeouts.total (30s)  [/routes/r/timeouts/attempt]
    route "timeouts": {"total": "5s", "attempt": "10s"}
      2:40: error: timeouts.attempt (10s) is longer than timeouts.total (5s)  [/routes/r/timeouts/attempt]
    route "timeouts": {"atempt": "5s"}
      2:14: error: unknown key "atempt"  [/routes/r/timeouts] => did you mean "attempt"?
    upstreams ["https://api.example.com/"]
      2:2: error: expected an object  [/routes/r/upstreams/0] => write {"name": …, "url": …}
    route "auth": "Bearer hunter2"
      2:9: error: expected an object  [/routes/r/auth]
    route "auth": {"token": "hunter2"}
      2:9: error: "type" is missing  [/routes/r/auth]
    route "auth": {"type": "bearer", "token": "hunter2"}
      2:37: error: a secret may not stand in the configuration  [/routes/r/auth/token]
        => write {"credential": "NAME"} and give it to systemd with LoadCredential=NAME:PATH
    route "auth": {"type": "bearer", "tokn": {"file": "/x"}}
      2:28: error: unknown key "tokn"  [/routes/r/auth] => did you mean "token"?
    route "auth": {"type": "bearer", "tokn": "hunter2"}
      2:28: error: unknown key "tokn"  [/routes/r/auth] => did you mean "token"?
    route "auth": {"type": "bearer", "credential": "nothing"}
      2:42: error: no credential named "nothing"  [/routes/r/auth/credential]
        => define it under "credentials"
    route "auth": {"type": "bearer", "token": {"file": "/x", "env": "X"}}
      2:52: error: only one of "credential", "file", "env" may stand here  [/routes/r/auth/token]
      2:59: warning: an environment variable can be read under /proc  [/routes/r/auth/token/env]
        => prefer {"credential": …} or {"file": …}
    route "auth": {"type": "bearer", "token": {"env": "X"}}
      2:45: warning: an environment variable can be read under /proc  [/routes/r/auth/token/env]
        => prefer {"credential": …} or {"file": …}
    route "auth": {"type": "bearer", "token": {"credential": "../x"}}
      2:52: error: not the name of a credential  [/routes/r/auth/token/credential]
        => a file name without slashes
    route "auth": {"type": "bearrer", "token": "hunter2"}
      2:18: error: expected one of "header", "bearer", "basic", "oauth2_client_credentials",
        "oauth2_refresh_token"  [/routes/r/auth/type]
        => did you mean "bearer"?
    route "auth": {"type": "header", "name": "Host", "value": {"file": "/x"}}
      2:36: error: the header "Host" is written by the relay itself  [/routes/r/auth/name] => remove it
    route "auth": {"type": "header", "name": "X Key", "value": {"file": "/x"}}
      2:36: error: not a valid header name  [/routes/r/auth/name]
    route "auth": {"type": "basic", "username": "a:b", "password": "hunter2"}
      2:39: error: a user name has no colon and no control characters  [/routes/r/auth/username]
      2:58: error: a secret may not stand in the configuration  [/routes/r/auth/password]
        => write {"credential": "NAME"} and give it to systemd with LoadCredential=NAME:PATH
    route "auth": {"type": "basic", "username": "a", "username": "b", "password": "hunter2", "password":
    + "hunter3"}
      2:44: error: the key "username" stands here twice  [/routes/r/auth]
      2:73: error: a secret may not stand in the configuration  [/routes/r/auth/password]
        => write {"credential": "NAME"} and give it to systemd with LoadCredential=NAME:PATH
      2:84: error: the key "password" stands here twice  [/routes/r/auth]
    route "auth": {"type": "oauth2_client_credentials", "token_url": "https://a.example/t", "client_id":
    + "x", "client_secret": {"file": "/x"}, "scopes": ["a b"], "client_auth": "digest"}
      2:145: error: a scope has no spaces or quotes  [/routes/r/auth/scopes/0]
        => one list entry for each scope
      2:168: error: expected "basic" or "post"  [/routes/r/auth/client_auth]
    route "auth": {"type": "oauth2_client_credentials", "token_url": "https://a.example/t", "client_id":
    + "", "client_secret": {"file": "/x"}}
      2:96: error: the text is empty  [/routes/r/auth/client_id]
    route "allow_addresses": ["127.0.0.1", "10.0.0.1/8", "::1/129", "x"]
      2:21: error: expected a range of addresses such as "10.0.0.0/8" or
        "::1/128"  [/routes/r/allow_addresses/0]
        => write "127.0.0.1/32"
      2:34: error: the address has bits set after its first 8  [/routes/r/allow_addresses/1]
      2:48: error: expected a range of addresses such as "10.0.0.0/8" or
        "::1/128"  [/routes/r/allow_addresses/2]
      2:59: error: expected a range of addresses such as "10.0.0.0/8" or
        "::1/128"  [/routes/r/allow_addresses/3]
    route "allow_users": ["mallory"], "allow_groups": ["mallory"]
      2:17: error: no user named "mallory" on this machine  [/routes/r/allow_users/0]
        => create it, or write its number
      2:46: error: no group named "mallory" on this machine  [/routes/r/allow_groups/0]
        => create it, or write its number
    route "concurrency": {"max_requests": 0}
      2:33: error: expected an integer from 1 to 65536  [/routes/r/concurrency/max_requests]
    route "max_attempts": 101
      2:17: error: expected an integer from 1 to 100  [/routes/r/max_attempts]
    route "request": {"headers": {"set": {"Authorization": "Bearer hunter2", "Content-Length": "5", "X
    + y": "1", "X-Z": "a\u0000b"}, "remove": ["Host"]}, "wrap": "data"}
      2:33: error: a credential may not stand here  [/routes/r/request/headers/set/Authorization]
        => use "auth" and a secret reference
      2:68: error: the header "Content-Length" is written by the relay
        itself  [/routes/r/request/headers/set/Content-Length]
        => remove it
      2:91: error: not a valid header name  [/routes/r/request/headers/set/X y]
      2:110: error: not a valid header value: controls and outer spaces may not stand in
        it  [/routes/r/request/headers/set/X-Z]
      2:134: error: the header "Host" is written by the relay itself  [/routes/r/request/headers/remove/0]
        => remove it
      2:152: error: a JSON pointer is empty or begins with "/"  [/routes/r/request/wrap] => write "/data"
    route "request": {"wrap": ""}
      2:21: error: the empty pointer is the whole document  [/routes/r/request/wrap] => remove it
    route "prepare": [{"each": "retry", "set_header": {"X-Id": "{job.ids}"}}]
      2:22: error: expected "job" or "attempt"  [/routes/r/prepare/0/each]
      2:54: error: not a placeholder: the placeholders are {job.id}, {now}, {attempt},
        {route}  [/routes/r/prepare/0/set_header/X-Id]
        => did you mean {job.id}?
    route "prepare": [{"each": "attempt", "set_header": {"Idempotency-Key": "{job.id}-{attempt}"}}]
      2:67: error: Idempotency-Key would change with every attempt, so that none could be told to be the
        same request  [/routes/r/prepare/0/set_header/Idempotency-Key]
        => set it with "each": "job"
    route "api_error": {"require": [], "statuses": "some"}
      2:26: error: the list may not be empty  [/routes/r/api_error/require]
      2:42: error: expected a list, each a status or class such as "302" or
        "2xx"  [/routes/r/api_error/statuses]
        => put it in brackets: [ … ]
    route "error_types": [{"kind": "x", "header": {"value": "no"}, "retryable": "no"}]
      2:41: error: "name" is missing  [/routes/r/error_types/0/header]
      2:71: error: expected true or false  [/routes/r/error_types/0/retryable]
    route "error_types": [{"kind": "timeout"}, {"kind": "Busy"}, {"on": ["99"], "kind": "x"}]
      2:26: error: "timeout" already means something else in "on"  [/routes/r/error_types/0/kind]
        => choose another name
      2:47: error: a kind has only lower-case letters, digits and "_", and begins with a
        letter  [/routes/r/error_types/1/kind]
      2:64: error: expected a status from "200" to "599", or "2xx", "3xx", "4xx",
        "5xx"  [/routes/r/error_types/2/on/0]
    route "quick_recovery": [{"on": ["404"], "methods": ["delete"], "as": {"status": 204, "json":
    + {"$heder": "Location", "x": {"$status": 1}}}}]
      2:48: error: expected a method such as "GET"  [/routes/r/quick_recovery/0/methods/0]
        => methods are upper case
      2:81: error: status 204 has no body  [/routes/r/quick_recovery/0/as] => remove it
      2:90: error: a placeholder is the only member of its object  [/routes/r/quick_recovery/0/as/json]
      2:129: error: "$status" takes true  [/routes/r/quick_recovery/0/as/json/x]
    route "success": {"status": ["1xx", "2xx", "600"], "content_type": ["json"]}
      2:24: error: expected a status from "200" to "599", or "2xx", "3xx", "4xx",
        "5xx"  [/routes/r/success/status/0]
      2:38: error: expected a status from "200" to "599", or "2xx", "3xx", "4xx",
        "5xx"  [/routes/r/success/status/2]
      2:63: error: expected a media type such as "application/json"  [/routes/r/success/content_type/0]
        => leave parameters out
    route "success": {"require": [{"json": "status", "equals": 0}, {"json": "/a"}, {"json": "/a",
    + "exists": true, "in": []}]}
      2:34: error: a JSON pointer is empty or begins with "/"  [/routes/r/success/require/0/json]
        => write "/status"
      2:58: error: one of "exists", "equals", "in" is missing  [/routes/r/success/require/1]
      2:105: error: only one of "exists", "equals", "in" may stand here  [/routes/r/success/require/2]
      2:111: error: the list may not be empty  [/routes/r/success/require/2/in]
    route "success": {"fail": [{"json": "/a", "matches": "x", "kind": "busy"}]}
      2:37: error: "matches" is not available in this version: remove it  [/routes/r/success/fail/0]
    route "success": {"inspect_limit": "1GiB"}
      2:30: error: expected a size from 1B to 64MiB, such as "16MiB"  [/routes/r/success/inspect_limit]
    route "response": {"redirects": "return", "expect": "xml"}
      2:47: error: expected "json"  [/routes/r/response/expect]
    route "circuit_breaker": {"failure_ratio": 0}, "rate_limit": {}
      2:38: error: expected a number from 0.01 to 1.0  [/routes/r/circuit_breaker/failure_ratio]
      2:56: error: "max_requests" is missing  [/routes/r/rate_limit]
    route "circuit_breaker": {"break_duration": "1m"}
      2:39: error: the longest break is shorter than the first  [/routes/r/circuit_breaker/break_duration]
        => give max_break_duration at least break_duration
    route "tls": {"pin": {}, "verify": false, "client_certificate": {"certificate": "-----BEGIN
    + hunter2"}}
      2:9: error: unknown key "pin"  [/routes/r/tls] => did you mean "pins"?
      2:20: error: unknown key "verify"  [/routes/r/tls] => what may stand here: ca_file, client_certificate, pins
      2:59: error: "key" is missing  [/routes/r/tls/client_certificate]
      2:75: error: a secret may not stand in the
        configuration  [/routes/r/tls/client_certificate/certificate]
        => write {"credential": "NAME"} and give it to systemd with LoadCredential=NAME:PATH
    """#
)
