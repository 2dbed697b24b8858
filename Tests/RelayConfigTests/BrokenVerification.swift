/// Faults in how a route asks what became of a request, and in its harmless request.
let brokenVerification = BrokenRow.rows(
    #"""
    route "verify": {}
      2:11: error: "request" is missing  [/routes/r/verify]
      2:11: error: "found" is missing  [/routes/r/verify]
      2:11: error: "absent" is missing  [/routes/r/verify]
    route "verify": {"request": {"method": "POST", "path": "c"}, "found": {"status": ["200"]}, "absent":
    + {"status": ["404"]}}
      2:34: error: a question changes nothing: expected "GET" or "HEAD"  [/routes/r/verify/request/method]
    route "verify": {"request": {"path": "c/{body}"}, "found": {"status": ["200"]}, "absent": {"status":
    + ["404"]}}
      2:32: error: not a placeholder: the placeholders are {key}, {job.id}, {route}, {header:NAME},
        {json:POINTER}  [/routes/r/verify/request/path]
    route "verify": {"request": {"path": "c/{key"}, "found": {"status": ["200"]}, "absent": {"status":
    + ["404"]}}
      2:32: error: a placeholder is not closed  [/routes/r/verify/request/path] => end it with "}"
    route "verify": {"request": {"path": "c/../{key}"}, "found": {"status": ["200"]}, "absent": {"status":
    + ["404"]}}
      2:32: error: a look-up stays below the upstream's base  [/routes/r/verify/request/path] => remove
        dots and empty segments
    route "verify": {"request": {"path": "c/{header:Authorization}"}, "found": {"status": ["200"]}, "absent":
    + {"status": ["404"]}}
      2:32: error: a credential may not stand here  [/routes/r/verify/request/path] => a look-up carries
        the route's credential by itself
    route "verify": {"request": {"path": "c/{key}", "upstream": "w"}, "found": {"status": ["200"]},
    + "absent": {"status": ["404"]}, "on": ["tiemout"], "attempts": 0}
      2:55: error: the route has no upstream named "w"  [/routes/r/verify/request/upstream]
      2:129: error: no rule of this route names a failure "tiemout"  [/routes/r/verify/on/0] => did you
        mean "timeout"?
      2:153: error: expected an integer from 1 to 20  [/routes/r/verify/attempts]
    route "verify": {"request": {"path": "c/{key}"}, "found": {"status": ["2xx"]}, "absent": {"status":
    + ["204"]}}
      2:84: error: a 204 would say both that the request was carried out and that it was
        not  [/routes/r/verify/absent] => name other statuses, or look into the content with "require"
    route "verify": {"request": {"path": "c/{key}"}, "found": {"status": ["200"]}, "absent": {"status":
    + ["302", "404"]}}
      2:84: error: a 302 says nothing of the request: it would be sent again, or taken for a success,
        though nobody knows  [/routes/r/verify/absent] => name statuses of 200 to 299 and 400 to 499
    route "verify": {"request": {"path": "c/{key}"}, "found": {"status": ["2xx", "503"]}, "absent":
    + {"status": ["404"]}}
      2:91: error: a 503 says nothing of the request: it would be sent again, or taken for a success,
        though nobody knows  [/routes/r/verify/absent] => name statuses of 200 to 299 and 400 to 499
    route "verify": {"request": {"method": "HEAD", "path": "c/{key}"}, "found": {"status": ["200"],
    + "require": [{"json": "/a", "exists": true}]}, "absent": {"status": ["404"]}}
      2:147: error: an answer to HEAD has no content to look into  [/routes/r/verify/absent] => write "GET"
    route "verify": {"request": {"path": "c/{key}"}, "found": {"status": ["200"]}, "absent": {"status":
    + ["404"]}, "settle_after": "1m"}
      2:121: warning: no request that waits is asked about: its time is over after
        30s  [/routes/r/verify/settle_after] => raise "timeouts.total", or ask sooner
    route "check": {}
      2:10: error: "path" is missing  [/routes/r/check]
    route "check": {"method": "POST", "path": "health"}
      2:21: error: a question changes nothing: expected "GET" or "HEAD"  [/routes/r/check/method]
    route "check": {"path": "orders/{key}"}
      2:19: error: no request is at hand whose values could stand here  [/routes/r/check/path]
        => leave out the braces
    route "check": {"path": "../health", "status": ["600"]}
      2:19: error: a look-up stays below the upstream's base  [/routes/r/check/path] => remove dots and
        empty segments
      2:43: error: expected a status from "200" to "599", or "2xx", "3xx", "4xx",
        "5xx"  [/routes/r/check/status/0]
    """#
)
