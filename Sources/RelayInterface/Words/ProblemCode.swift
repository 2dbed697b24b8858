package import RelayBase

/// The code of a problem document, one for each thing that the relay refuses or fails at, never renamed in v1.
///
/// A row has the name with the usual status and title, and for the example of an answer `Names` (what it names),
/// `Retry-After`, `Did-You-Mean` and `Kind`.
package enum ProblemCode: WordRow, CaseIterable, Sendable {
    case badRequest = """
        bad_request: 400 The request is malformed
        The request is not HTTP/1.1, breaks off, or has a document that the resource cannot read.
        Causes: A client that speaks another protocol; a document that is not JSON; an event id that is no \
        number; a connection that ended inside a request.
        Do: Read detail and errors; they name the byte or the member.
        Example: the action is not JSON: a value is missing at byte 12
        """
    case badHeader = """
        bad_header: 400 A header field is not acceptable
        A header field of the request is not acceptable.
        Causes: A field beginning with Waystation- that is misspelt, repeated or out of its bounds; a delay or \
        a date that comes after the job's expiry; an Idempotency-Key that is empty, repeated or longer than \
        256 bytes; framing fields that contradict each other.
        Do: Correct the field that detail names; did_you_mean has the nearest one.
        Example: there is no field waystation-time-out; the relay reads
        Did-You-Mean: waystation-timeout
        """
    case badTarget = """
        bad_target: 400 The request target is not acceptable
        The path or a parameter is not acceptable.
        Causes: Dot segments or empty segments in the path; a parameter that is unknown, stands twice or is \
        out of its bounds.
        Do: Correct what detail names; values in a query are percent-encoded.
        Example: /v1/jobs has no parameter "status_code"; it reads
        Did-You-Mean: status
        """
    case notAllowed = """
        not_allowed: 403 You may not do this
        The caller may not do this.
        Causes: The socket gives a lower role than the resource takes; allow_users and allow_groups of the \
        route or the listener do not name the caller; the caller came over TCP with an Origin or a Host that \
        is not of the loopback.
        Do: Use the control socket, or let the configuration name the caller.
        Example: /v1/reload needs the role admin, and this socket gives submit: use the control socket
        """
    case routeNotFound = """
        route_not_found: 404 There is no such route
        The configuration has no route of this name.
        Causes: A misspelt name; a configuration that was changed and not reloaded.
        Do: See waystation routes for the names; did_you_mean has the nearest one.
        Example: there is no route "biling"
        Did-You-Mean: billing
        """
    case jobNotFound = """
        job_not_found: 404 There is no such job
        No job that the caller may see has this id.
        Causes: The job is of another user; its retention is over, or somebody dropped it; it was answered at \
        once and more than 1024 others ended since.
        Do: Look with the role read, or in the journal: waystation logs ID
        Example: no job that you may see has this id: jobs on disk go with their retention, those answered at \
        once after the last 1024
        """
    case pathNotFound = """
        path_not_found: 404 There is nothing at this path
        The relay has nothing at this path, or the job never had an answer to show.
        Causes: A misspelt path; the response of a job that ended without one.
        Do: Requests go to /r/ROUTE/PATH, everything else is below /v1/.
        Example: the job is dead, and no answer of an upstream is kept for it
        """
    case methodNotAllowed = """
        method_not_allowed: 405 The method is not allowed here
        The resource does not have this method.
        Causes: A GET in place of a POST, or the reverse.
        Do: Use one of the methods in the field Allow.
        Example: /v1/status does not have the method POST
        """
    case requestTimeout = """
        request_timeout: 408 The request took too long to arrive
        The request did not arrive in time.
        Causes: A head took longer than 10 seconds, a document for the API longer than 60; a body paused for \
        longer than timeouts.idle of its route, came more slowly than timeouts.min_rate, or was not there in \
        the caller's own Waystation-Timeout; nothing came on a stream of jobs for 60 seconds while none was \
        under way.
        Do: Send it again; send large bodies without pauses.
        Example: the request head took longer than 10 s
        """
    case contentTooLarge = """
        content_too_large: 413 The request body is too large
        The body is larger than the limit.
        Causes: It exceeds limits.max_request_body, or a document of the API exceeds 1 MiB.
        Do: Send less, or raise limits.max_request_body; large content goes by /r/ROUTE/PATH.
        Example: a document for the API may have 1048576 bytes
        """
    case targetTooLong = """
        target_too_long: 414 The request target is too long
        Path and query are longer than 16 KiB.
        Causes: Content was put into the query.
        Do: Put it into the body.
        Example: the request target is longer than 16384 bytes
        """
    case unsupportedMediaType = """
        unsupported_media_type: 415 The request body has the wrong type
        The document has another type than the resource reads.
        Causes: A form in place of JSON: curl -d without a Content-Type sends one.
        Do: Send application/json, for a stream of jobs application/x-ndjson; curl has --json.
        Example: a job is application/json
        """
    case expectationFailed = """
        expectation_failed: 417 The expectation cannot be met
        The field Expect asks for something that is not known.
        Causes: Anything but 100-continue.
        Do: Leave the field out.
        Example: the expectation is not 100-continue
        """
    case headTooLarge = """
        head_too_large: 431 The request head is too large
        The head of the request is larger than 64 KiB, or has more than 200 fields.
        Causes: Large cookies; content that was put into fields.
        Do: Send fewer or shorter fields.
        Example: the request head is longer than 65536 bytes
        """
    case invalidJob = """
        invalid_job: 422 The job is not valid
        The job or the action is not valid.
        Causes: A member that is unknown, misplaced, of the wrong type or out of its bounds.
        Do: Correct every place in errors: pointer says where, hint what was probably meant.
        Example: the job has 1 error; see errors
        """
    case configRejected = """
        config_rejected: 422 The configuration is not valid
        The configuration has errors, so the old one stays in force.
        Causes: A mistake in the file, or a secret or certificate that cannot be read.
        Do: Run waystationd --check, mend what it tells, and reload again.
        Example: 1 error; the old configuration stays in force
        """
    case idempotencyKeyReused = """
        idempotency_key_reused: 422 The idempotency key belongs to another request
        The idempotency key belongs to a job with another method, target or body.
        Causes: A key that is not unique; a client that changed the request and kept the key.
        Do: Take a new key for a new request; the field Location names the job that has this one.
        Example: the key belongs to a job with another request
        Names: route, job
        """
    case idempotencyInProgress = """
        idempotency_in_progress: 409 A request with this idempotency key is under way
        Another request with this idempotency key still waits for its answer.
        Causes: A client that repeats before the first try has ended.
        Do: Wait as Retry-After says and send it again; the field Location names the job that has the key.
        Example: a request with this key is under way
        Names: route, job
        Retry-After: 1
        """
    case jobState = """
        job_state: 409 The job is in another state
        The job's state does not allow the action.
        Causes: It is over already, or is running; somebody else was faster.
        Do: Look at the job again; detail tells its state and what the action needs.
        Example: the job is succeeded; only a job that waits is held
        Names: job
        """
    case selectionChanged = """
        selection_changed: 409 Other jobs match now
        Other jobs match than when the caller looked, and nothing was done.
        Causes: Jobs went on, or somebody else was faster.
        Do: Count them again with dry_run, and decide again.
        Example: 30 jobs match now, and not 40: nothing was done
        """
    case runNotFound = """
        run_not_found: 404 There is no such run
        The daemon knows no run of that number.
        Causes: The number is misspelt; it was over long ago, and the last 20 that are over are told of.
        Do: waystation runs lists them.
        Example: there is no run 7
        """
    case tooManyRuns = """
        too_many_runs: 503 As many runs are under way as may be
        As many runs are under way as may be at once, so none was begun.
        Causes: 8 of them go on; one with a low rate takes long.
        Do: See waystation runs; wait for one of them, or stop it: waystation runs stop NUMBER
        Example: 8 runs are under way, and nothing was begun
        Retry-After: 60
        """
    case checkRunning = """
        check_running: 409 The endpoints are being looked at already
        Somebody else has the daemon look at its endpoints, and it does so once at a time.
        Causes: waystation check --online, or checkEndpoints, was called and is not over.
        Do: Wait for its end, 30 s at most, and ask again.
        Example: the endpoints are being looked at already
        Retry-After: 5
        """
    case bodyExpired = """
        body_expired: 410 The body is no longer kept
        The body is no longer kept.
        Causes: storage.retention.bodies is over; delivery.keep_requests or delivery.keep_responses says that \
        it is not kept; somebody expunged it; the job was answered at once, of which no body is kept.
        Do: A request that must be delivered all the same has to be handed over again.
        Example: the body is no longer kept
        Names: route, job
        """
    case responseNotReady = """
        response_not_ready: 409 There is no response yet
        The job is not over, so it has no response yet.
        Causes: It waits or is with the upstream.
        Do: Ask with Prefer: wait=30, or later; waystation explain tells what it waits for.
        Example: the job is retrying; ask with Prefer: wait=30, or later
        Names: route, job
        Retry-After: 1
        """
    case preconditionFailed = """
        precondition_failed: 412 It has changed
        The job, the route or the configuration has changed since the caller looked at it.
        Causes: If-Match names another version, revision or digest than it has now; somebody else was faster.
        Do: Read it again, decide again, and send the new one.
        Example: the job has version 7 now
        Names: job
        """
    case routePaused = """
        route_paused: 503 The route is paused
        The route is paused, and the caller will not wait.
        Causes: An operator paused it, or a rule with pause_route, such as one on the 410 of a receiver of \
        webhooks.
        Do: Send it with Prefer: respond-async, or end the pause: waystation resume ROUTE
        Example: the route is paused: maintenance
        Names: route
        """
    case queueFull = """
        queue_full: 503 The queue is full
        The job queue is full.
        Causes: limits.max_queued_jobs is reached, or by one user its limits.per_user.max_queued_jobs; an \
        upstream is down, or slower than its callers.
        Do: See waystation shape for what waits; mend that upstream, cancel jobs, or raise the limit.
        Example: 100000 jobs wait (limits.max_queued_jobs)
        Names: route
        Retry-After: 60
        """
    case storageFull = """
        storage_full: 507 There is no room on disk
        There is no room to keep the job, so it was not accepted.
        Causes: storage.max_size is reached, or the disk is full.
        Do: Free space on the disk, raise storage.max_size, or drop jobs; acceptance comes back by itself.
        Example: the job store has no room
        Names: route
        Retry-After: 60
        """
    case storageFailed = """
        storage_failed: 503 The job store failed
        The job store did not do what was asked.
        Causes: The disk fails, or the store is closed; a failed commit ends the daemon, and systemd starts it \
        again.
        Do: Wait as Retry-After says; look into the journal and at the disk.
        Example: the job store is closed
        Names: route
        Retry-After: 5
        """
    case storageUnavailable = """
        storage_unavailable: 503 The job store is away
        The server that holds the job store does not answer or takes no writes, so nothing was done.
        Causes: The database is stopped, restarts or fails over; it has no connection left; the network between is \
        down.
        Do: Wait as Retry-After says and ask again; it comes back by itself, and waystation status says when. Requests \
        that wait for their answer are served meanwhile.
        Example: the database does not answer
        Names: route
        Retry-After: 5
        """
    case storageCorrupt = """
        storage_corrupt: 500 What was stored is damaged
        The disk no longer holds what was stored.
        Causes: The disk or the memory of the machine fails, or somebody has changed the files.
        Do: See waystation status for how many records are damaged, and the disk's state; the job cannot be \
        delivered as it was.
        Example: the record is damaged
        Names: route, job
        """
    case rateLimited = """
        rate_limited: 429 Too many requests
        The wait would be longer than the request's time, or the user sends too fast, so nothing was sent.
        Causes: The upstream asked for patience (Retry-After, RateLimit) beyond the request's time; the \
        route's rate_limit has no turn before it; the user sends faster than limits.per_user.rate allows.
        Do: Wait as Retry-After says; send less, give requests more time, or have them kept.
        Example: the route's rate is used up for longer than the request may wait
        Names: route, job
        Retry-After: 12
        Kind: rate_limited
        """
    case internalError = """
        internal_error: 500 The relay failed
        The relay failed in a way that is its own fault.
        Causes: A mistake in the relay; this version has no place that answers this.
        Do: Look into the journal and report it.
        Example: the relay failed
        """
    case notImplemented = """
        not_implemented: 501 The relay does not do this
        The relay does not do this.
        Causes: CONNECT or TRACE, which cannot be repeated; a transfer coding other than chunked.
        Do: Send the request itself; the relay speaks TLS with the upstream.
        Example: CONNECT cannot be relayed: what goes through a tunnel cannot be retried
        """
    case versionNotSupported = """
        version_not_supported: 505 The HTTP version is not supported
        The request is of another version than HTTP/1.0 and HTTP/1.1.
        Causes: A client that speaks HTTP/2 from the start.
        Do: Use HTTP/1.1.
        Example: the version is none of HTTP/1.0 and HTTP/1.1
        """
    case upstreamFailed = """
        upstream_failed: 502 The upstream gave no answer
        The upstream could not be reached, or broke off before it had answered.
        Causes: It is down, its name or address is wrong, a firewall stands between, or TLS failed; kind says \
        which.
        Do: See waystation explain with the job's id and with the kind.
        Example: 127.0.0.1:9000 refused the connection
        Names: route, job
        Kind: connection_refused
        """
    case invalidResponse = """
        invalid_response: 502 The upstream's answer is not valid
        The upstream's answer is not valid.
        Causes: Broken or incomplete HTTP, content that is too large or fails the route's success rules; kind \
        says which.
        Do: See waystation explain with the job's id; mend the upstream or the route's rules.
        Example: the answer ended before it was complete
        Names: route, job
        """
    case credentialsFailed = """
        credentials_failed: 502 The credentials could not be obtained
        The route's credential could not be obtained, so nothing was sent.
        Causes: The token endpoint is down or refuses; the secret was replaced.
        Do: See in detail what the token endpoint answered; compare token_url, client_id and the secret of the \
        auth section with what it expects, and reload after a change.
        Example: the token endpoint answered 500
        Names: route, job
        Kind: credentials_failed
        """
    case preparationFailed = """
        preparation_failed: 400 The request could not be prepared
        The request could not be made ready for the upstream, so nothing was sent.
        Causes: A step of the route's request rules does not fit this request, such as an envelope around a \
        body that is not JSON.
        Do: Correct the request, or the request section of the route.
        Example: the body is not JSON, and an envelope belongs around it
        Names: route, job
        Kind: preparation
        """
    case breakerOpen = """
        breaker_open: 503 The circuit breaker is open
        The circuit breaker stops requests that fail at the upstream, so nothing was sent.
        Causes: Of the attempts that ended in the last 2 s, or of the last 20, 95 in a hundred failed, or what \
        circuit_breaker says.
        Do: Wait as Retry-After says; mend the upstream, or give the route a rule on breaker_open.
        Example: 10 of the last 20 attempts failed
        Names: route, job
        Retry-After: 1
        Kind: breaker_open
        """
    case routeClosed = """
        route_closed: 503 The route is closed
        The route is closed at this time, as planned, so nothing was sent.
        Causes: A window of the route's closed.
        Do: Wait as Retry-After says, or send it with Prefer: respond-async; a rule on route_closed answers instead.
        Example: the route is closed and opens in 7h30m, as planned (closed)
        Names: route, job
        Retry-After: 27000
        Kind: route_closed
        """
    case networkConstrained = """
        network_constrained: 503 The network is constrained
        The network counts as constrained, and the request was not sent.
        Causes: The route's constrained, or the request's Waystation-Constrained, says refuse; or wait, and it was \
        constrained for all of the request's time.
        Do: Send it when the network is not constrained; waystation constrained says why it is.
        Example: the network is constrained, and the route sends nothing then (constrained)
        Names: route, job
        Kind: network_constrained
        """
    case overloaded = """
        overloaded: 503 There is no room
        There is no room for another request on the route, for another connection, for a body in memory, or \
        for another caller that waits for a job.
        Causes: concurrency.max_requests are under way and concurrency.max_pending_requests wait; \
        limits.max_connections or limits.max_requests is reached, or by one user its \
        limits.per_user.max_connections, max_requests or max_bytes, or nearly the first by requests that wait \
        on this route; the process has no descriptors left but those kept for operators; a body found no room \
        in limits.memory in time; memory is short (limits.shedding); the upstream has become slow.
        Do: Wait as Retry-After says; detail names the limit. Raise concurrency when the upstream can bear it; \
        find the user that takes so much under callers of waystation status --json.
        Example: 64 requests are under way and 256 wait (concurrency)
        Names: route
        Retry-After: 1
        """
    case draining = """
        draining: 503 The relay is stopping
        The daemon is stopping, or is not ready yet.
        Causes: It is being stopped or restarted.
        Do: Send the request again in a moment.
        Example: the relay is not ready
        Retry-After: 1
        """
    case notStarted = """
        not_started: 503 The relay could not start
        The daemon could not start, and nothing was sent.
        Causes: Its configuration is not valid, its job store has to be mended, or its unit gives it wrong \
        arguments; detail says which. systemd holds the sockets, and starts it again for the next caller.
        Do: Mend what detail tells (journalctl -x says how), and send the request again.
        Example: the configuration is not valid; run waystationd --check
        Retry-After: 5
        """
    case storageStalled = """
        storage_stalled: 503 The job store does not move
        The job store takes no writes, or gives no reads, so what was asked could not be done in time.
        Causes: The disk of the state directory does not answer, or very slowly: another program writes a lot, \
        a device fails, a volume is not reachable. Or the database that holds the job store took a write and its \
        answer was lost.
        Do: Send the request again as Retry-After says: with an idempotency key it is the same job. Without \
        one a job that was refused so is not sent, unless the daemon ends before the disk moves: then it may \
        be. An action on kept jobs or on routes may still be carried out, as detail says. Look at the disk; \
        waystation status says when it is over.
        Example: the disk of the job store does not answer at the moment; ask again
        Retry-After: 5
        """
    case upstreamTimeout = """
        upstream_timeout: 504 The upstream did not answer in time
        The upstream did not answer in the time of an attempt.
        Causes: It is slow or hangs; timeouts.attempt, timeouts.connect or timeouts.idle is short; kind says \
        which ran out.
        Do: See waystation explain with the job's id; raise the timeout or add a rule that retries.
        Example: no answer within 10s
        Names: route, job
        """
    case deadlineExceeded = """
        deadline_exceeded: 504 The deadline has passed
        The request's time is used up.
        Causes: timeouts.total, the caller's Waystation-Timeout or, of a kept job, its expiry; the attempts \
        and the waits between them took longer, without the time in which bodies moved.
        Do: See waystation explain with the job's id for where the time went; give it more time or fewer \
        retries.
        Example: the request had 30s
        Names: route, job
        """
    case acceptanceUnknown = """
        acceptance_unknown: 504 Whether the job was accepted is not known
        The job store's confirmation was lost, so the job may be kept and delivered, or not be there.
        Causes: The connection to the database broke, or a standby was given up, between the write and its confirmation.
        Do: Ask for the job that the field Location names: it is kept, or is not found. With an idempotency key the \
        request may be sent again: it is the same job.
        Example: the database's answer was lost; whether the job was accepted is not known
        Names: route, job
        """
    case loop = """
        loop: 508 The request came round in a loop
        The request has passed through this relay before.
        Causes: A route whose upstream leads back to the relay; the relay stands in Via.
        Do: Correct the route's upstream.
        Example: the request has passed through this relay before
        Names: route
        """
}

extension ProblemCode {
    package var name: String { rawValue.name }
    /// The usual status of an answer with the code.
    package var status: Status { Status(rawValue: UInt16(rawValue.note.prefix(3)) ?? 500) }
    package var title: String { String(rawValue.note.dropFirst(4)) }
    /// The code as a word of the interface.
    package var word: Word { Word(.problem, rawValue, status: Int(status.rawValue)) }
}
