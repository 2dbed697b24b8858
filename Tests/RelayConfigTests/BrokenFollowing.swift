/// Faults in how a route follows operations.
let brokenFollowing = BrokenRow.rows(
    #"""
    route "follow": {"location": {}, "interval": "1m", "result": {"pointer": "status"}}
      2:24: error: one of "header", "pointer" is missing  [/routes/r/follow/location]
      2:40: error: the shortest wait is longer than the longest (30s)  [/routes/r/follow/interval] => raise
        "max_interval", or lower "interval"
      2:40: warning: no request that waits is followed: its time is over after
        30s  [/routes/r/follow/interval] => raise "timeouts.total", or look sooner
      2:68: error: a JSON pointer is empty or begins with "/"  [/routes/r/follow/result/pointer] => write
        "/status"
    route "follow": {"done": {}, "when": {"status": ["20x"]}, "timeout": "0s"}
      2:20: error: "status" is missing  [/routes/r/follow/done]
      2:44: error: expected a status from "200" to "599", or "2xx", "3xx", "4xx",
        "5xx"  [/routes/r/follow/when/status/0]
      2:64: error: expected a duration from 1s to 30d, such as "250ms" or "1h30m"  [/routes/r/follow/timeout]
    route "follow": {"interval": "40s", "max_interval": "10s", "location": {"header": "X Y"}}
      2:24: error: the shortest wait is longer than the longest (10s)  [/routes/r/follow/interval] => raise
        "max_interval", or lower "interval"
      2:24: warning: no request that waits is followed: its time is over after
        30s  [/routes/r/follow/interval] => raise "timeouts.total", or look sooner
      2:77: error: not a valid header name  [/routes/r/follow/location/header]
    route "follow": {"below": "operations", "cancel": "POST"}
      2:21: error: expected a path of an origin  [/routes/r/follow/below] => begin with "/"
      2:45: error: expected "DELETE"  [/routes/r/follow/cancel]
    route "follow": {"below": "/a/../b", "cancel": "delete"}
      2:21: error: "." and ".." may not stand in a path  [/routes/r/follow/below]
      2:42: error: expected "DELETE"  [/routes/r/follow/cancel] => did you mean "DELETE"?
    route "follow": {"below": "/a%2fb?c=1"}
      2:21: error: a path of plain segments stands here, without escapes or a
        query  [/routes/r/follow/below]
    """#
)
