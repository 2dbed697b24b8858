# Completes waystation(1) in bash; written by: waystation completion bash

# The words of one command.
_waystation_options() {
    case $1 in
        '') echo '--socket --output -o --quiet -q --no-headers --utc --version --help' ;;
        'status') echo '--output -o --utc --socket --help' ;;
        'send') echo '--request -X --header -H --data -d --json --include -i --output -o --any --async --wait --key --timeout --attempt-timeout --max-attempts --fallback --constrained --delay --not-before --expires-after --priority --ordering-key --supersede-key --label --socket --help' ;;
        'jobs') echo '--route --state --reason --end --failed-by --status --label --node --since --limit --timeout --where --rate --unknown --superseded --reason --detach --dry-run -n --yes -y --output -o --no-headers --quiet -q --utc --socket --help' ;;
        'runs') echo '--output -o --no-headers --quiet -q --utc --socket --help' ;;
        'dead') echo '--by --route --output -o --no-headers --quiet -q --utc --socket --help' ;;
        'explain') echo '--output -o --utc --socket --help' ;;
        'cat') echo '--response --headers --socket --help' ;;
        'shape') echo '--by --output -o --no-headers --quiet -q --utc --socket --help' ;;
        'events') echo '--route --job --type --follow -f --after --output -o --quiet -q --utc --socket --help' ;;
        'logs') echo '--follow -f --since --until --lines -n --priority -p --catalog -x --output -o --utc --print --help' ;;
        'routes') echo '--output -o --no-headers --quiet -q --utc --socket --history --help' ;;
        'pause') echo '--for --reason --output -o --utc --socket --help' ;;
        'resume') echo '--output -o --utc --socket --help' ;;
        'breaker') echo '--for --output -o --utc --socket --help' ;;
        'limits') echo '--clear --upstream --class --output -o --utc --socket --help' ;;
        'metrics') echo '--openmetrics --socket --help' ;;
        'init') echo '--route --auth --secret --user --header --token-url --client-id --durable --generate-keys --allow-addresses --output -o --force --help' ;;
        'check') echo '--strict --worst --online --timeout --output -o --socket --help' ;;
        'what-if') echo '--config -c --method -X --body --key --durable --at --output -o --socket --help' ;;
        'rehearse') echo '--where --records --save --output -o --utc --socket --help' ;;
        'reload') echo '--output -o --socket --help' ;;
        'constrained') echo '--output -o --socket --help' ;;
        'ui') echo '--port --for --numeric --no-open --socket --help' ;;
        'mcp') echo '--socket --config -c --help' ;;
        'demo') echo '--help' ;;
        'completion') echo '--help' ;;
        'help') echo '--help' ;;
        'version') echo '--help' ;;
        'store') echo '--url --password-file --schema --role --check --help' ;;
    esac
}

# The words that a value or an operand may be, into spec; fails where none is taken.
_waystation_spec() {
    spec=
    case "$1 $2" in
        ' --socket') spec='file' ;;
        ' --output' | ' -o') spec='words table json ndjson name' ;;
        'status --output' | 'status -o') spec='words table json' ;;
        'status --socket') spec='file' ;;
        'send --request' | 'send -X') spec='nothing' ;;
        'send --header' | 'send -H') spec='nothing' ;;
        'send --data' | 'send -d') spec='nothing' ;;
        'send --json') spec='nothing' ;;
        'send --output' | 'send -o') spec='file' ;;
        'send --wait') spec='nothing' ;;
        'send --key') spec='nothing' ;;
        'send --timeout') spec='nothing' ;;
        'send --attempt-timeout') spec='nothing' ;;
        'send --max-attempts') spec='nothing' ;;
        'send --fallback') spec='words on off' ;;
        'send --constrained') spec='words send wait refuse' ;;
        'send --delay') spec='nothing' ;;
        'send --not-before') spec='nothing' ;;
        'send --expires-after') spec='nothing' ;;
        'send --priority') spec='nothing' ;;
        'send --ordering-key') spec='nothing' ;;
        'send --supersede-key') spec='nothing' ;;
        'send --label') spec='asked labels' ;;
        'send --socket') spec='file' ;;
        'send 1') spec='asked routes' ;;
        'jobs --route') spec='asked routes' ;;
        'jobs --state') spec='words scheduled queued running retrying held succeeded dead cancelled expired' ;;
        'jobs --reason') spec='words backoff breaker_open rate_limited concurrency route_paused ordering not_before operator_hold credentials throttled network_constrained route_removed route_closed following due' ;;
        'jobs --end') spec='words exhausted rejected poison outcome_unknown not_repeatable corrupt superseded cancelled expired' ;;
        'jobs --failed-by') spec='words dns_timeout dns_error destination_unavailable destination_ip_prohibited connection_refused connection_terminated connection_timeout connection_read_timeout connection_write_timeout connection_limit_reached tls_protocol_error tls_certificate_error tls_alert_received http_response_incomplete http_response_timeout http_protocol_error http_response_body_size http_response_header_section_size http_response_content_coding http_status api_error invalid_response operation_failed operation_lost follow_refused decoding empty_response preparation overloaded breaker_open rate_limited network_constrained route_closed credentials_failed deadline_exceeded cancelled client_gone http_request_error interrupted stored_body_corrupt stored_body_unread attempt_unrecorded' ;;
        'jobs --status') spec='nothing' ;;
        'jobs --label') spec='asked labels' ;;
        'jobs --node') spec='nothing' ;;
        'jobs --since') spec='nothing' ;;
        'jobs --limit') spec='words all' ;;
        'jobs --timeout') spec='nothing' ;;
        'jobs --where') spec='nothing' ;;
        'jobs --rate') spec='nothing' ;;
        'jobs --reason') spec='nothing' ;;
        'jobs --output' | 'jobs -o') spec='words table json ndjson name' ;;
        'jobs --socket') spec='file' ;;
        'jobs 1') spec='words ls show watch retry cancel hold release drop expunge' ;;
        'jobs 2+') spec='asked jobs' ;;
        'runs --output' | 'runs -o') spec='words table json ndjson name' ;;
        'runs --socket') spec='file' ;;
        'runs 1') spec='words ls show watch stop' ;;
        'dead --by') spec='words kind route upstream' ;;
        'dead --route') spec='asked routes' ;;
        'dead --output' | 'dead -o') spec='words table json ndjson name' ;;
        'dead --socket') spec='file' ;;
        'explain --output' | 'explain -o') spec='words table json' ;;
        'explain --socket') spec='file' ;;
        'explain 1') spec='asked jobs,words' ;;
        'cat --socket') spec='file' ;;
        'cat 1') spec='asked jobs' ;;
        'shape --by') spec='words route state failure_kind' ;;
        'shape --output' | 'shape -o') spec='words table json ndjson name' ;;
        'shape --socket') spec='file' ;;
        'events --route') spec='asked routes' ;;
        'events --job') spec='asked jobs' ;;
        'events --type') spec='words job.accepted job.attempt.started job.attempt.failed job.looked_up job.recovered job.succeeded job.dead job.cancelled job.expired job.held request.refused run.started run.ended route.paused route.resumed route.closed route.opened route.breaker route.breaker.ordered route.limits.cleared route.credentials.refreshed route.credentials.failed config.reloaded config.rejected storage.stalled storage.resumed notices.owed' ;;
        'events --after') spec='nothing' ;;
        'events --output' | 'events -o') spec='words table json ndjson name' ;;
        'events --socket') spec='file' ;;
        'logs --since') spec='nothing' ;;
        'logs --until') spec='nothing' ;;
        'logs --lines' | 'logs -n') spec='words all' ;;
        'logs --priority' | 'logs -p') spec='words emerg alert crit err warning notice info debug' ;;
        'logs --output' | 'logs -o') spec='words short short-iso short-precise verbose cat json json-pretty export' ;;
        'logs 1') spec='asked jobs,routes' ;;
        'routes --output' | 'routes -o') spec='words table json ndjson name' ;;
        'routes --socket') spec='file' ;;
        'routes 1') spec='asked routes' ;;
        'pause --for') spec='nothing' ;;
        'pause --reason') spec='nothing' ;;
        'pause --output' | 'pause -o') spec='words table json' ;;
        'pause --socket') spec='file' ;;
        'pause 1') spec='asked routes' ;;
        'resume --output' | 'resume -o') spec='words table json' ;;
        'resume --socket') spec='file' ;;
        'resume 1') spec='asked routes' ;;
        'breaker --for') spec='nothing' ;;
        'breaker --output' | 'breaker -o') spec='words table json' ;;
        'breaker --socket') spec='file' ;;
        'breaker 1') spec='asked upstreams' ;;
        'breaker 2') spec='words open closed auto' ;;
        'limits --upstream') spec='nothing' ;;
        'limits --class') spec='nothing' ;;
        'limits --output' | 'limits -o') spec='words table json' ;;
        'limits --socket') spec='file' ;;
        'limits 1') spec='asked routes' ;;
        'metrics --socket') spec='file' ;;
        'init --route') spec='nothing' ;;
        'init --auth') spec='words none bearer basic header oauth2_client_credentials oauth2_refresh_token' ;;
        'init --secret') spec='file' ;;
        'init --user') spec='nothing' ;;
        'init --header') spec='nothing' ;;
        'init --token-url') spec='nothing' ;;
        'init --client-id') spec='nothing' ;;
        'init --allow-addresses') spec='nothing' ;;
        'init --output' | 'init -o') spec='file' ;;
        'check --timeout') spec='nothing' ;;
        'check --output' | 'check -o') spec='words table json' ;;
        'check --socket') spec='file' ;;
        'check 1') spec='file' ;;
        'what-if --config' | 'what-if -c') spec='file' ;;
        'what-if --method' | 'what-if -X') spec='nothing' ;;
        'what-if --body') spec='file' ;;
        'what-if --at') spec='nothing' ;;
        'what-if --output' | 'what-if -o') spec='words table json' ;;
        'what-if --socket') spec='file' ;;
        'what-if 1') spec='asked routes' ;;
        'what-if 2') spec='words ok timeout refused reset dns tls unreachable 401 429 500 503 found absent running done failed' ;;
        'rehearse --where') spec='nothing' ;;
        'rehearse --records') spec='file' ;;
        'rehearse --save') spec='file' ;;
        'rehearse --output' | 'rehearse -o') spec='words table json' ;;
        'rehearse --socket') spec='file' ;;
        'rehearse 1') spec='file' ;;
        'reload --output' | 'reload -o') spec='words table json' ;;
        'reload --socket') spec='file' ;;
        'constrained --output' | 'constrained -o') spec='words table json' ;;
        'constrained --socket') spec='file' ;;
        'constrained 1') spec='words on off auto' ;;
        'ui --port') spec='nothing' ;;
        'ui --for') spec='nothing' ;;
        'ui --socket') spec='file' ;;
        'mcp --socket') spec='file' ;;
        'mcp --config' | 'mcp -c') spec='file' ;;
        'completion 1') spec='words bash zsh fish' ;;
        'help 1') spec='words status send jobs runs dead explain cat shape events logs routes pause resume breaker limits metrics init check what-if rehearse reload constrained ui mcp demo completion help version store' ;;
        'store --url') spec='nothing' ;;
        'store --password-file') spec='file' ;;
        'store --schema') spec='nothing' ;;
        'store --role') spec='nothing' ;;
        'store 1') spec='words migrate' ;;
        *) return 1 ;;
    esac
}

_waystation() {
    local -a words=() found=()
    local IFS=$' \t\n' word gap head tail spec='' command='' option='' socket='' ended='' i
    local typed=${COMP_LINE:0:COMP_POINT} operands=0
    COMPREPLY=()
    # The words as they were typed: readline has cut them at = and :.
    typed=${typed#*"${COMP_WORDS[0]}"}
    for ((i = 1; i <= COMP_CWORD; i++)); do
        gap=${typed%%[![:blank:]]*}
        typed=${typed#"$gap"}
        word=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || word=$typed
        typed=${typed#"$word"}
        if [[ $gap || ${#words[@]} -eq 0 ]]; then words+=("$word"); else words[-1]+=$word; fi
    done
    [[ ${#words[@]} -gt 0 ]] || words=('')
    local whole=${words[-1]} before=
    unset 'words[-1]'

    for word in ${words[@]+"${words[@]}"}; do
        if [[ $option ]]; then
            [[ $option != --socket ]] || socket=$word
            option=
        elif [[ $ended ]]; then
            operands=$((operands + 1))
        elif [[ $word == -- ]]; then
            ended=1
        elif [[ $word == --*=* ]]; then
            [[ $word != --socket=* ]] || socket=${word#*=}
        elif [[ $word == -?* ]]; then
            ! _waystation_spec "$command" "$word" || option=$word
        elif [[ ! $command ]]; then
            command=$word
        else
            operands=$((operands + 1))
        fi
    done

    word=$whole
    if [[ $option ]]; then
        _waystation_spec "$command" "$option"
    elif [[ ! $ended && $word == --*=* ]]; then
        before=${word%%=*}=
        word=${word#*=}
        _waystation_spec "$command" "${before%=}" || return 0
    elif [[ ! $ended && $word == -* ]]; then
        spec="words $(_waystation_options "$command")"
    elif [[ ! $command ]]; then
        spec='words status send jobs runs dead explain cat shape events logs routes pause resume breaker limits metrics init check what-if rehearse reload constrained ui mcp demo completion help version store'
    else
        operands=$((operands + 1))
        if ! _waystation_spec "$command" "$operands"; then
            until _waystation_spec "$command" "$operands+"; do ((--operands > 0)) || return 0; done
        fi
    fi

    case $spec in
        'words '*) read -ra found <<<"${spec#words }" ;;
        'asked '*)
            compopt -o nosort 2>/dev/null
            mapfile -t found < <(command waystation __complete "${spec#asked }" \
                ${socket:+"$socket"} 2>/dev/null)
            ;;
        file)
            # Readline's own, which quotes what has to be.
            compopt -o default 2>/dev/null
            return 0
            ;;
    esac
    # Of a word that readline has cut it replaces what stands behind the cut.
    tail=$whole
    for gap in = :; do [[ $COMP_WORDBREAKS != *"$gap"* ]] || tail=${tail##*"$gap"}; done
    head=${whole%"$tail"}
    for i in ${found[@]+"${found[@]}"}; do
        i=${i%%$'\t'*}
        [[ $i != "$word"* ]] || { i=$before$i && COMPREPLY+=("${i#"$head"}"); }
    done
}
complete -F _waystation waystation
