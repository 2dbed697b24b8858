import RelayJSON

extension Operation {
    static let submissionExample = JSONValue.example(
        """
        {"route": "billing", "mode": "sync",
         "request": {"method": "POST", "path": "charges", "query": {"notify": "yes"},
                     "headers": {"Idempotency-Key": "8841"}, "json": {"amount": 17}},
         "options": {"timeout": "8s", "max_attempts": 3}}
        """
    )

    static let severalExample = JSONValue.example(
        """
        [{"id": "a", "route": "billing", "mode": "async", "request": {"path": "charges", "json": {"amount": 17}},
          "options": {"labels": {"order": "8841"}}}]
        """
    )

    static let acceptedExample = JSONValue.example(
        """
        {"id": "01K9ZQ3V7N4T0C8R5B2M6XW1HD", "route": "billing", "durable": true, "state": "queued",
         "repeatable": true,
         "links": {"self": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD",
                   "response": "/v1/jobs/01K9ZQ3V7N4T0C8R5B2M6XW1HD/response"}}
        """
    )

    /// Of a kept job.
    static let deadExample = JSONValue.example(
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
    static let answeredExample = JSONValue.example(
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
}
