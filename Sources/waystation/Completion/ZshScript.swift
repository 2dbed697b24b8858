/// The completion for zsh.
enum ZshScript {
    static var text: String {
        #"""
        #compdef waystation
        # Completes waystation(1) in zsh; written by: waystation completion zsh

        # The words that only the daemon knows, in its order.
        _waystation_ask() {
            local line expl socket=${(Q)${opt_args[--socket]:-$before}}
            local -a found shown
            for line in ${(f)"$(command waystation \#(Candidates.command) $1 ${socket:+"$socket"} 2>/dev/null)"}; do
                found+=("${line%%$'\t'*}")
                shown+=("${line/$'\t'/  }")
            done
            _wanted -V "${1//,/-}" expl "${1//,/ or }" compadd -d shown -a found
        }

        _waystation_commands() {
            local -a commands=(

        """# + commands + #"""
                )
                _describe -t commands command commands
            }

            _waystation() {
                local curcontext=$curcontext before state
                local -a line
                local -A opt_args
                # Options behind the command are the command's.
                _arguments -C -A '-*' \

            """# + specs(CommandWords.common) + #"""
                        '(- *)'{-h,--help}'[explain the command]' \
                        '(- *)--version[print the version]' \
                        '(-)1: :_waystation_commands' \
                        '(-)*:: :->words' && return
                    [[ $state == words ]] || return
                    before=${opt_args[--socket]}
                    curcontext=${curcontext%:*:*}:waystation-$words[1]:
                    case $words[1] in

                """# + CompletedCommand.all.dropFirst().map(arguments).joined() + """
                    esac
                }

                _waystation "$@"

                """
    }

    private static var commands: String {
        Command.all.map { "        \(quoted("\($0.name):\($0.summary)"))\n" }.joined()
    }

    private static func arguments(_ command: CompletedCommand) -> String {
        var text = "    \(command.name))\n        _arguments \\\n" + specs(command.options)
        for (place, completes) in command.operands {
            let number = place.hasSuffix("+") ? "*" : place
            text += "            \(quoted("\(number): :\(action(completes))")) \\\n"
        }
        return text + "            '(- *)'{-h,--help}'[explain the command]' ;;\n"
    }

    private static func specs(_ options: [OptionSpec]) -> String {
        var text = ""
        for option in options {
            let summary = "[" + escaped(option.summary, "[]") + "]"
            let value = option.value.map { ":\(escaped($0, ":")):\(action(option.completes))" } ?? ""
            // One with a value may stand more than once, as the last of some counts and each of others.
            let (star, name) = option.value == nil ? ("", "--\(option.name)") : ("*", "--\(option.name)=")
            let names = option.short.map { "{-\($0)\(option.value == nil ? "" : "+"),\(name)}" } ?? name
            text += "            \(star.isEmpty ? "" : "'*'")\(names)\(quoted(summary + value)) \\\n"
        }
        return text
    }

    private static func action(_ completes: Completes) -> String {
        switch completes {
        case .nothing: " "
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .commands: "_waystation_commands"
        case .file: "_files"
        // Behind a blank it is called as it stands.
        case .asked(let kinds, _): " _waystation_ask \(kinds.map(\.rawValue).joined(separator: ","))"
        }
    }

    private static func escaped(_ text: String, _ marks: String) -> String {
        text.map { marks.contains($0) || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }
}
