/// Faults in how a route sends late requests a second time.
let brokenHedging = BrokenRow.rows(
    #"""
    route "hedge": {"percentile": 40, "least": "0s", "after": "1s"}
      2:25: error: expected a number from 50.0 to 99.9  [/routes/r/hedge/percentile]
      2:38: error: expected a duration from 1ms to 10m, such as "250ms" or "1h30m"  [/routes/r/hedge/least]
      2:44: error: unknown key "after"  [/routes/r/hedge] => what may stand here: least, percentile, upstream
    route "hedge": {"upstream": "v", "least": "20s"}
      2:23: error: the route has no upstream named "v"  [/routes/r/hedge/upstream] => name one of its upstreams
      2:37: warning: nothing is ever late: an attempt's time is over after 10s  [/routes/r/hedge/least]
        => raise "timeouts.attempt", or lower it
    route "hedge": {}, "follow": {}, "max_attempts": 1
      2:10: error: a second sending would begin a second operation (follow)  [/routes/r/hedge] => remove it, or "follow"
      2:10: error: a request of this route is sent once (max_attempts)  [/routes/r/hedge]
        => raise "max_attempts", or remove it
    route "hedge": {}, "retry_budget": {"enabled": false}
      2:10: error: second sendings have no bound, or no room, without a retry_budget  [/routes/r/hedge]
        => give it a "budget_percent", or remove it
    whole {"constrained": {"when": [{"control": true}]}, "routes": {"r": {"upstreams": [
    | {"name": "u", "url": "https://u.example/"},
    | {"name": "l", "url": "https://l.example/", "use": "when_constrained"}],
    | "hedge": {"upstream": "l"}}}}
      4:23: error: the upstream "l" is used when_constrained  [/routes/r/hedge/upstream]
        => name another of its upstreams
    """#
)
