/// Jobs that are kept: where, how long, how they are delivered and signed.
let brokenDurable = BrokenRow.rows(
    #"""
    route "delivery": {"mode": "async"}
      2:22: error: expected "sync" or "durable"  [/routes/r/delivery/mode] => did you mean "durable"?
    route "delivery": {"mode": "later", "expires_after": "0s", "ordering": "label"}
      2:22: error: expected "sync" or "durable"  [/routes/r/delivery/mode]
      2:48: error: expected a duration from 1s to 365d, such as "250ms" or
        "1h30m"  [/routes/r/delivery/expires_after]
      2:66: error: expected "key" or "route"  [/routes/r/delivery/ordering]
    route "delivery": {"expires_after": "366d", "max_attempts": 1001, "keep_requests": "sometimes",
    + "keep_responses": true}
      2:31: error: expected a duration from 1s to 365d, such as "250ms" or
        "1h30m"  [/routes/r/delivery/expires_after]
      2:55: error: expected an integer from 1 to 1000  [/routes/r/delivery/max_attempts]
      2:78: error: expected one of "always", "on_failure", "never"  [/routes/r/delivery/keep_requests]
      2:109: error: expected one of "always", "on_failure", "never"  [/routes/r/delivery/keep_responses]
    route "delivery": {"expires_after": 3, "max_attempts": 0, "ordered": true}
      2:31: error: a duration needs a unit  [/routes/r/delivery/expires_after] => write "3s" or "3ms"
      2:50: error: expected an integer from 1 to 1000  [/routes/r/delivery/max_attempts]
      2:53: error: unknown key "ordered"  [/routes/r/delivery]
        => what may stand here: expires_after, keep_requests, keep_responses, max_attempts, mode, notify, ordering
    route "delivery": "durable"
      2:13: error: expected an object  [/routes/r/delivery] => write {"mode": "durable"}
    route "idempotency": {"window": "31d"}
      2:27: error: expected a duration from 1s to 30d, such as "250ms" or
        "1h30m"  [/routes/r/idempotency/window]
    route "idempotency": {"window": "500ms"}
      2:27: error: expected a duration from 1s to 30d, such as "250ms" or
        "1h30m"  [/routes/r/idempotency/window]
    route "signing": {"type": "standard_webhooks"}
      2:12: error: "secrets" is missing  [/routes/r/signing]
    route "signing": {"secrets": []}
      2:12: error: "type" is missing  [/routes/r/signing]
    route "signing": {"type": "webhooks", "secrets": ["whsec_hunter2"]}
      2:21: error: expected "standard_webhooks"  [/routes/r/signing/type]
    route "signing": {"type": "standard_webhooks", "secrets": ["whsec_hunter2"]}
      2:54: error: a secret may not stand in the configuration  [/routes/r/signing/secrets/0]
        => write {"credential": "NAME"} and give it to systemd with LoadCredential=NAME:PATH
    route "signing": {"type": "standard_webhooks", "secrets": []}
      2:53: error: the list may not be empty  [/routes/r/signing/secrets]
    route "signing": {"type": "standard_webhooks", "secrets": [{"credential": "a"}, {"file": "/b"},
    + {"credential": "a"}]}
      2:91: error: another entry names the same secret  [/routes/r/signing/secrets/2]
    route "signing": {"type": "standard_webhooks", "secrets": [{"file": "/1"}, {"file": "/2"}, {"file":
    + "/3"}, {"file": "/4"}, {"file": "/5"}, {"file": "/6"}, {"file": "/7"}, {"file": "/8"}, {"file":
    + "/9"}]}
      2:53: error: more than 8 entries  [/routes/r/signing/secrets]
    route "recovery": [{"name": "x", "on": ["410"], "pause_route": {}}]
      2:58: error: "reason" is missing  [/routes/r/recovery/0/pause_route]
    route "recovery": [{"name": "x", "on": ["410"], "pause_route": {"reason":
    + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}]
      2:69: error: longer than 200 bytes  [/routes/r/recovery/0/pause_route/reason]
    route "recovery": [{"name": "x", "on": ["410"], "pause_route": {"reason": "a\nb"}}]
      2:69: error: control characters may not stand here  [/routes/r/recovery/0/pause_route/reason]
    route "recovery": [{"name": "x", "on": ["410"], "dead_letter": true, "hold": {}}]
      2:58: error: expected an object  [/routes/r/recovery/0/dead_letter] => write {}
      2:64: error: only one of "retry", "refresh_credentials", "failover", "respond", "fail", "dead_letter",
        "pause_route", "hold" may stand here  [/routes/r/recovery/0]
    route "recovery": [{"name": "a", "on": ["any"], "dead_letter": {}}, {"name": "b", "on": ["any"],
    + "retry": {}}]
      2:63: warning: this rule is never reached: "a" ends every failure above it  [/routes/r/recovery/1]
    route "recovery": [{"name": "a", "on": ["any"], "hold": {}}, {"name": "b", "on": ["any"],
    + "pause_route": {"reason": "r"}}]
      2:56: warning: this rule is never reached: "a" ends every failure above it  [/routes/r/recovery/1]
    route "delivery": {"mode": "durable"}, "recovery": [{"name": "a", "on": ["any"], "respond": {"as":
    + "fallback", "status": 503, "and": "keep"}}]
      2:46: warning: no rule acts when the upstream cannot be reached, so that a kept job is dead at
        once  [/routes/r/recovery] => add a rule with "retry" on "connection"
      2:128: error: the route keeps every request before it is sent, so that there is none to answer and to keep
        then  [/routes/r/recovery/0/respond/and] => remove the rule, or write "delivery": {"mode": "sync"}
    route "recovery": [{"name": "a", "on": ["any"], "respond": {"as": "fallback", "status": 503, "and": "keeps"}}]
      2:95: error: expected "keep"  [/routes/r/recovery/0/respond/and] => did you mean "keep"?
    route "recovery": [{"name": "a", "on": ["any"], "respond": {"as": "fallback", "status": 503}},
    + {"name": "b", "on": ["any"], "dead_letter": {}}, {"name": "c", "on": ["any"], "fail": {}}]
      2:139: warning: this rule is never reached: "b" ends every failure above it  [/routes/r/recovery/2]
    route "delivery": {"mode": "durable"}, "recovery": [{"name": "a", "on": ["any"], "respond": {"as":
    + "fallback", "status": 503}}, {"name": "b", "on": ["any"], "retry": {}}]
      2:22: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/r/delivery/mode]
        => write "idempotency": {"generate": true} if the upstream knows such keys, false if callers send
        them
      2:87: warning: it answers only requests that wait for their answer, and the route keeps every
        one  [/routes/r/recovery/0/respond]
        => remove the rule, or leave out "mode": "durable"
    route "delivery": {"mode": "durable", "expires_after": "1h"}, "recovery": [{"name": "a", "on":
    + ["any"], "retry": {"schedule": ["5m", "30m", "2h"]}}]
      2:22: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/r/delivery/mode]
        => write "idempotency": {"generate": true} if the upstream knows such keys, false if callers send
        them
      2:121: warning: the waits of the schedule take 2h35m, but delivery.expires_after ends a job after
        1h  [/routes/r/recovery/0/retry/schedule]
        => raise "delivery.expires_after", or shorten the schedule
    route "delivery": {"mode": "durable", "max_attempts": 3}, "recovery": [{"name": "a", "on": ["any"],
    + "retry": {"schedule": ["5m", "30m", "2h"]}}]
      2:22: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/r/delivery/mode]
        => write "idempotency": {"generate": true} if the upstream knows such keys, false if callers send
        them
      2:117: warning: the rule allows 4 attempts, but the route ends after
        3  [/routes/r/recovery/0/retry/schedule]
        => raise the route's "delivery.max_attempts"
    route "delivery": {"max_attempts": 20}, "recovery": [{"name": "a", "on": ["5xx"], "retry":
    + {"max_attempts": 15}}]
    route "delivery": {"mode": "durable"}, "never_fails": true, "recovery": [{"name": "a", "on":
    + ["any"], "retry": {}}]
      2:22: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/r/delivery/mode]
        => write "idempotency": {"generate": true} if the upstream knows such keys, false if callers send
        them
      2:49: error: a route that keeps its requests cannot promise their callers an
        answer  [/routes/r/never_fails]
        => remove it, or write "delivery": {"mode": "sync"}
    route "never_fails": true, "recovery": [{"name": "a", "on": ["4xx"], "hold": {}}, {"name": "b",
    + "on": ["any"], "respond": {"as": "placeholder", "status": 200}}]
      2:72: error: the route says "never_fails", and this rule fails  [/routes/r/recovery/0/hold]
        => remove the rule, or respond
    route "recovery": [{"name": "a", "on": ["expired", "throttled"], "retry": {}}]
      2:35: error: "expired" is not available in this version: remove it  [/routes/r/recovery/0/on/0]
      2:46: error: "throttled" is not available in this version: remove it  [/routes/r/recovery/0/on/1]
    top "storage": {"sync": "off"}
      2:21: warning: 202 then does not mean that a job survives a power cut  [/storage/sync] => write "full"
    top "storage": {"max_size": "1MiB", "retention": {"succeeded": "0s", "dead": "1y", "body": "1d"}}
      2:25: error: expected a size from 64MiB to 16384GiB, such as "16MiB"  [/storage/max_size]
      2:60: error: expected a duration from 1s to 3650d, such as "250ms" or
        "1h30m"  [/storage/retention/succeeded]
      2:74: error: expected a duration from 1s to 3650d, such as "250ms" or
        "1h30m"  [/storage/retention/dead]
        => whole numbers with d, h, m, s and ms, in this order
      2:80: error: unknown key "body"  [/storage/retention] => what may stand here: bodies, dead, succeeded
    top "storage": {"max_size": 2147483648, "retention": {"bodies": 7}}
      2:25: error: a size needs a unit  [/storage/max_size] => write "2GiB"
      2:61: error: a duration needs a unit  [/storage/retention/bodies] => write "7s" or "7ms"
    top "limits": {"max_queued_jobs": 10000001}
      2:31: error: expected an integer from 1 to 10000000  [/limits/max_queued_jobs]
    """#
)
