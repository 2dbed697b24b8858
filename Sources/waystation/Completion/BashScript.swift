/// The completion for bash, which needs nothing of the package bash-completion but to be found by it.
enum BashScript {
    static var text: String {
        """
        # Completes waystation(1) in bash; written by: waystation completion bash

        # The words of one command.
        _waystation_options() {
            case $1 in

        """ + options + """
                esac
            }

            # The words that a value or an operand may be, into spec; fails where none is taken.
            _waystation_spec() {
                spec=
                case "$1 $2" in

            """ + specs + #"""
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
                        spec='words \#(Command.all.map(\.name).joined(separator: " "))'
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
                            mapfile -t found < <(command waystation \#(Candidates.command) "${spec#asked }" \
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

                """#
    }

    private static var options: String {
        CompletedCommand.all.map { command in
            let words =
                command.options.flatMap(\.spellings) + (command.name.isEmpty ? ["--version"] : []) + [
                    "--help"
                ]
            return "        '\(command.name)') echo '\(words.joined(separator: " "))' ;;\n"
        }.joined()
    }

    private static var specs: String {
        var text = ""
        for command in CompletedCommand.all {
            for option in command.options where option.value != nil {
                let words = option.spellings.map { "'\(command.name) \($0)'" }.joined(separator: " | ")
                text += "        \(words)) spec='\(spec(option.completes))' ;;\n"
            }
            for (place, completes) in command.operands {
                text += "        '\(command.name) \(place)') spec='\(spec(completes))' ;;\n"
            }
        }
        return text
    }

    private static func spec(_ completes: Completes) -> String {
        switch completes {
        case .nothing: "nothing"
        case .words(let words): "words \(words.joined(separator: " "))"
        case .commands: "words \(Command.all.map(\.name).joined(separator: " "))"
        case .file: "file"
        case .asked(let kinds, _): "asked \(kinds.map(\.rawValue).joined(separator: ","))"
        }
    }
}
