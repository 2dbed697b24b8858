import RelayBase

extension Command {
    static let version = Command("version", "", "Prints the version.") { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        Output.standard.write("waystation \(Version.text)\n")
        return .done
    }

    static let help = Command("help", "[COMMAND]", "Explains a command.", operands: [.commands]) {
        arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        if let name = arguments.operands.first {
            guard let command = Command.named(name) else { throw .unknownCommand(name) }
            Output.standard.write(command.help)
            return .done
        }
        var text =
            "usage: waystation COMMAND [OPTION...]\n\nControls waystationd, the outbound HTTP relay.\n\n"
        for command in Command.all {
            let padding = String(repeating: " ", count: max(1, 13 - command.name.count))
            text += "  \(command.name)\(padding)\(command.summary)\n"
        }
        text += """

            Exit status: 0 done, 1 failed, 2 usage, 3 not found, 4 daemon not reachable, 5 not allowed,
            6 the job or the upstream failed (send, send --async --wait, jobs watch), 7 timed out,
            74 output not written, 78 configuration invalid.
            Environment: WAYSTATION_SOCKET, WAYSTATION_CONTROL_SOCKET, NO_COLOR, COLUMNS.

            """
        Output.standard.write(text)
        return .done
    }
}
