/// Faults in how routes are told of endings.
let brokenNotices = BrokenRow.rows(
    #"""
    route "delivery": {"notify": {"on": ["finished"], "include": ["trailers"]}}
      2:24: error: "route" is missing  [/routes/r/delivery/notify]
      2:32: error: expected one of "succeeded", "dead", "cancelled",
        "expired"  [/routes/r/delivery/notify/on/0]
      2:57: error: expected "request" or "response"  [/routes/r/delivery/notify/include/0]
    route "delivery": {"notify": {"route": "r", "on": []}}
      2:34: error: a route cannot be told of its own endings  [/routes/r/delivery/notify/route] => name another
        one
      2:45: error: the list may not be empty  [/routes/r/delivery/notify/on]
    route "delivery": {"notify": {"route": "s"}}
      2:34: error: there is no route "s"  [/routes/r/delivery/notify/route]
    whole {"routes": {
    | "a": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "delivery": {"keep_requests": "never",
    + "keep_responses": "never", "notify": {"route": "b", "include": ["request", "answer", "response"]}}},
    | "b": {"upstreams": [{"name": "u", "url": "https://u.example/"}]},
    | "c": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "delivery": {"notify": {"route": "d"}}},
    | "d": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "delivery": {"mode": "durable", "ordering":
    + "route"}}}}
      2:152: error: the route "b" answers its requests, and notices are
        kept  [/routes/a/delivery/notify/route] => write "delivery": {"mode": "durable"} there
      2:168: error: more than 2 entries  [/routes/a/delivery/notify/include]
      2:169: error: the request of a job that is over is not kept (keep_requests), so that no notice can have
        it  [/routes/a/delivery/notify/include/0] => leave it out, or let "keep_requests" keep it
      2:180: error: expected "request" or
        "response"  [/routes/a/delivery/notify/include/1] => did you mean "response"?
      4:99: error: the route "d" has all its jobs in one order, in which notices have no
        place  [/routes/c/delivery/notify/route] => leave out its "ordering": "route"
      5:87: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/d/delivery/mode] => write "idempotency": {"generate": true} if the upstream knows
        such keys, false if callers send them
    whole {"routes": {
    | "a": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "delivery": {"mode": "durable", "notify":
    + {"route": "b"}}},
    | "b": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "delivery": {"mode": "durable", "notify":
    + {"route": "c"}}},
    | "c": {"upstreams": [{"name": "u", "url": "https://u.example/"}], "delivery": {"mode": "durable", "notify":
    + {"route": "b"}}}}}
      2:87: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/a/delivery/mode] => write "idempotency": {"generate": true} if the upstream knows
        such keys, false if callers send them
      3:87: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/b/delivery/mode] => write "idempotency": {"generate": true} if the upstream knows
        such keys, false if callers send them
      3:118: error: routes tell each other how jobs end, in a circle: "b", "c",
        "b"  [/routes/b/delivery/notify/route] => let one of them tell nobody, or a route that tells nobody
      4:87: warning: a job of a POST without a key is dead (outcome_unknown) once its answer is cut off or
        late  [/routes/c/delivery/mode] => write "idempotency": {"generate": true} if the upstream knows
        such keys, false if callers send them
    """#
)
