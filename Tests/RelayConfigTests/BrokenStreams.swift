/// Faults in how a route treats answers that stream.
let brokenStreams = BrokenRow.rows(
    #"""
    route "response": {"stream": {"commit_after": {"events": -1, "bytes": "2MiB", "time": "0s", "lines": 1}}}
      2:52: error: expected an integer from 0 to 1000  [/routes/r/response/stream/commit_after/events]
      2:65: error: expected a size from 1B to 64KiB, such as "16MiB"  [/routes/r/response/stream/commit_after/bytes]
      2:81: error: expected a duration from 1ms to 10m, such as "250ms" or
        "1h30m"  [/routes/r/response/stream/commit_after/time]
      2:87: error: unknown key "lines"  [/routes/r/response/stream/commit_after] => what may stand here:
        bytes, events, time
    route "response": {"expect": "json", "stream": {}}
      2:42: error: no answer of this route streams: each is looked into when all of it is
        there  [/routes/r/response/stream] => remove it, or what looks into them: api_error, conditions of
        success, expect, empty and unwrap
    route "response": {"cache_last_good": {"max_age": "1h"}, "stream": {"commit_after": {"events": 0}}},
    + "recovery": [{"name": "old", "on": ["any"], "respond": {"as": "stale"}}]
      2:62: error: no good answer to a GET streams on this route: each is kept when all of it is
        there  [/routes/r/response/stream] => remove it, or "cache_last_good"
      2:90: error: a head that waits for no event needs a
        time  [/routes/r/response/stream/commit_after/events] => add "time": "500ms", or wait for 1
    route "delivery": {"mode": "durable"}, "response": {"stream": {}}
      2:22: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/r/delivery/mode] => write "idempotency": {"generate": true} if the upstream knows such
        keys, false if callers send them
      2:57: error: no answer of a route that keeps its requests streams to a
        caller  [/routes/r/response/stream] => remove it
    route "response": {"stream": {"commit_after": {"time": "20s"}, "keep_alive": "1m"}}, "timeouts":
    + {"attempt": "20s"}
      2:50: warning: no head is passed on by this time: the attempt's own is over before, after
        20s  [/routes/r/response/stream/commit_after/time] => raise "timeouts.attempt", or remove it
      2:72: warning: nobody is ever kept waiting that long: a request's time is over after
        30s  [/routes/r/response/stream/keep_alive] => choose less, such as "15s", or raise "timeouts.total"
    """#
)
