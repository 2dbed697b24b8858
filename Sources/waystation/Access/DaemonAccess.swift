import RelayBase
import RelayClient
import RelayJSON

/// The daemon at the other end of one of its sockets.
struct DaemonAccess {
    private let client: RelayClient
    let advice: Advice

    init(_ client: RelayClient, _ advice: Advice = Advice()) {
        self.client = client
        self.advice = advice
    }

    /// The daemon at its control socket: the option, the environment, or the usual place.
    static func control(_ arguments: Arguments, timeout: Duration = .seconds(30)) -> DaemonAccess {
        let sockets = DaemonSockets(arguments)
        var client = RelayClient(socketPath: sockets.control)
        client.timeout = timeout
        return DaemonAccess(client, Advice(option: sockets.option))
    }

    func request(
        _ method: Method,
        _ target: String,
        fields: HeaderFields = HeaderFields(),
        body: [UInt8] = []
    ) throws(CommandFailure) -> RelayResponse {
        try client.command { () throws(RelayClientError) in
            try client.blockingRequest(method, target, fields: fields, body: body)
        }
    }

    /// Asks for something whose body is read piece by piece.
    func stream(
        _ target: String,
        fields: HeaderFields = HeaderFields()
    ) throws(CommandFailure) -> StreamedAnswer {
        let answer = try client.command { () throws(RelayClientError) in
            try client.blockingStream(.get, target, fields: fields)
        }
        // An upstream's answer that is replayed may say anything.
        let isOwn = answer.fields[.waystationSource] == RelayResponse.Source.relay.rawValue
        if answer.status.class == .success || !isOwn { return answer }
        let refusal = try client.command { () throws(RelayClientError) in
            try answer.remainder(within: client.timeout, limit: 65_536)
        }
        throw CommandFailure(answer.status, refusal)
    }

    /// The command's failure where the daemon gave no answer.
    func failure(_ error: RelayClientError) -> CommandFailure {
        CommandFailure(error, socketPath: client.socketPath)
    }

    /// Does something and refuses everything but a success.
    func change(
        _ method: Method,
        _ target: String,
        _ document: [UInt8] = []
    ) throws(CommandFailure) -> RelayResponse {
        var fields = HeaderFields()
        if !document.isEmpty { fields.append("Content-Type", "application/json") }
        let response = try request(method, target, fields: fields, body: document)
        guard response.status.class == .success else { throw CommandFailure(response) }
        return response
    }

    /// Asks for a document and refuses everything but a success.
    func document(_ method: Method, _ target: String) throws(CommandFailure) -> (bytes: [UInt8], JSONValue) {
        let response = try request(method, target)
        guard response.status.class == .success else { throw CommandFailure(response) }
        return UpstreamTexts.told(response.body, try DaemonAccess.parse(response))
    }

    static func parse(_ response: RelayResponse) throws(CommandFailure) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: response.body)
        } catch {
            throw CommandFailure(.failed, "the daemon's answer is no valid JSON: \(error.message)")
        }
    }
}

extension RelayClient {
    /// Asks the daemon something for a command, which says what keeps it from that.
    func command<Value>(_ ask: () throws(RelayClientError) -> Value) throws(CommandFailure) -> Value {
        do throws(RelayClientError) {
            return try ask()
        } catch {
            throw CommandFailure(error, socketPath: socketPath)
        }
    }
}

extension CommandFailure {
    /// A problem document of the daemon.
    init(_ response: RelayResponse) { self.init(response.status, response.body) }

    /// A problem document of the daemon.
    init(_ status: Status, _ document: [UInt8]) {
        let problem = try? JSONValue(parsing: document)
        let code: ExitCode =
            switch status {
            case 403: .notAllowed
            case 404: .notFound
            case 400, 422: CommandFailure.isUsage(problem?["code"]?.text) ? .usage : .failed
            default: .failed
            }
        var detail = safe(problem?["detail"]?.text ?? problem?["title"]?.text ?? "no explanation")
        let errors = problem?["errors"]?.elements ?? []
        if !errors.isEmpty, detail.hasSuffix("; see errors") { detail.removeLast("; see errors".count) }
        for error in errors {
            let hint = error["hint"]?.text.map { " (\($0))" } ?? ""
            detail += safe("; \(error["pointer"]?.text ?? ""): \(error["message"]?.text ?? "")\(hint)")
        }
        let meant = problem?["did_you_mean"]?.text.map { "Did you mean \"\(safe($0))\"?" }
        self.init(code, "the daemon answered \(status.rawValue): \(detail)", advice: meant)
    }

    /// Whether a problem is about the words of the call.
    private static func isUsage(_ code: String?) -> Bool {
        ["bad_target", "bad_header", "bad_request", "invalid_job"].contains(code)
    }

    /// A failure to reach the daemon, with what to do about it.
    init(_ error: RelayClientError, socketPath: String) {
        switch error.code {
        case .notAllowed:
            let (owner, advice) = SocketOwner.explanation(of: socketPath)
            self.init(.notAllowed, "\(error.message)\(owner)", advice: advice)
        case .notReachable:
            self.init(
                .notReachable,
                error.message,
                advice:
                    "Is the daemon running? systemctl status waystationd; to try it without installing it:"
                    + " waystation demo"
            )
        case .timedOut: self.init(.timedOut, error.message)
        case .invalidRequest: self.init(.usage, error.message)
        case .connectionLost, .invalidResponse, .responseTooLarge, .refused, .tooManyRequests, .shutDown,
            .cancelled:
            self.init(.failed, safe(error.message))
        }
    }
}

extension JSONValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var integer: Int64? { if case .number(let number) = self { number.int64 } else { nil } }
    var double: Double? { if case .number(let number) = self { number.double } else { nil } }
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}
