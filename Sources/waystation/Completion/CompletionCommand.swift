extension Command {
    static let completion = Command(
        "completion",
        "bash|zsh|fish",
        "Prints the completion of the command line for a shell.",
        details: """
            An installation has it where the shell looks. Without one:

              source <(waystation completion bash)

            Routes, jobs and labels are asked of the daemon, which is not started for that.

            """,
        operands: [.words(Shell.allCases.map(\.rawValue))]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        guard let shell = arguments.operands.first.flatMap(Shell.init(rawValue:)) else {
            throw .usage("for which shell? bash, zsh or fish", of: "completion")
        }
        Output.standard.write(shell.script)
        return .done
    }
}

private enum Shell: String, CaseIterable {
    case bash
    case zsh
    case fish

    var script: String {
        switch self {
        case .bash: BashScript.text
        case .zsh: ZshScript.text
        case .fish: FishScript.text
        }
    }
}
