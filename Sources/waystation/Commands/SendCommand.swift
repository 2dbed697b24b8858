import RelayBase
import RelayClient
import RelayInterface
import RelayJSON

extension Command {
    static let send = Command(
        "send",
        "ROUTE [PATH] [OPTION...]",
        "Sends a request through the relay; curl's letters.",
        details: """
            The answer's body goes to standard output, and the exit status tells how the request came out: 6 when
            it was no success, whatever the status of the answer; --any takes every answer of an upstream for one.
            PATH is below the upstream's base and may have a query.
            The method is GET, or POST when there is a body. DATA beginning with @ names a file; @- and - are
            standard input.

            With --async the daemon has the request on disk when the command ends, and delivers it from there: the
            id goes to standard output, for waystation jobs watch and waystation explain. Standard error says so
            when the job is not repeatable, as a POST without a key is not. With --wait, too, the command stays
            until the job is over: status 6 when it ended without success, 7 when it was not over in time. With
            --wait alone the answer is printed as without it, if it comes in time.

            """,
        operands: [.asked([.routes])],
        options: [
            OptionSpec("request", "X", value: "METHOD", "the method"),
            OptionSpec("header", "H", value: "'NAME: VALUE'", "a header field; may stand more than once"),
            OptionSpec("data", "d", value: "DATA|@FILE|-", "the body"),
            OptionSpec("json", value: "DATA|@FILE|-", "the body, as JSON"),
            OptionSpec("include", "i", "print the answer's head, too"),
            OptionSpec("output", "o", value: "FILE", "write the body to a file"),
            OptionSpec("any", nil, "exit with status 0 whatever the upstream answered"),
            OptionSpec("async", nil, "hand it over for keeping and print the job's id only"),
            OptionSpec(
                "wait",
                value: "DURATION",
                "hand it over for keeping and wait for its end, at most so long"
            ),
            OptionSpec("key", value: "KEY", "the idempotency key: the same request twice is one job"),
        ] + JobOption.all.map(OptionSpec.init) + [
            OptionSpec("socket", value: "PATH", "the daemon's jobs socket (WAYSTATION_SOCKET)")
        ]
    ) { arguments throws(CommandFailure) in
        let order = try SendOrder(arguments)
        if order.isAsynchronous { return try order.submit() }
        let answer = try order.begin()
        let head = RelayResponse(status: answer.status, fields: answer.fields, body: [])
        if order.wait != nil, head.status == 202, let job = head.job {
            throw CommandFailure(
                .timedOut,
                "job \(safe(job)) is not over yet; it is kept and goes on",
                advice: "Its end: waystation jobs watch \(safe(job))\(order.option)"
            )
        }
        if isProblem(head) {
            let response = try order.response(of: answer)
            try order.deliver(response)
            Output.error.write("waystation: \(order.inFlags(failure(response, order.option)))\n")
            return code(of: response)
        }
        try order.deliver(answer)
        guard !arguments.has("any"), !isSuccess(head) else { return .done }
        Output.error.write("waystation: \(failure(head, order.option))\n")
        return .upstreamFailed
    }
}

/// Whether the relay itself answers, and says why there is no other answer.
private func isProblem(_ head: RelayResponse) -> Bool {
    head.source == .relay && head.fields[.contentType] == "application/problem+json"
}

/// A request that was let in was no success; any other was refused.
private func code(of response: RelayResponse) -> ExitCode {
    response.outcome == .failure ? .upstreamFailed : CommandFailure(response).code
}

/// The relay's word where the upstream answered; a stand-in's status otherwise.
func isSuccess(_ response: RelayResponse) -> Bool {
    switch response.outcome {
    case .success: true
    case .failure: false
    case .fallback, .placeholder, .stale, nil:
        response.status.class == .success || response.status.class == .redirection
    }
}

private func failure(_ response: RelayResponse, _ option: String) -> String {
    let job = response.job.map { "; why: waystation explain \($0)\(option)" } ?? ""
    guard response.source == .relay, let problem = try? JSONValue(parsing: response.body),
        let code = problem["code"]?.text
    else {
        let told = response.status.rawValue
        let received = receivedStatus(response.fields) ?? told
        let isHidden = response.outcome == .failure && Status(rawValue: received).class == .success
        let rules = isHidden ? ", which the route's rules call a failure" : ""
        let change = received == told ? "" : ", told to callers as \(told)"
        return "the upstream answered \(received)\(rules)\(change)\(safe(job))"
    }
    let detail = problem["detail"]?.text ?? ""
    return safe("\(code) (\(response.status.rawValue)): \(detail)\(job)")
}

/// The status that the relay had from the upstream, by its `Proxy-Status` (RFC 9209); nil where it had none.
private func receivedStatus(_ fields: HeaderFields) -> UInt16? {
    let name = "received-status="
    let parameters = fields.values(.proxyStatus).flatMap { $0.split(separator: ";") }
    guard let last = parameters.last(where: { $0.drop { $0 == " " }.hasPrefix(name) }) else { return nil }
    return UInt16(last.drop { $0 == " " }.dropFirst(name.count).prefix { $0 != "," })
}

extension OptionSpec {
    /// An option of the job.
    fileprivate init(_ option: JobOption) {
        var summary = option.sentence
        summary.removeLast()
        self.init(
            option.flag,
            value: option.value.placeholder,
            summary.prefix(1).lowercased() + summary.dropFirst(),
            completes: option.value.repeats ? .asked([.labels]) : nil
        )
    }
}

extension OptionValue {
    /// The word that stands for a value in the help text.
    fileprivate var placeholder: String {
        switch self {
        case .duration: "DURATION"
        case .integer(_, let range): "\(range.lowerBound)-\(range.upperBound)"
        case .urgency: "\(OptionValue.urgencies.lowerBound)-\(OptionValue.urgencies.upperBound)"
        case .onOff: "on|off"
        case .constrained: OptionValue.constrainedWords.joined(separator: "|")
        case .moment: "TIME"
        case .key: "KEY"
        case .labels: "NAME=VALUE"
        }
    }
}
