/// The completion for fish.
enum FishScript {
    static var text: String {
        #"""
        # Completes waystation(1) in fish; written by: waystation completion fish

        # Whether an option of a command takes the next word.
        function __waystation_takes
            switch "$argv"

        """# + takers + #"""
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
                command waystation \#(Candidates.command) $argv[1] $socket 2>/dev/null
            end

            complete -c waystation -f
            complete -c waystation -n "__waystation_at ''" -l version -d 'print the version'
            complete -c waystation -s h -l help -d 'explain the command'

            """# + commands + CompletedCommand.all.map(lines).joined()
    }

    private static var takers: String {
        CompletedCommand.all.map { command in
            let words = command.options.filter { $0.value != nil }.flatMap(\.spellings)
            guard !words.isEmpty else { return "" }
            let cases = words.map { "'\(command.name) \($0)'" }.joined(separator: " ")
            return "        case \(cases)\n            return 0\n"
        }.joined()
    }

    private static var commands: String {
        Command.all.map { command in
            "complete -c waystation -n \"__waystation_at ''\" -a \(command.name) -d \(quoted(command.summary))\n"
        }.joined()
    }

    private static func lines(_ command: CompletedCommand) -> String {
        let name = command.name.isEmpty ? "''" : command.name
        let operands = command.operands.map { place, completes in
            "complete -c waystation -n '__waystation_at \(name) \(place)'"
                + (completes == .file ? " -F" : words(completes)) + "\n"
        }
        return operands.joined()
            + command.options.map { "complete -c waystation -n \"__waystation_at \(name)\"\(line($0))\n" }
            .joined()
    }

    private static func line(_ option: OptionSpec) -> String {
        var line = (option.short.map { " -s \($0)" } ?? "") + " -l \(option.name)"
        if option.value != nil {
            line += option.completes == .file ? " -r -F" : " -x" + words(option.completes)
        }
        return line + " -d \(quoted(option.summary))"
    }

    private static func words(_ completes: Completes) -> String {
        switch completes {
        case .nothing, .file: ""
        case .words(let words): " -a \(quoted(words.joined(separator: " ")))"
        case .commands: " -a \(quoted(Command.all.map(\.name).joined(separator: " ")))"
        // In the daemon's order.
        case .asked(let kinds, _):
            " -k -a '(__waystation_ask \(kinds.map(\.rawValue).joined(separator: ",")))'"
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
    }
}
