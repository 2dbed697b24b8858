import RelayBase
import RelayClient

extension Command {
    static let cat = Command(
        "cat",
        "ID [--response] [--headers]",
        "Prints the body of a job's request or answer, byte by byte.",
        operands: [.asked([.jobs])],
        options: [
            OptionSpec("response", nil, "the last answer's, of whichever attempt, in place of the request's"),
            OptionSpec("headers", nil, "the answer's status and fields before it"), .control,
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        guard let word = arguments.operands.first else { throw .usage("which job?", of: "cat") }
        let id = try jobID(word, of: "cat")
        let isAnswer = arguments.has("response")
        let hasHead = arguments.has("headers")
        guard isAnswer || !hasHead else {
            throw .usage(
                "--headers goes with --response: the fields of a request may hold secrets",
                of: "cat"
            )
        }
        let daemon = DaemonAccess.reading(arguments)
        let part = hasHead ? "response" : isAnswer ? "response/body" : "request/body"
        let answer = try daemon.stream("/v1/jobs/\(id)/\(part)")
        if hasHead { Output.standard.writeHead(answer.status, answer.fields) }
        do throws(RelayClientError) {
            while let piece = try answer.next(within: .seconds(30)) {
                // A reader that has closed the output wants no more of it.
                guard Output.standard.reaches(piece) else { return .done }
            }
        } catch {
            throw daemon.failure(error)
        }
        return .done
    }
}
