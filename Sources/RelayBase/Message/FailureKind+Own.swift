extension FailureKind {
    /// The kinds that the relay itself reports, in the order of the documentation.
    ///
    /// A row has the name, with the groups that the kind belongs to.
    package enum Own: WordRow, CaseIterable {
        case dnsTimeout = """
            dns_timeout: connection timeout dns
            The name look-up took too long.
            Causes: A name server that does not answer.
            Do: Try the name on this machine: getent hosts NAME
            """
        case dnsError = """
            dns_error: connection dns
            The upstream's name does not exist, or the name servers failed.
            Causes: A misspelt host in the upstream's url; a zone that is gone; no network.
            Do: Try the name on this machine: getent hosts NAME
            """
        case destinationUnavailable = """
            destination_unavailable: connection
            No address of the upstream could be reached.
            Causes: No route to its network; a firewall; the network of this machine is down.
            Do: Look at the machine's network and at the address in the attempt.
            """
        case destinationIPProhibited = """
            destination_ip_prohibited
            The upstream's addresses may not be dialled, because they are not public.
            Causes: An upstream on this machine or in a private network that the route does not allow; a name that was \
            bent to such an address.
            Do: If it is meant, name the network in the route's allow_addresses.
            """
        case connectionRefused = """
            connection_refused: connection
            The upstream's machine refused the connection.
            Causes: Nothing listens at that port: the service is stopped, or the port is wrong.
            Do: Start the service, or correct the upstream's url.
            """
        case connectionTerminated = """
            connection_terminated: connection
            The connection ended before the answer began.
            Causes: The upstream crashed or restarts; it, or a balancer before it, closed an idle connection.
            Do: A few are normal; for many look at the upstream's log.
            """
        case connectionTimeout = """
            connection_timeout: connection timeout
            Connecting, with name look-up and TLS handshake, took longer than timeouts.connect.
            Causes: A firewall that drops packets; an upstream that accepts no more connections.
            Do: Try it with curl from this machine; raise timeouts.connect only for far upstreams.
            """
        case connectionReadTimeout = """
            connection_read_timeout: timeout
            The upstream sent nothing for longer than timeouts.idle.
            Causes: It hangs in the middle of an answer, or sends it more slowly than timeouts.min_rate.
            Do: Look at the upstream; raise timeouts.idle for answers with long pauses.
            """
        case connectionWriteTimeout = """
            connection_write_timeout: timeout
            The upstream took nothing for longer than timeouts.idle.
            Causes: It does not read the request, or more slowly than timeouts.min_rate.
            Do: Look at the upstream, and at the network for lost packets.
            """
        case connectionLimitReached = """
            connection_limit_reached: connection
            There is no room for another connection.
            Causes: The process or the machine has run out of open files, or of memory for connections.
            Do: Raise LimitNOFILE= of the unit, fs.file-max or memory, as detail says, or lower concurrency.max_requests.
            """
        case tlsProtocolError = """
            tls_protocol_error: tls
            The TLS handshake failed.
            Causes: The port does not speak TLS, or speaks versions that are too old.
            Do: Try it: openssl s_client -connect HOST:PORT
            """
        case tlsCertificateError = """
            tls_certificate_error: tls
            The upstream's certificate is not trusted, or its chain has none of the pinned keys.
            Causes: It has expired, is for another name, or comes from an authority this machine does not know; the keys \
            were changed.
            Do: See detail; renew the certificate, name its authority in the route's tls section, or correct the pins.
            """
        case tlsAlertReceived = """
            tls_alert_received: tls
            The upstream ended the TLS handshake with an alert.
            Causes: It wants a client certificate, or does not know the name.
            Do: See detail; name a client_certificate in the route's tls section.
            """
        case httpResponseIncomplete = """
            http_response_incomplete: protocol
            The answer ended before it was complete.
            Causes: The upstream crashed or was restarted in the middle of it; a proxy cut it off.
            Do: Look at the upstream; a rule on protocol repeats requests that are safe to repeat.
            """
        case httpResponseTimeout = """
            http_response_timeout: timeout
            The answer took longer than timeouts.attempt.
            Causes: The upstream is slow, or has more to do than it can.
            Do: Look at the upstream; raise timeouts.attempt if such answers take that long.
            """
        case httpProtocolError = """
            http_protocol_error: protocol
            The answer is not HTTP, or its status is outside 200 to 599.
            Causes: Another service at that port; a server that breaks the protocol.
            Do: See the answer with curl -v.
            """
        case httpResponseBodySize = """
            http_response_body_size: protocol
            The answer is larger than the limit that detail names.
            Causes: An answer that grew; a request without a page size.
            Do: Ask for less, or raise limits.max_response_body or success.inspect_limit, as detail says.
            """
        case httpResponseHeaderSectionSize = """
            http_response_header_section_size: protocol
            The head of the answer is too large, or has too many fields.
            Causes: Cookies without end.
            Do: Mend the upstream.
            """
        case httpResponseContentCoding = """
            http_response_content_coding: protocol
            The content of the answer could not be decoded, or grew too much.
            Causes: A coding that the relay cannot look into (br, zstd) on a route that has to look into the answer; a \
            broken Content-Encoding; content made to grow when it is unpacked.
            Do: Let the upstream answer with gzip, deflate or no coding.
            """
        case httpStatus = """
            http_status
            The status of the answer does not count as a success.
            Causes: The upstream refuses or fails: 4xx is mostly the request's fault, 5xx the upstream's.
            Do: See the attempt's status; of a kept job that is over, waystation cat --response shows the last answer.
            """
        case apiError = """
            api_error
            The answer is an error document of the upstream, whatever its status.
            Causes: The upstream refuses the request in its own words; api_code of the attempt has its code.
            Do: Look the code up in the upstream's documentation.
            """
        case invalidResponse = """
            invalid_response
            The status counts as a success, and the content did not pass the route's success rules.
            Causes: A login page or an error with status 200; an interface that has changed.
            Do: Look at the answer; correct the success section of the route.
            """
        case operationFailed = """
            operation_failed
            The upstream's operation has failed.
            Causes: The upstream could not do what was asked, as it says; see the last look of the attempts.
            Do: See the last answer; a rule that names operation_failed may send it again.
            """
        case operationLost = """
            operation_lost
            The end of the upstream's operation cannot be learnt.
            Causes: The upstream has forgotten the operation (404, 410), or names another; it took longer than \
            follow.timeout; its address is missing.
            Do: Ask the upstream; correct the route's follow.
            """
        case followRefused = """
            follow_refused
            The address of the upstream's operation, or of its result, is none that the route may ask.
            Causes: It leads out of the upstream's base path, or to another origin.
            Do: Set follow.below where operations stand beside the base; ask the upstream what became of this one.
            """
        case decoding = """
            decoding
            The answer could not be turned into the value that was asked for.
            Causes: A response section of the route that does not fit the answer; an interface that has changed.
            Do: Look at the answer; correct the response section of the route.
            """
        case emptyResponse = """
            empty_response
            The answer counts as a success and is empty where content is wanted.
            Causes: An upstream that answers 200 without content; a route that wants content of requests that have none.
            Do: Correct the empty key of the route's response section, or success.require.
            """
        case preparation = """
            preparation
            The request could not be made ready, so the attempt was not sent; no rule is asked.
            Causes: An envelope around a body that is not JSON.
            Do: Correct the request, or the request section of the route.
            """
        case overloaded = """
            overloaded
            The relay had no room for the request, so it was not sent, or no memory for its answer.
            Causes: The route's permits are taken and its queue of requests is full; an answer that is looked into found \
            no room in limits.memory in time.
            Do: See detail; raise concurrency when the upstream can bear it, or limits.memory, or send less.
            """
        case breakerOpen = """
            breaker_open
            The circuit breaker stops requests that fail at the upstream, so nothing was sent.
            Causes: Of the attempts that ended in the last 2 s, or of the last 20, 95 in a hundred failed, or what \
            circuit_breaker says.
            Do: Mend the upstream; give the route a rule on breaker_open that fails over or responds.
            """
        case rateLimited = """
            rate_limited
            The wait would be longer than the request's time, so nothing was sent.
            Causes: The upstream asked for patience (Retry-After, RateLimit) beyond the request's time; the route's \
            rate_limit has no turn before it.
            Do: Wait as Retry-After says; send less, give requests more time, or have them kept.
            """
        case networkConstrained = """
            network_constrained
            The network counts as constrained, and nothing was sent.
            Causes: The route's constrained, or the request's Waystation-Constrained, says refuse; or wait, and it was \
            constrained for all of the request's time.
            Do: See why it counts as constrained: waystation constrained
            """
        case routeClosed = """
            route_closed
            The route is closed at this time, as planned, so nothing was sent.
            Causes: A window of the route's closed.
            Do: Wait as Retry-After says, or have requests kept; give the route a rule on route_closed that responds.
            """
        case credentialsFailed = """
            credentials_failed
            The route's credential could not be obtained, so nothing was sent; or the upstream refuses even a new one.
            Causes: The token endpoint is down or refuses; the secret was replaced; the upstream has withdrawn access.
            Do: See the token endpoint's answer in detail; compare token_url, client_id and the secret with what it expects.
            """
        case deadlineExceeded = """
            deadline_exceeded
            The time of the whole job is used up.
            Causes: The attempts and the waits between them took longer than timeouts.total, the caller's timeout, or the \
            expiry of a kept job.
            Do: See where the time went in the attempts; give it more time or fewer retries.
            """
        case cancelled = """
            cancelled
            The relay ended the attempt before it was complete.
            Causes: Somebody cancelled the job, its caller hung up, or the daemon stopped.
            Do: No action is needed; sent tells whether the upstream may have acted.
            """
        case clientGone = """
            client_gone
            The caller hung up before there was an answer.
            Causes: A client with a shorter timeout than the route's.
            Do: Give the client more time, or say less in Waystation-Timeout.
            """
        case httpRequestError = """
            http_request_error
            The request's body came too slowly, is too large, or is malformed.
            Causes: The caller paused for longer than timeouts.idle, sent more slowly than timeouts.min_rate, more than \
            limits.max_request_body, or chunks that are malformed.
            Do: Send without pauses, in well-formed chunks, within limits.max_request_body.
            """
        case interrupted = """
            interrupted
            The relay ended without warning while the attempt of a kept job was under way.
            Causes: The daemon crashed or was killed, or the machine lost power.
            Do: See the journal for the crash; the attempt counts, and is repeated where that is safe.
            """
        case storedBodyCorrupt = """
            stored_body_corrupt
            The relay's own copy of the body is damaged, so it is not sent.
            Causes: A failing disk, or somebody who changed the store's files.
            Do: Look at the disk; hand the request over again.
            """
        case storedBodyUnread = """
            stored_body_unread
            The relay's own copy of a body could not be read.
            Causes: A disk that fails or does not answer.
            Do: Look at the disk and at the kernel's log; the job is tried again.
            """
        case attemptUnrecorded = """
            attempt_unrecorded
            The next attempt of a kept job could not be put on record, so it was not sent.
            Causes: The job store has no room, or its disk fails.
            Do: See waystation status for the store; the job is tried again.
            """
    }
}
