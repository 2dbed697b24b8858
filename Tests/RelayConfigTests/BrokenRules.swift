/// Recovery rules.
let brokenRules = BrokenRow.rows(
    #"""
    route "recovery": [{"name": "x", "on": ["429"]}]
      2:14: error: one of "retry", "refresh_credentials", "failover", "respond", "fail", "dead_letter",
        "pause_route", "hold" is missing  [/routes/r/recovery/0]
    route "recovery": [{"name": "x", "on": ["429"], "retry": {}, "fail": {}}]
      2:56: error: only one of "retry", "refresh_credentials", "failover", "respond", "fail", "dead_letter",
        "pause_route", "hold" may stand here  [/routes/r/recovery/0]
    route "recovery": [{"name": "x", "on": ["429"], "hold": {"until": "1h"}}]
      2:52: error: unknown key "until"  [/routes/r/recovery/0/hold] => no key may stand here: remove it
    route "recovery": [{"name": "x", "on": [], "retry": {}}]
      2:34: error: the list may not be empty  [/routes/r/recovery/0/on]
    route "recovery": [{"name": "x", "on": "429", "retry": {}}]
      2:34: error: expected a list, each a status, a class such as "5xx", a failure kind, "connection",
        "timeout", "dns", "tls", "protocol", "any" or "exhausted"  [/routes/r/recovery/0/on]
        => put it in brackets: [ … ]
    route "recovery": [{"name": "x", "on": [429], "retry": {}}]
      2:35: error: expected a status, a class such as "5xx", a failure kind, "connection", "timeout", "dns",
        "tls", "protocol", "any" or "exhausted"  [/routes/r/recovery/0/on/0]
        => write "429"
    route "recovery": [{"name": "x", "on": ["conection"], "retry": {}}, {"name": "y", "on":
    + ["throttled"], "fail": {}}]
      2:35: error: no rule of this route names a failure "conection"  [/routes/r/recovery/0/on/0]
        => did you mean "connection"?
      2:84: error: "throttled" is not available in this version: remove it  [/routes/r/recovery/1/on/0]
    route "recovery": [{"name": "x", "on": ["busy"], "retry": {}}, {"name": "x", "on": ["any"], "fail":
    + {}}]
      2:35: error: no rule of this route names a failure "busy"  [/routes/r/recovery/0/on/0]
      2:67: error: another rule has the same "name"  [/routes/r/recovery/1/name]
    route "recovery": [{"name": "x", "on": ["any"], "respond": {"as": "fallback", "status": 503}},
    + {"name": "y", "on": ["any"], "fail": {}}]
      2:90: warning: this rule is never reached: "x" ends every failure above it  [/routes/r/recovery/1]
    route "recovery": [{"name": "x", "on": ["any"], "respond": {"as": "placeholder", "status": 204,
    + "text": "x"}}]
      2:91: error: status 204 has no body  [/routes/r/recovery/0/respond] => remove it
    route "recovery": [{"name": "x", "on": ["any"], "respond": {"as": "placeholder", "status": 99,
    + "json": 1, "text": "x"}}]
      2:86: error: expected an integer from 200 to 599  [/routes/r/recovery/0/respond/status]
      2:101: error: only one of "json", "text" may stand here  [/routes/r/recovery/0/respond]
    route "recovery": [{"name": "x", "on": ["401"], "refresh_credentials": {}}]
      2:66: error: the route has no credential that can be fetched
        anew  [/routes/r/recovery/0/refresh_credentials]
        => give it an "auth" of an OAuth2 type
    route "recovery": [{"name": "x", "on": ["any"], "failover": {"upstream": "v"}}]
      2:68: error: the route has no upstream named "v"  [/routes/r/recovery/0/failover/upstream]
    route "recovery": [{"name": "x", "on": ["any"], "retry": {"max_atempts": 4, "honor_retry_after":
    + "yes", "max_retry_after": 10}}]
      2:53: error: unknown key "max_atempts"  [/routes/r/recovery/0/retry] => did you mean "max_attempts"?
      2:92: error: expected true or false  [/routes/r/recovery/0/retry/honor_retry_after]
      2:118: error: a duration needs a unit  [/routes/r/recovery/0/retry/max_retry_after]
        => write "10s" or "10ms"
    route "recovery": [{"name": "x", "on": ["any"], "retry": {"backoff": {"base_interval": "20s"}}}]
      2:82: error: base_interval is longer than max_interval (10s, the
        default)  [/routes/r/recovery/0/retry/backoff/base_interval]
    route "recovery": [{"name": "x", "on": ["any"], "retry": {"backoff": {"type": "constant",
    + "multiplier": 2}}}]
      2:85: error: a constant backoff has no "multiplier"  [/routes/r/recovery/0/retry/backoff] => remove it
    route "recovery": [{"name": "x", "on": ["any"], "retry": {"backoff": {}, "schedule": ["1s"],
    + "jitter_percent": 101}}]
      2:68: error: only one of "backoff", "schedule" may stand here  [/routes/r/recovery/0/retry]
      2:106: error: expected an integer from 0 to 100  [/routes/r/recovery/0/retry/jitter_percent]
    route "recovery": [{"name": "x", "on": ["any"], "retry": {"jitter_percent": 10}}]
      2:53: error: "jitter_percent" belongs to "schedule"  [/routes/r/recovery/0/retry]
        => with "backoff" write "jitter" there
    route "recovery": [{"name": "x", "on": ["any"], "retry": {"max_attempts": 20}}]
      2:69: warning: the rule allows 20 attempts, but the route ends after
        10  [/routes/r/recovery/0/retry/max_attempts]
        => raise the route's "max_attempts"
    route "recovery": [{"name": "x", "on": ["any"], "retry": {"methods": "all"}}]
      2:64: error: expected one of "idempotent", "idempotent_or_keyed",
        "any"  [/routes/r/recovery/0/retry/methods]
    """#
)
