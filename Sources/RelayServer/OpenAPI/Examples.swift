import RelayJSON

extension Operation {
    /// The examples of the document's schemas, by their names: each by a name that says what it shows.
    static let examples: [String: Examples] = [
        "Version": [
            "version": .example(
                #"{"name": "waystationd", "version": "0.1.0", "api_versions": ["v1"], "role": "admin"}"#
            )
        ],
        "Live": ["live": .example(#"{"status": "live"}"#)],
        "Ready": ["ready": .example(#"{"status": "ready"}"#)],
        "Status": ["status": status],
        "Troubles": ["refused": troubles],
        "Reload": [
            "reloaded": .example(
                """
                {"result": "reloaded", "changed": true, "digest": "sha256:9f86d0818844", "added": ["orders"],
                 "removed": [], "modified": ["billing"], "needs_restart": []}
                """
            )
        ],
        "Endpoints": [
            "warned": .example(
                """
                {"file": "/etc/waystation/waystation.json", "failed": 0, "not_seen": 0, "warnings": 1,
                 "endpoints": [
                   {"endpoint": "https://api.example", "used_by": ["upstream eu of route billing"], "result": "warning",
                    "address": "192.0.2.7:443", "certificate_days": 9,
                    "steps": [{"step": "name", "result": "ok", "ms": 1.5, "detail": "the name leads to 192.0.2.7"}]}],
                 "text": "ENDPOINT             NAME  TLS\\nhttps://api.example  2ms   9ms !\\n",
                 "verdict": "/etc/waystation/waystation.json: ok, 1 endpoint, 1 with a warning\\n"}
                """
            )
        ],
        "ConstrainedOrder": ["on": .example(#"{"state": "on"}"#)],
        "Constrained": [
            "off": .example(
                """
                {"constrained": false, "state": "auto", "reason": "no source says so",
                 "sources": [{"file_exists": "/run/network/metered", "met": false}, {"control": true, "met": false}]}
                """
            )
        ],
        "RouteList": ["routes": .object(["routes": .array([route])])],
        "Table": [
            "changed": .example(
                """
                {"next": 1801468800007, "whole": false,
                 "routes": [{"name": "billing", "state": "failing", "queued": 12,
                             "breakers": {"eu": "open"},
                             "last_failure": {"kind": "http_status", "status": 503, "detail": "busy",
                                              "at": "2027-01-31T08:00:00.000Z"},
                             "hour": {"of": "request", "count": 52, "failed": 5, "most": 40, "last": 40,
                                      "p50_ms": 12.5, "p99_ms": 80.0}}]}
                """
            )
        ],
        "Route": ["route": route],
        "PauseOrder": ["maintenance": .example(#"{"reason": "maintenance", "for": "2h"}"#)],
        "BreakerOrder": ["open": .example(#"{"state": "open", "upstream": "eu", "for": "30m"}"#)],
        "ClearOrder": ["one": .example(#"{"upstream": "eu", "requests": "GET /reports"}"#)],
        "Shape": [
            "shape": .example(
                """
                {"by": "route", "bucket_ms": [60000, 120000], "total": {"total": 3, "counts": [2, 1, 0]},
                 "rows": [{"key": "billing", "total": 3, "counts": [2, 1, 0]}]}
                """
            )
        ],
        "History": [
            "history": .example(
                """
                {"interval_ms": 60000, "started_at": "2027-01-31T07:59:59.400Z",
                 "reloads": ["2027-01-31T08:01:10.000Z"], "began_at": "2027-01-31T08:00:00.000Z", "columns": 2,
                 "routes": [{"name": "billing", "requests": [40, 12], "failures": [1, 0],
                             "fallbacks": [0, 0], "attempts": [44, 12], "failed_attempts": [5, 0],
                             "causes": [{"kind": "http_status", "status": 503, "counts": [5, 0]}],
                             "queued": [3, 0], "in_flight": [8, 1],
                             "marks": [{"at": "2027-01-31T08:00:41.000Z", "event": "waystation.route.breaker",
                                        "state": "open", "upstream": "eu"}],
                             "p50_ms": [12.5, null], "p99_ms": [80.0, null],
                             "attempt_p50_ms": [11.0, null], "attempt_p99_ms": [62.5, null]}]}
                """
            )
        ],
        "BulkAction": [
            "retry": .example(
                """
                {"action": "retry", "filter": {"route": "billing", "state": ["dead"], "status": 503},
                 "dry_run": false, "rate": "50/s"}
                """
            )
        ],
        "BulkResult": [
            "retried": .example(
                """
                {"action": "retry", "dry_run": false, "matched": 212, "changed": 210, "asked": 0,
                 "body_expired": 1, "left_alone": 1, "superseded": 0, "next": null}
                """
            )
        ],
        "RunOrder": [
            "retry": .example(
                """
                {"action": "retry", "filter": {"route": "billing", "state": ["dead"], "status": 503},
                 "rate": "50/s", "seen": 212, "reason": "billing is back"}
                """
            )
        ],
        "Run": ["run": run],
        "RunList": ["runs": .object(["runs": .array([run])])],
        "ListedOutcomes": [
            "all_refused": .example(
                """
                {"jobs": [{"ok": false, "error": {"type": "urn:waystation:problem:route_not_found",
                           "title": "There is no such route", "status": 404, "code": "route_not_found",
                           "detail": "the configuration has no route \\\"billling\\\""}}], "refused": 1}
                """
            )
        ],
        "Job": ["dead": dead, "answered": answered],
        "JobList": ["jobs": .object(["jobs": .array([dead]), "next": .string("c1a")])],
        "AttemptList": ["attempts": .object(["attempts": dead["attempts"], "next": .null])],
    ]

    static let outcomeLine =
        #"{"line":1,"id":"a","ok":true,"job":"01K9ZQ3V7N4T0C8R5B2M6XW1HD","state":"accepted","#
        + #""repeatable":false,"location":"/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD"}"#
    static let eventLine =
        #"{"specversion":"1.0","source":"/waystationd","type":"waystation.route.paused","#
        + #""time":"2027-01-31T08:00:00.000Z","datacontenttype":"application/json","id":"1801468800000007","#
        + #""subject":"billing","data":{"route":"billing","detail":"maintenance"}}"#

    private static let run = JSONValue.example(
        """
        {"number": 7, "state": "running", "action": "retry", "filter": {"route": "billing", "state": ["dead"]},
         "rate": "50/s", "reason": "billing is back", "by": {"uid": 1001, "user": "alice"},
         "started_at": "2027-01-31T08:00:00.000Z", "total": 212, "matched": 100, "changed": 98, "asked": 0,
         "body_expired": 1, "left_alone": 1, "superseded": 0, "next_at": "2027-01-31T08:00:02.000Z"}
        """
    )

    private static let troubles = JSONValue.example(
        """
        {"as_of": "2027-01-31T08:20:00.000Z", "config": "9f86d0818844",
         "glance": {"state": "failing", "since": "2027-01-31T08:00:00.000Z", "routes": 9, "routes_wrong": 1,
                    "credentials_wrong": 0, "store": "ok", "waiting": 12, "oldest_at": "2027-01-31T08:01:00.000Z",
                    "held": 0, "dead": 0, "failures_per_minute": 94},
         "trouble_count": 1,
         "troubles": [
           {"id": "upstream_unreachable/https://api.example", "kind": "upstream_unreachable", "state": "failing",
            "since": "2027-01-31T08:00:00.000Z", "subject": {"type": "upstream", "name": "https://api.example"},
            "cause": "https://api.example: The upstream's machine refused the connection.",
            "relay": "It tries again as the route's rules say.",
            "remedy": "Start the service, or correct the upstream's url.", "failures_per_minute": 94,
            "waiting": 12, "oldest_at": "2027-01-31T08:01:00.000Z", "expiring": 3, "dying": 0,
            "ends_at": "2027-01-31T08:28:00.000Z", "routes": ["billing"], "route_count": 1,
            "upstreams": ["main"], "upstream_count": 1, "failures": [{"kind": "connection_refused", "count": 188}],
            "action": {"word": "Try again now", "role": "operate", "method": "POST", "path": "/v1/jobs/actions",
                       "document": {"action": "retry", "filter": {"route": "billing", "state": ["retrying"]},
                                    "dry_run": false},
                       "command": "waystation jobs retry --where route=billing,state=retrying"}}]}
        """
    )

    static let submission = JSONValue.example(
        """
        {"route": "billing", "mode": "sync",
         "request": {"method": "POST", "path": "charges", "query": {"notify": "yes"},
                     "headers": {"Idempotency-Key": "8841"}, "json": {"amount": 17}},
         "options": {"timeout": "8s", "max_attempts": 3}}
        """
    )

    static let several = JSONValue.example(
        """
        [{"id": "a", "route": "billing", "mode": "async", "request": {"path": "charges", "json": {"amount": 17}},
          "options": {"labels": {"order": "8841"}}}]
        """
    )

    static let outcomes = JSONValue.example(
        """
        {"jobs": [{"id": "a", "ok": true, "job": "01K9ZQ3V7N4T0C8R5B2M6XW1HD", "state": "accepted",
                   "repeatable": true, "location": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD"}], "refused": 0}
        """
    )

    static let accepted = JSONValue.example(
        """
        {"id": "01K9ZQ3V7N4T0C8R5B2M6XW1HD", "route": "billing", "durable": true, "state": "queued",
         "repeatable": true,
         "links": {"self": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD",
                   "response": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD/response"}}
        """
    )

    /// Of a kept job.
    static let dead = JSONValue.example(
        """
        {"id": "01K9ZQ3V7N4T0C8R5B2M6XW1HD", "route": "billing", "state": "dead", "end": "exhausted",
         "outcome": "failure", "request": {"method": "POST", "path": "/charges", "size": 13},
         "created_at": "2027-01-31T08:00:00.000Z", "expires_at": "2027-02-01T08:00:00.000Z",
         "finished_at": "2027-01-31T08:00:01.250Z", "status": 503, "source": "upstream", "max_attempts": 3,
         "attempt_count": 1, "spent_attempts": 1,
         "attempts": [{"number": 1, "upstream": "eu", "address": "192.0.2.7:443",
                       "started_at": "2027-01-31T08:00:01.000Z", "started_after_ms": 1000, "duration_ms": 249.871,
                       "timing_ms": {"dns": 1.2, "connect": 20.5, "first_byte": 249.1}, "result": "failure",
                       "status": 503, "kind": "http_status", "sent": "answered",
                       "detail": "the upstream answered 503", "spent": true,
                       "held_back": [{"rule": "transient", "reason": "it may have been carried out"}]}],
         "actions": [{"action": "release", "at": "2027-01-31T08:00:00.900Z", "uid": 0}],
         "last_failure": {"kind": "http_status", "detail": "the upstream answered 503", "sent": "answered",
                          "status": 503, "upstream": "eu"},
         "client": {"uid": 1001, "unit": "shop.service"}, "labels": ["order=8841"], "keyed": true,
         "repeatable": true, "priority": 3, "durable": true, "version": 7,
         "links": {"self": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD",
                   "attempts": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD/attempts",
                   "request_body": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD/request/body",
                   "response": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD/response"}}
        """
    )

    /// Of a job that was answered at once.
    static let answered = JSONValue.example(
        """
        {"id": "01K9ZQ3V7N4T0C8R5B2M6XW1HE", "route": "billing", "state": "succeeded", "outcome": "success",
         "request": {"method": "POST", "path": "/charges"}, "created_at": "2027-01-31T08:00:00Z",
         "finished_at": "2027-01-31T08:00:00Z", "status": 201, "source": "upstream", "max_attempts": 3,
         "attempts": [{"number": 1, "upstream": "eu", "started_at": "2027-01-31T08:00:00.010Z",
                       "started_after_ms": 0, "duration_ms": 31.4, "result": "success", "status": 201,
                       "spent": true}],
         "client": {"uid": 1001, "pid": 4711}, "version": 1,
         "response": {"status": 201, "headers": [["Content-Type", "application/json"]],
                      "body": {"size": 15, "json": {"id": "ch_1"}}}}
        """
    )

    private static let route = JSONValue.example(
        """
        {"name": "billing", "state": "degraded", "in_flight": 2, "pending": 0, "requests": 40, "succeeded": 38,
         "failed": 1, "cancelled": 0, "recovered": 3, "fallbacks": 1, "never_fails_breaches": 0,
         "consecutive_failures": 1, "lately": {"requests": 20, "failed": 1, "stand_ins": 0},
         "last_failure": {"kind": "http_status", "status": 503, "detail": "the upstream answered 503",
                          "at": "2027-01-31T08:00:00Z"},
         "revision": "9f86d0818844", "delivery": "sync", "max_requests": 64, "max_pending_requests": 256,
         "upstreams": [{"name": "eu", "breaker": "closed",
                        "counts": {"attempts": 20, "failed": 2, "failed_in_a_row": 0, "span_ms": 30000},
                        "under_way": 2, "window": 64,
                        "last_failure": {"kind": "http_status", "status": 503, "detail": "the upstream answered 503",
                                         "at": "2027-01-31T08:00:00Z"}}],
         "retries_under_way": 0, "retries_left": 10,
         "rules": [{"name": "transient", "on": ["connection", "502"], "action": "retry", "max_attempts": 3,
                    "acted": 3}],
         "jobs": {"scheduled": 0, "queued": 4, "running": 1, "retrying": 1, "held": 0, "succeeded": 30, "dead": 0,
                  "cancelled": 0, "expired": 0},
         "oldest_job_at": "2027-01-31T07:58:12.204Z", "next_attempt_at": "2027-01-31T08:57:00.000Z"}
        """
    )

    private static let status = JSONValue.example(
        """
        {"version": "0.1.0", "api_versions": ["v1"], "pid": 812, "started_at": "2027-01-31T08:00:00Z",
         "uptime_seconds": 3600, "state": "serving", "draining": false,
         "config": {"file": "/etc/waystation/waystation.json", "digest": "sha256:9f86d0818844",
                    "loaded_at": "2027-01-31T08:00:00Z"},
         "in_flight": 2, "connections": 3, "connections_refused": 0,
         "callers": [{"user": 1001, "connections": 2, "requests": 2, "bytes": 0,
                      "refused": {"limits.per_user.rate": 4}}],
         "constrained": false, "callers_known": true,
         "jobs": {"queued": 5, "held": 1, "dead": 0, "running": 1},
         "storage": {"state": "ok", "used_bytes": 4096, "max_bytes": 1073741824,
                     "disk_bytes": 107374182400, "disk_available_bytes": 64424509440, "corrupt_records": 0},
         "journal": {"blocked_seconds": 0, "lost_records": 0},
         "memory": {"used_bytes": 0, "limit_bytes": 67108864, "waiting": 0},
         "shedding": {"level": 0, "refused": 0}, "spool": {"used_bytes": 0, "limit_bytes": 1073741824},
         "routes": [{"name": "billing", "state": "ok", "in_flight": 2, "pending": 0, "requests": 40,
                     "succeeded": 39, "failed": 1, "cancelled": 0, "recovered": 3, "fallbacks": 0,
                     "never_fails_breaches": 0, "consecutive_failures": 0,
                     "lately": {"requests": 12, "failed": 0, "stand_ins": 0}, "last_failure": null,
                     "queued": 5, "held": 1, "dead": 0}],
         "credentials": [{"name": "billing-token", "state": "valid", "expires_in_seconds": 1800}]}
        """
    )
}

extension JSONValue {
    /// A document of the contract's own, which its tests read.
    static func example(_ text: String) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: Array(text.utf8))
        } catch {
            preconditionFailure("an example is not JSON: \(error.message) at byte \(error.offset)")
        }
    }
}
