# Completes waystation(1) in fish; written by: waystation completion fish

# Whether an option of a command takes the next word.
function __waystation_takes
    switch "$argv"
        case ' --socket' ' --output' ' -o'
            return 0
        case 'status --output' 'status -o' 'status --socket'
            return 0
        case 'send --request' 'send -X' 'send --header' 'send -H' 'send --data' 'send -d' 'send --json' 'send --output' 'send -o' 'send --wait' 'send --key' 'send --timeout' 'send --attempt-timeout' 'send --max-attempts' 'send --fallback' 'send --constrained' 'send --delay' 'send --not-before' 'send --expires-after' 'send --priority' 'send --ordering-key' 'send --supersede-key' 'send --label' 'send --socket'
            return 0
        case 'jobs --route' 'jobs --state' 'jobs --reason' 'jobs --end' 'jobs --failed-by' 'jobs --status' 'jobs --label' 'jobs --node' 'jobs --since' 'jobs --limit' 'jobs --timeout' 'jobs --where' 'jobs --rate' 'jobs --reason' 'jobs --output' 'jobs -o' 'jobs --socket'
            return 0
        case 'runs --output' 'runs -o' 'runs --socket'
            return 0
        case 'dead --by' 'dead --route' 'dead --output' 'dead -o' 'dead --socket'
            return 0
        case 'explain --output' 'explain -o' 'explain --socket'
            return 0
        case 'cat --socket'
            return 0
        case 'shape --by' 'shape --output' 'shape -o' 'shape --socket'
            return 0
        case 'events --route' 'events --job' 'events --type' 'events --after' 'events --output' 'events -o' 'events --socket'
            return 0
        case 'logs --since' 'logs --until' 'logs --lines' 'logs -n' 'logs --priority' 'logs -p' 'logs --output' 'logs -o'
            return 0
        case 'routes --output' 'routes -o' 'routes --socket'
            return 0
        case 'pause --for' 'pause --reason' 'pause --output' 'pause -o' 'pause --socket'
            return 0
        case 'resume --output' 'resume -o' 'resume --socket'
            return 0
        case 'breaker --for' 'breaker --output' 'breaker -o' 'breaker --socket'
            return 0
        case 'limits --upstream' 'limits --class' 'limits --output' 'limits -o' 'limits --socket'
            return 0
        case 'metrics --socket'
            return 0
        case 'init --route' 'init --auth' 'init --secret' 'init --user' 'init --header' 'init --token-url' 'init --client-id' 'init --allow-addresses' 'init --output' 'init -o'
            return 0
        case 'check --timeout' 'check --output' 'check -o' 'check --socket'
            return 0
        case 'what-if --config' 'what-if -c' 'what-if --method' 'what-if -X' 'what-if --body' 'what-if --at' 'what-if --output' 'what-if -o' 'what-if --socket'
            return 0
        case 'rehearse --where' 'rehearse --records' 'rehearse --save' 'rehearse --output' 'rehearse -o' 'rehearse --socket'
            return 0
        case 'reload --output' 'reload -o' 'reload --socket'
            return 0
        case 'constrained --output' 'constrained -o' 'constrained --socket'
            return 0
        case 'ui --port' 'ui --for' 'ui --socket'
            return 0
        case 'mcp --socket' 'mcp --config' 'mcp -c'
            return 0
        case 'store --url' 'store --password-file' 'store --schema' 'store --role'
            return 0
    end
    return 1
end

# Whether the cursor is behind this command, '' before any, and where a place is given at that operand of it:
# 2, or 2+ from there on.
function __waystation_at --argument-names command place
    set -l found ''
    set -l operand 1
    set -l skips ''
    for word in (commandline -opc)[2..-1]
        if test -n "$skips"
            set skips ''
            continue
        end
        switch "$word"
            case '--*=*'
            case '-*'
                __waystation_takes $found $word
                and set skips 1
            case '*'
                if test -z "$found"
                    set found $word
                else
                    set operand (math $operand + 1)
                end
        end
    end
    test "$found" = "$command"
    or return 1
    switch "$place"
        case ''
            return 0
        case '*+'
            test $operand -ge (string trim --right --chars=+ -- $place)
        case '*'
            test $operand -eq $place
    end
end

# The words that only the daemon knows.
function __waystation_ask
    set -l socket
    set -l takes ''
    for word in (commandline -opc)[2..-1]
        test -n "$takes"
        and set socket $word
        set takes ''
        switch "$word"
            case --socket
                set takes 1
            case '--socket=*'
                set socket (string replace -- --socket= '' $word)
        end
    end
    command waystation __complete $argv[1] $socket 2>/dev/null
end

complete -c waystation -f
complete -c waystation -n "__waystation_at ''" -l version -d 'print the version'
complete -c waystation -s h -l help -d 'explain the command'
complete -c waystation -n "__waystation_at ''" -a status -d 'Shows the daemon, its routes and its credentials.'
complete -c waystation -n "__waystation_at ''" -a send -d 'Sends a request through the relay; curl\'s letters.'
complete -c waystation -n "__waystation_at ''" -a jobs -d 'Lists the jobs the daemon keeps, shows them, and acts on them.'
complete -c waystation -n "__waystation_at ''" -a runs -d 'Lists actions on all jobs that match, shows how far they are, and stops them.'
complete -c waystation -n "__waystation_at ''" -a dead -d 'Shows the jobs that were given up, grouped by what they died of.'
complete -c waystation -n "__waystation_at ''" -a explain -d 'Tells what happened to a job, or what a word means.'
complete -c waystation -n "__waystation_at ''" -a cat -d 'Prints the body of a job\'s request or answer, byte by byte.'
complete -c waystation -n "__waystation_at ''" -a shape -d 'Shows how many jobs wait, and for how long already.'
complete -c waystation -n "__waystation_at ''" -a events -d 'Shows what happened to jobs and routes.'
complete -c waystation -n "__waystation_at ''" -a logs -d 'Shows what the journal has of the daemon, a job or a route.'
complete -c waystation -n "__waystation_at ''" -a routes -d 'Lists the routes with their jobs, or shows one, or its last hour.'
complete -c waystation -n "__waystation_at ''" -a pause -d 'Sends nothing of a route until it is resumed.'
complete -c waystation -n "__waystation_at ''" -a resume -d 'Lets a paused route go on, with the jobs that waited for it.'
complete -c waystation -n "__waystation_at ''" -a breaker -d 'Keeps the breaker of an upstream open or closed for a time, or leaves it to itself again.'
complete -c waystation -n "__waystation_at ''" -a limits -d 'Shows what holds the requests of a route back, with present values, and lifts it.'
complete -c waystation -n "__waystation_at ''" -a metrics -d 'Prints the daemon\'s metrics, as Prometheus reads them.'
complete -c waystation -n "__waystation_at ''" -a init -d 'Writes a first configuration.'
complete -c waystation -n "__waystation_at ''" -a check -d 'Checks a configuration and tells every mistake at once.'
complete -c waystation -n "__waystation_at ''" -a what-if -d 'Tells what a route would do with a series of failures.'
complete -c waystation -n "__waystation_at ''" -a rehearse -d 'Takes jobs on record through the rules of another configuration.'
complete -c waystation -n "__waystation_at ''" -a reload -d 'Makes the daemon read its configuration again.'
complete -c waystation -n "__waystation_at ''" -a constrained -d 'Tells, or says, whether the network is constrained.'
complete -c waystation -n "__waystation_at ''" -a ui -d 'Shows the daemon in a browser.'
complete -c waystation -n "__waystation_at ''" -a mcp -d 'Lets an agent read what these commands tell.'
complete -c waystation -n "__waystation_at ''" -a demo -d 'Shows the relay recover from an upstream that misbehaves; needs no root and leaves nothing.'
complete -c waystation -n "__waystation_at ''" -a completion -d 'Prints the completion of the command line for a shell.'
complete -c waystation -n "__waystation_at ''" -a help -d 'Explains a command.'
complete -c waystation -n "__waystation_at ''" -a version -d 'Prints the version.'
complete -c waystation -n "__waystation_at ''" -a store -d 'Makes the schema of a fleet in a PostgreSQL database, or extends it.'
complete -c waystation -n "__waystation_at ''" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at ''" -s o -l output -x -a 'table json ndjson name' -d 'how to print; json is the API\'s object'
complete -c waystation -n "__waystation_at ''" -s q -l quiet -d 'print names or ids only'
complete -c waystation -n "__waystation_at ''" -l no-headers -d 'print no line of titles'
complete -c waystation -n "__waystation_at ''" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at status" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at status" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at status" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at send 1' -k -a '(__waystation_ask routes)'
complete -c waystation -n "__waystation_at send" -s X -l request -x -d 'the method'
complete -c waystation -n "__waystation_at send" -s H -l header -x -d 'a header field; may stand more than once'
complete -c waystation -n "__waystation_at send" -s d -l data -x -d 'the body'
complete -c waystation -n "__waystation_at send" -l json -x -d 'the body, as JSON'
complete -c waystation -n "__waystation_at send" -s i -l include -d 'print the answer\'s head, too'
complete -c waystation -n "__waystation_at send" -s o -l output -r -F -d 'write the body to a file'
complete -c waystation -n "__waystation_at send" -l any -d 'exit with status 0 whatever the upstream answered'
complete -c waystation -n "__waystation_at send" -l async -d 'hand it over for keeping and print the job\'s id only'
complete -c waystation -n "__waystation_at send" -l wait -x -d 'hand it over for keeping and wait for its end, at most so long'
complete -c waystation -n "__waystation_at send" -l key -x -d 'the idempotency key: the same request twice is one job'
complete -c waystation -n "__waystation_at send" -l timeout -x -d 'give up after this long, all attempts and waits included'
complete -c waystation -n "__waystation_at send" -l attempt-timeout -x -d 'give one attempt up after this long'
complete -c waystation -n "__waystation_at send" -l max-attempts -x -d 'let at most so many attempts reach the wire, the first one included'
complete -c waystation -n "__waystation_at send" -l fallback -x -a 'on off' -d 'whether failover, placeholders, fallbacks and stale answers may act'
complete -c waystation -n "__waystation_at send" -l constrained -x -a 'send wait refuse' -d 'the treatment of the request while the network is constrained'
complete -c waystation -n "__waystation_at send" -l delay -x -d 'keep the job, and put it off for this long'
complete -c waystation -n "__waystation_at send" -l not-before -x -d 'keep the job, and do not send it before this date'
complete -c waystation -n "__waystation_at send" -l expires-after -x -d 'keep the job, and give it up when it is not delivered in this time'
complete -c waystation -n "__waystation_at send" -l priority -x -d 'the urgency: 0 first, 7 last; 3 without it (RFC 9218)'
complete -c waystation -n "__waystation_at send" -l ordering-key -x -d 'keep the job, and deliver those of one key one at a time'
complete -c waystation -n "__waystation_at send" -l supersede-key -x -d 'keep the job, and cancel those of the same key that still wait'
complete -c waystation -n "__waystation_at send" -l label -x -k -a '(__waystation_ask labels)' -d 'a label that stands in the job\'s document and finds it; up to 16 times'
complete -c waystation -n "__waystation_at send" -l socket -r -F -d 'the daemon\'s jobs socket (WAYSTATION_SOCKET)'
complete -c waystation -n '__waystation_at jobs 1' -a 'ls show watch retry cancel hold release drop expunge'
complete -c waystation -n '__waystation_at jobs 2+' -k -a '(__waystation_ask jobs)'
complete -c waystation -n "__waystation_at jobs" -l route -x -k -a '(__waystation_ask routes)' -d 'of this route'
complete -c waystation -n "__waystation_at jobs" -l state -x -a 'scheduled queued running retrying held succeeded dead cancelled expired' -d 'in this state; several with commas between them'
complete -c waystation -n "__waystation_at jobs" -l reason -x -a 'backoff breaker_open rate_limited concurrency route_paused ordering not_before operator_hold credentials throttled network_constrained route_removed route_closed following due' -d 'waiting for this, such as backoff'
complete -c waystation -n "__waystation_at jobs" -l end -x -a 'exhausted rejected poison outcome_unknown not_repeatable corrupt superseded cancelled expired' -d 'over for this reason, such as exhausted'
complete -c waystation -n "__waystation_at jobs" -l failed-by -x -a 'dns_timeout dns_error destination_unavailable destination_ip_prohibited connection_refused connection_terminated connection_timeout connection_read_timeout connection_write_timeout connection_limit_reached tls_protocol_error tls_certificate_error tls_alert_received http_response_incomplete http_response_timeout http_protocol_error http_response_body_size http_response_header_section_size http_response_content_coding http_status api_error invalid_response operation_failed operation_lost follow_refused decoding empty_response preparation overloaded breaker_open rate_limited network_constrained route_closed credentials_failed deadline_exceeded cancelled client_gone http_request_error interrupted stored_body_corrupt stored_body_unread attempt_unrecorded' -d 'whose last failure is of this kind'
complete -c waystation -n "__waystation_at jobs" -l status -x -d 'whose last failure was an answer of this status'
complete -c waystation -n "__waystation_at jobs" -l label -x -k -a '(__waystation_ask labels)' -d 'with this label'
complete -c waystation -n "__waystation_at jobs" -l node -x -d 'that this daemon of a fleet accepted, or has under way'
complete -c waystation -n "__waystation_at jobs" -l since -x -d 'accepted since then, such as 1h'
complete -c waystation -n "__waystation_at jobs" -l limit -x -a 'all' -d 'how many are listed; 50'
complete -c waystation -n "__waystation_at jobs" -l timeout -x -d 'how long to watch'
complete -c waystation -n "__waystation_at jobs" -l where -x -d 'every job that matches, to list it or to act on it'
complete -c waystation -n "__waystation_at jobs" -l rate -x -d 'how many retried jobs become due in a second; also N/m, N/h'
complete -c waystation -n "__waystation_at jobs" -l unknown -d 'retry also what may have been carried out'
complete -c waystation -n "__waystation_at jobs" -l superseded -d 'retry also what a newer job took the place of'
complete -c waystation -n "__waystation_at jobs" -l reason -x -d 'what others are told of an action on all that match'
complete -c waystation -n "__waystation_at jobs" -l detach -d 'begin such an action, and do not wait for its end'
complete -c waystation -n "__waystation_at jobs" -s n -l dry-run -d 'count only'
complete -c waystation -n "__waystation_at jobs" -s y -l yes -d 'do not ask'
complete -c waystation -n "__waystation_at jobs" -s o -l output -x -a 'table json ndjson name' -d 'how to print; json is the API\'s object'
complete -c waystation -n "__waystation_at jobs" -l no-headers -d 'print no line of titles'
complete -c waystation -n "__waystation_at jobs" -s q -l quiet -d 'print names or ids only'
complete -c waystation -n "__waystation_at jobs" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at jobs" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at runs 1' -a 'ls show watch stop'
complete -c waystation -n "__waystation_at runs" -s o -l output -x -a 'table json ndjson name' -d 'how to print; json is the API\'s object'
complete -c waystation -n "__waystation_at runs" -l no-headers -d 'print no line of titles'
complete -c waystation -n "__waystation_at runs" -s q -l quiet -d 'print names or ids only'
complete -c waystation -n "__waystation_at runs" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at runs" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at dead" -l by -x -a 'kind route upstream' -d 'what a group has in common; kind'
complete -c waystation -n "__waystation_at dead" -l route -x -k -a '(__waystation_ask routes)' -d 'of this route only'
complete -c waystation -n "__waystation_at dead" -s o -l output -x -a 'table json ndjson name' -d 'how to print; json is the API\'s object'
complete -c waystation -n "__waystation_at dead" -l no-headers -d 'print no line of titles'
complete -c waystation -n "__waystation_at dead" -s q -l quiet -d 'print names or ids only'
complete -c waystation -n "__waystation_at dead" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at dead" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at explain 1' -k -a '(__waystation_ask jobs,words)'
complete -c waystation -n "__waystation_at explain" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at explain" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at explain" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at cat 1' -k -a '(__waystation_ask jobs)'
complete -c waystation -n "__waystation_at cat" -l response -d 'the last answer\'s, of whichever attempt, in place of the request\'s'
complete -c waystation -n "__waystation_at cat" -l headers -d 'the answer\'s status and fields before it'
complete -c waystation -n "__waystation_at cat" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at shape" -l by -x -a 'route state failure_kind' -d 'what a row is of; route'
complete -c waystation -n "__waystation_at shape" -s o -l output -x -a 'table json ndjson name' -d 'how to print; json is the API\'s object'
complete -c waystation -n "__waystation_at shape" -l no-headers -d 'print no line of titles'
complete -c waystation -n "__waystation_at shape" -s q -l quiet -d 'print names or ids only'
complete -c waystation -n "__waystation_at shape" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at shape" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at events" -l route -x -k -a '(__waystation_ask routes)' -d 'of this route'
complete -c waystation -n "__waystation_at events" -l job -x -k -a '(__waystation_ask jobs)' -d 'of this job'
complete -c waystation -n "__waystation_at events" -l type -x -a 'job.accepted job.attempt.started job.attempt.failed job.looked_up job.recovered job.succeeded job.dead job.cancelled job.expired job.held request.refused run.started run.ended route.paused route.resumed route.closed route.opened route.breaker route.breaker.ordered route.limits.cleared route.credentials.refreshed route.credentials.failed config.reloaded config.rejected storage.stalled storage.resumed notices.owed' -d 'of this type; may stand more than once'
complete -c waystation -n "__waystation_at events" -s f -l follow -d 'wait for what comes'
complete -c waystation -n "__waystation_at events" -l after -x -d 'those after this event; 0 is all that are remembered'
complete -c waystation -n "__waystation_at events" -s o -l output -x -a 'table json ndjson name' -d 'how to print; name is the job\'s id'
complete -c waystation -n "__waystation_at events" -s q -l quiet -d 'print ids of jobs only'
complete -c waystation -n "__waystation_at events" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at events" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at logs 1' -k -a '(__waystation_ask jobs,routes)'
complete -c waystation -n "__waystation_at logs" -s f -l follow -d 'wait for what comes'
complete -c waystation -n "__waystation_at logs" -l since -x -d 'from then on, such as 1h; also as journalctl has it'
complete -c waystation -n "__waystation_at logs" -l until -x -d 'until then'
complete -c waystation -n "__waystation_at logs" -s n -l lines -x -a 'all' -d 'the latest so many'
complete -c waystation -n "__waystation_at logs" -s p -l priority -x -a 'emerg alert crit err warning notice info debug' -d 'so severe at least, such as warning or err'
complete -c waystation -n "__waystation_at logs" -s x -l catalog -d 'explain each record'
complete -c waystation -n "__waystation_at logs" -s o -l output -x -a 'short short-iso short-precise verbose cat json json-pretty export' -d 'how to print, as journalctl has it, such as json'
complete -c waystation -n "__waystation_at logs" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at logs" -l print -d 'print the command for a shell and do not run it'
complete -c waystation -n '__waystation_at routes 1' -k -a '(__waystation_ask routes)'
complete -c waystation -n "__waystation_at routes" -s o -l output -x -a 'table json ndjson name' -d 'how to print; json is the API\'s object'
complete -c waystation -n "__waystation_at routes" -l no-headers -d 'print no line of titles'
complete -c waystation -n "__waystation_at routes" -s q -l quiet -d 'print names or ids only'
complete -c waystation -n "__waystation_at routes" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at routes" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at routes" -l history -d 'the last hour of the route, minute by minute'
complete -c waystation -n '__waystation_at pause 1' -k -a '(__waystation_ask routes)'
complete -c waystation -n "__waystation_at pause" -l for -x -d 'resume by itself after this long, such as 10m'
complete -c waystation -n "__waystation_at pause" -l reason -x -d 'what others are told'
complete -c waystation -n "__waystation_at pause" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at pause" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at pause" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at resume 1' -k -a '(__waystation_ask routes)'
complete -c waystation -n "__waystation_at resume" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at resume" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at resume" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at breaker 1' -k -a '(__waystation_ask upstreams)'
complete -c waystation -n '__waystation_at breaker 2' -a 'open closed auto'
complete -c waystation -n "__waystation_at breaker" -l for -x -d 'how long that holds, 1s to 1d (10m)'
complete -c waystation -n "__waystation_at breaker" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at breaker" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at breaker" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at limits 1' -k -a '(__waystation_ask routes)'
complete -c waystation -n "__waystation_at limits" -l clear -d 'lift it first'
complete -c waystation -n "__waystation_at limits" -l upstream -x -d 'of that upstream only'
complete -c waystation -n "__waystation_at limits" -l class -x -d 'of those requests only'
complete -c waystation -n "__waystation_at limits" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at limits" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at limits" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at metrics" -l openmetrics -d 'in the OpenMetrics format, with the traces of callers that sent one'
complete -c waystation -n "__waystation_at metrics" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at init" -l route -x -d 'the route\'s name; from the URL\'s host'
complete -c waystation -n "__waystation_at init" -l auth -x -a 'none bearer basic header oauth2_client_credentials oauth2_refresh_token' -d 'what the upstream knows you by; none'
complete -c waystation -n "__waystation_at init" -l secret -r -F -d 'the systemd credential or the file it is kept in'
complete -c waystation -n "__waystation_at init" -l user -x -d 'the user of basic'
complete -c waystation -n "__waystation_at init" -l header -x -d 'the header that has the key; X-Api-Key'
complete -c waystation -n "__waystation_at init" -l token-url -x -d 'the token endpoint of oauth2'
complete -c waystation -n "__waystation_at init" -l client-id -x -d 'the client of oauth2'
complete -c waystation -n "__waystation_at init" -l durable -d 'keep each request on disk and deliver it later'
complete -c waystation -n "__waystation_at init" -l generate-keys -d 'give requests an Idempotency-Key, which the upstream must know'
complete -c waystation -n "__waystation_at init" -l allow-addresses -x -d 'may be dialled though not public; may stand more than once'
complete -c waystation -n "__waystation_at init" -s o -l output -r -F -d 'write it there; - is standard output'
complete -c waystation -n "__waystation_at init" -l force -d 'replace what stands there, and keep a backup'
complete -c waystation -n '__waystation_at check 1' -F
complete -c waystation -n "__waystation_at check" -l strict -d 'count warnings as errors'
complete -c waystation -n "__waystation_at check" -l worst -d 'what routes come to at worst, also as JSON'
complete -c waystation -n "__waystation_at check" -l online -d 'go to the endpoints and tell what a request would meet'
complete -c waystation -n "__waystation_at check" -l timeout -x -d 'with --online, for all of it (10s)'
complete -c waystation -n "__waystation_at check" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at check" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at what-if 1' -k -a '(__waystation_ask routes)'
complete -c waystation -n '__waystation_at what-if 2' -a 'ok timeout refused reset dns tls unreachable 401 429 500 503 found absent running done failed'
complete -c waystation -n "__waystation_at what-if" -s c -l config -r -F -d 'the configuration; /etc/waystation/waystation.json'
complete -c waystation -n "__waystation_at what-if" -s X -l method -x -d 'the method; GET, and POST of a kept job, with a body or with verify'
complete -c waystation -n "__waystation_at what-if" -l body -r -F -d 'the request\'s content, for a route that looks into it'
complete -c waystation -n "__waystation_at what-if" -l key -d 'the request has an idempotency key'
complete -c waystation -n "__waystation_at what-if" -l durable -d 'the request is kept, and delivered from there'
complete -c waystation -n "__waystation_at what-if" -l at -x -d 'when it begins, such as 2027-01-31T08:00:00Z; now'
complete -c waystation -n "__waystation_at what-if" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at what-if" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at rehearse 1' -F
complete -c waystation -n "__waystation_at rehearse" -l where -x -d 'which jobs; state=dead'
complete -c waystation -n "__waystation_at rehearse" -l records -r -F -d 'documents of jobs in place of the daemon\'s; - is standard input'
complete -c waystation -n "__waystation_at rehearse" -l save -r -F -d 'writes what was read of the daemon there, a job in each line'
complete -c waystation -n "__waystation_at rehearse" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at rehearse" -l utc -d 'print times in UTC'
complete -c waystation -n "__waystation_at rehearse" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at reload" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at reload" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n '__waystation_at constrained 1' -a 'on off auto'
complete -c waystation -n "__waystation_at constrained" -s o -l output -x -a 'table json' -d 'how to print; json is the API\'s own object'
complete -c waystation -n "__waystation_at constrained" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at ui" -l port -x -d 'the loopback\'s port; any that is free'
complete -c waystation -n "__waystation_at ui" -l for -x -d 'whose browser it is, by name or number; who typed sudo, run0, doas or pkexec'
complete -c waystation -n "__waystation_at ui" -l numeric -d 'link to 127.0.0.1, for a browser that knows no names below localhost'
complete -c waystation -n "__waystation_at ui" -l no-open -d 'only print the link'
complete -c waystation -n "__waystation_at ui" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at mcp" -l socket -r -F -d 'the daemon\'s control socket (WAYSTATION_CONTROL_SOCKET)'
complete -c waystation -n "__waystation_at mcp" -s c -l config -r -F -d 'for what-if; /etc/waystation/waystation.json'
complete -c waystation -n '__waystation_at completion 1' -a 'bash zsh fish'
complete -c waystation -n '__waystation_at help 1' -a 'status send jobs runs dead explain cat shape events logs routes pause resume breaker limits metrics init check what-if rehearse reload constrained ui mcp demo completion help version store'
complete -c waystation -n '__waystation_at store 1' -a 'migrate'
complete -c waystation -n "__waystation_at store" -l url -x -d 'where the database is, without the password'
complete -c waystation -n "__waystation_at store" -l password-file -r -F -d 'a file with the password; - is standard input'
complete -c waystation -n "__waystation_at store" -l schema -x -d 'the schema; waystation unless it is given'
complete -c waystation -n "__waystation_at store" -l role -x -d 'the daemons\' role; waystation unless it is given'
complete -c waystation -n "__waystation_at store" -l check -d 'change nothing: tell what there is to do, with status 1'
