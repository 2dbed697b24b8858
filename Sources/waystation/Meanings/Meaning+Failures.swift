extension Meaning {
    /// Kinds of failures.
    static let failures: [Meaning] = [
        Meaning(
            .failure,
            "dns_timeout",
            "The name look-up took too long.",
            causes: "A name server that does not answer.",
            remedy: "Try the name on this machine: getent hosts NAME"
        ),
        Meaning(
            .failure,
            "dns_error",
            "The upstream's name does not exist, or the name servers failed.",
            causes: "A misspelt host in the upstream's url; a zone that is gone; no network.",
            remedy: "Try the name on this machine: getent hosts NAME"
        ),
        Meaning(
            .failure,
            "destination_unavailable",
            "No address of the upstream could be reached.",
            causes: "No route to its network; a firewall; the network of this machine is down.",
            remedy: "Look at the machine's network and at the address in the attempt."
        ),
        Meaning(
            .failure,
            "destination_ip_prohibited",
            "The upstream's addresses may not be dialled, because they are not public.",
            causes: """
                An upstream on this machine or in a private network that the route does not allow; a \
                name that was bent to such an address.
                """,
            remedy: "If it is meant, name the network in the route's allow_addresses."
        ),
        Meaning(
            .failure,
            "connection_refused",
            "The upstream's machine refused the connection.",
            causes: "Nothing listens at that port: the service is stopped, or the port is wrong.",
            remedy: "Start the service, or correct the upstream's url."
        ),
        Meaning(
            .failure,
            "connection_terminated",
            "The connection ended before the answer began.",
            causes: """
                The upstream crashed or restarts; it, or a balancer before it, closed an idle \
                connection.
                """,
            remedy: "A few are normal; for many look at the upstream's log."
        ),
        Meaning(
            .failure,
            "connection_timeout",
            "Connecting, with name look-up and TLS handshake, took longer than timeouts.connect.",
            causes: "A firewall that drops packets; an upstream that accepts no more connections.",
            remedy: "Try it with curl from this machine; raise timeouts.connect only for far upstreams."
        ),
        Meaning(
            .failure,
            "connection_read_timeout",
            "The upstream sent nothing for longer than timeouts.idle.",
            causes: "It hangs in the middle of an answer, or sends it more slowly than timeouts.min_rate.",
            remedy: "Look at the upstream; raise timeouts.idle for answers with long pauses."
        ),
        Meaning(
            .failure,
            "connection_write_timeout",
            "The upstream took nothing for longer than timeouts.idle.",
            causes: "It does not read the request, or more slowly than timeouts.min_rate.",
            remedy: "Look at the upstream, and at the network for lost packets."
        ),
        Meaning(
            .failure,
            "connection_limit_reached",
            "There is no room for another connection.",
            causes: "The process has as many open files as it may, or an upstream as many connections.",
            remedy: "Raise LimitNOFILE= of the unit, or lower concurrency.max_requests."
        ),
        Meaning(
            .failure,
            "tls_protocol_error",
            "The TLS handshake failed.",
            causes: "The port does not speak TLS, or speaks versions that are too old.",
            remedy: "Try it: openssl s_client -connect HOST:PORT"
        ),
        Meaning(
            .failure,
            "tls_certificate_error",
            "The upstream's certificate is not trusted, or its chain has none of the pinned keys.",
            causes: """
                It has expired, is for another name, or comes from an authority this machine does not \
                know; the keys were changed.
                """,
            remedy: """
                See detail; renew the certificate, name its authority in the route's tls section, or \
                correct the pins.
                """
        ),
        Meaning(
            .failure,
            "tls_alert_received",
            "The upstream ended the TLS handshake with an alert.",
            causes: "It wants a client certificate, or does not know the name.",
            remedy: "See detail; name a client_certificate in the route's tls section."
        ),
        Meaning(
            .failure,
            "http_response_incomplete",
            "The answer ended before it was complete.",
            causes: "The upstream crashed or was restarted in the middle of it; a proxy cut it off.",
            remedy: """
                Look at the upstream; a request that is safe to repeat is repeated by a rule on \
                protocol.
                """
        ),
        Meaning(
            .failure,
            "http_response_timeout",
            "The answer was not there in the time of the attempt, timeouts.attempt.",
            causes: "The upstream is slow, or has more to do than it can.",
            remedy: "Look at the upstream; raise timeouts.attempt if such answers take that long."
        ),
        Meaning(
            .failure,
            "http_protocol_error",
            "The answer is not HTTP, or its status is outside 200 to 599.",
            causes: "Another service at that port; a server that breaks the protocol.",
            remedy: "Look at the answer with curl -v."
        ),
        Meaning(
            .failure,
            "http_response_body_size",
            "The answer is larger than may be held, or looked into; detail has the limit.",
            causes: "An answer that grew; a request without a page size.",
            remedy:
                "Ask for less, or raise the limit that detail names: limits.max_response_body or success.inspect_limit."
        ),
        Meaning(
            .failure,
            "http_response_header_section_size",
            "The head of the answer is larger than may be, or has too many fields.",
            causes: "Cookies without end.",
            remedy: "Mend the upstream."
        ),
        Meaning(
            .failure,
            "http_response_content_coding",
            "The content of the answer could not be decoded, or grew too much.",
            causes: """
                A coding that the relay cannot look into (br, zstd) on a route that has to look into \
                the answer; a broken Content-Encoding; content made to grow when it is unpacked.
                """,
            remedy: """
                Let the upstream answer with gzip, deflate or no coding, which is what the relay asks for.
                """
        ),
        Meaning(
            .failure,
            "http_status",
            "The status of the answer is none that counts as a success.",
            causes: "The upstream says no: 4xx is mostly the request's fault, 5xx the upstream's.",
            remedy: """
                See the attempt's status; of a kept job that is over, waystation cat --response shows the last \
                answer.
                """
        ),
        Meaning(
            .failure,
            "api_error",
            "The answer is an error document of the upstream, whatever its status.",
            causes: """
                The upstream refuses the request in its own words; api_code of the attempt has its code.
                """,
            remedy: "Look the code up in the upstream's documentation."
        ),
        Meaning(
            .failure,
            "invalid_response",
            "The status counts as a success, and the content did not pass the route's success rules.",
            causes: "A login page or an error with status 200; an interface that has changed.",
            remedy: "Look at the answer; correct the success section of the route."
        ),
        Meaning(
            .failure,
            "decoding",
            "The answer could not be turned into the value that was asked for.",
            causes: """
                A response section of the route that does not fit the answer; an interface that has \
                changed.
                """,
            remedy: "Look at the answer; correct the response section of the route."
        ),
        Meaning(
            .failure,
            "empty_response",
            "The answer counts as a success and is empty where content is wanted.",
            causes: """
                An upstream that answers 200 without content; a route that wants content of requests that \
                have none.
                """,
            remedy: """
                Correct the response section of the route: its empty key, or what success.require looks \
                for.
                """
        ),
        Meaning(
            .failure,
            "preparation",
            "The request could not be made ready; nothing was sent, and no rule is asked.",
            causes: "An envelope around a body that is not JSON.",
            remedy: "Correct the request, or the request section of the route."
        ),
        Meaning(
            .failure,
            "overloaded",
            "The relay had no room for the request, which then was not sent, or in memory for its answer.",
            causes: """
                The route's permits are taken, and as many requests wait as may; an answer that is looked into \
                found no room in limits.memory in time.
                """,
            remedy:
                "See detail; raise concurrency when the upstream can bear it, or limits.memory, or send less."
        ),
        Meaning(
            .failure,
            "breaker_open",
            "The circuit breaker stops requests that fail at the upstream, so nothing was sent.",
            causes:
                "Of the attempts that ended in the last 2 s, or of the last 20, 95 in a hundred failed, or what circuit_breaker says.",
            remedy: "Mend the upstream; give the route a rule on breaker_open that fails over or responds."
        ),
        Meaning(
            .failure,
            "rate_limited",
            "The request could not wait as long as it would have had to, so nothing was sent.",
            causes: """
                The upstream asked for patience (Retry-After, RateLimit) beyond the request's time; the route's \
                rate_limit has no turn before it.
                """,
            remedy: "Wait as Retry-After says; send less, give requests more time, or have them kept."
        ),
        Meaning(
            .failure,
            "credentials_failed",
            """
            The route's credential could not be obtained, and nothing was sent; or the upstream refuses it, also when \
            it was fetched anew.
            """,
            causes:
                "The token endpoint is down or refuses; the secret was replaced; the upstream has withdrawn access.",
            remedy: """
                See in detail what the token endpoint answered; compare token_url, client_id and the secret \
                with what it expects.
                """
        ),
        Meaning(
            .failure,
            "deadline_exceeded",
            "The time of the whole job was up.",
            causes: """
                The attempts and the waits between them took longer than timeouts.total, the caller's \
                timeout, or the expiry of a kept job.
                """,
            remedy: "See where the time went in the attempts; give it more time or fewer retries."
        ),
        Meaning(
            .failure,
            "cancelled",
            "The attempt was ended by the relay before it was complete.",
            causes: "Somebody cancelled the job, its caller hung up, or the daemon stopped.",
            remedy: "Nothing is to be done; sent tells whether the upstream may have acted."
        ),
        Meaning(
            .failure,
            "client_gone",
            "The caller hung up before there was an answer.",
            causes: "A client with a shorter timeout than the route's.",
            remedy: "Give the client more time, or say less in Waystation-Timeout."
        ),
        Meaning(
            .failure,
            "http_request_error",
            "The request's body did not come as it has to.",
            causes: """
                The caller paused for longer than timeouts.idle, sent more slowly than timeouts.min_rate, more than \
                limits.max_request_body, or chunks that are malformed.
                """,
            remedy: "Send without pauses."
        ),
        Meaning(
            .failure,
            "interrupted",
            "The relay ended without warning while the attempt of a kept job was under way.",
            causes: "The daemon crashed or was killed, or the machine lost power.",
            remedy: """
                Look into the journal for the crash. The attempt counts, and is repeated only where that \
                is safe.
                """
        ),
        Meaning(
            .failure,
            "stored_body_corrupt",
            "The body of a kept job is no longer what was stored, so it is not sent; the upstream has no part in that.",
            causes: "A failing disk, or somebody who changed the store's files.",
            remedy: "Look at the disk; hand the request over again."
        ),
        Meaning(
            .failure,
            "stored_body_unread",
            "The body of a kept job, or the copy of a body, could not be read; the upstream has no part in that.",
            causes: "A disk that fails or does not answer.",
            remedy: "Look at the disk and at the kernel's log; the job is tried again."
        ),
        Meaning(
            .failure,
            "attempt_unrecorded",
            "The next attempt of a kept job could not be put on record, so it was not sent.",
            causes: "The job store has no room, or its disk fails.",
            remedy: "See waystation status for the store; the job is tried again."
        ),
    ]
}
