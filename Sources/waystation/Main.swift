import Glibc
import Synchronization

@main
enum Main {
    static func main() {
        // A reader that has gone ends the program at its next write, not by a signal in the middle of clean-up.
        signal(SIGPIPE, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        exit(checkingOutput(run(words)).rawValue)
    }

    /// Says so when what was printed is not all there: a full disk must not look like an empty list.
    private static func checkingOutput(_ code: ExitCode) -> ExitCode {
        let error = Output.trouble.withLock { $0 }
        guard error != 0 else { return code }
        Output.error.write(
            "waystation: cannot write standard output: \(unsafe String(cString: strerror(error)))\n"
        )
        return code == .done || code == .failed ? .unwritten : code
    }

    /// Runs the command the words name.
    static func run(_ words: [String]) -> ExitCode {
        if words.first == Candidates.command { return Candidates.run(Array(words.dropFirst())) }
        do throws(CommandFailure) {
            if words.first == WordFiles.command { return try WordFiles.run(Array(words.dropFirst())) }
            let (name, rest) = try CommandWords.split(words)
            guard let command = Command.named(name) else { throw .unknownCommand(name) }
            if rest.contains("--help") || rest.contains("-h") {
                Output.standard.write(command.help)
                return .done
            }
            return try command.run(rest)
        } catch {
            Output.error.write("waystation: \(error.message)\n")
            if let advice = error.advice { Output.error.write(advice + "\n") }
            return error.code
        }
    }
}
