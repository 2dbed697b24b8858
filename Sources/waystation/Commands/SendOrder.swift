import Glibc
import RelayClient
import RelayCore
import RelayHTTP

/// What `waystation send` is asked to send, and where the answer goes.
struct SendOrder {
    private let client: RelayClient
    private let route: String
    private let path: String
    private let method: Method
    private let fields: HeaderFields
    private let body: [UInt8]
    private let includesHead: Bool
    private let file: String?

    init(_ arguments: Arguments) throws(CommandFailure) {
        try arguments.limitOperands(to: 2)
        guard let route = arguments.operands.first else { throw .usage("which route?", of: "send") }
        self.route = route
        path = arguments.operands.count > 1 ? arguments.operands[1] : ""
        includesHead = arguments.has("include")
        file = arguments["output"]
        var fields = try SendOrder.fields(arguments)
        body = try SendOrder.body(arguments)
        if arguments.has("json") {
            SendOrder.setDefault("Content-Type", "application/json", in: &fields)
            SendOrder.setDefault("Accept", "application/json", in: &fields)
        } else if arguments.has("data") {
            SendOrder.setDefault("Content-Type", "application/x-www-form-urlencoded", in: &fields)
        }
        let hasBody = arguments.has("data") || arguments.has("json")
        method = arguments["request"].map(Method.init(rawValue:)) ?? (hasBody ? .post : .get)

        var client = RelayClient(
            socketPath: arguments["socket"] ?? environment("WAYSTATION_SOCKET") ?? "/run/waystation/jobs.sock"
        )
        client.maxResponseBody = 1 << 30
        // Long enough for every route's own limit, which the relay keeps.
        client.timeout = .seconds(3600)
        if let text = arguments["timeout"] {
            guard let timeout = DurationText.parse(text), timeout > .zero else {
                throw .usage("--timeout needs a duration with a unit, such as 500ms, 20s or 1m", of: "send")
            }
            fields.set("Waystation-Timeout", text)
            // A little later than the relay, whose answer says more.
            client.timeout = timeout + .seconds(2)
        }
        self.fields = fields
        self.client = client
    }

    func send() throws(CommandFailure) -> RelayResponse {
        do throws(RelayClientError) {
            return try client.blockingSend(
                route: route,
                method: method,
                path: path,
                fields: fields,
                body: body
            )
        } catch {
            throw CommandFailure(error, socketPath: client.socketPath)
        }
    }

    /// Writes the answer to where it was asked for.
    func deliver(_ response: RelayResponse) throws(CommandFailure) {
        if includesHead {
            var head: [UInt8] = []
            HeadWriter.appendStatusLine(response.status, to: &head)
            HeadWriter.appendFields(response.fields, to: &head)
            HeadWriter.appendLineEnd(to: &head)
            Output.standard.write(head)
        }
        guard let file, file != "-" else {
            Output.standard.write(response.body)
            // The relay's own words stand alone; an upstream's body is passed on to the byte.
            let isProblem = response.fields[.contentType] == "application/problem+json"
            if isProblem, response.body.last != UInt8(ascii: "\n") {
                Output.standard.write([UInt8(ascii: "\n")])
            }
            return
        }
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw CommandFailure(.failed, "cannot write \(file): \(errorText())") }
        defer { close(descriptor) }
        guard writeAll(response.body, to: descriptor) else {
            throw CommandFailure(.failed, "cannot write all of \(file): \(errorText())")
        }
    }
}

extension SendOrder {
    private static func fields(_ arguments: Arguments) throws(CommandFailure) -> HeaderFields {
        var fields = HeaderFields()
        for line in arguments.all("header") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? String(parts[1].drop { $0 == " " || $0 == "\t" }) : ""
            guard parts.count == 2, fields.append(String(parts[0]), value) else {
                throw .usage("-H takes 'Name: value' without control characters", of: "send")
            }
        }
        return fields
    }

    private static func setDefault(_ name: String, _ value: String, in fields: inout HeaderFields) {
        if let key = FieldName(name), !fields.contains(key) { fields.append(name, value) }
    }

    private static func body(_ arguments: Arguments) throws(CommandFailure) -> [UInt8] {
        guard !(arguments.has("data") && arguments.has("json")) else {
            throw .usage("--data and --json exclude each other", of: "send")
        }
        guard arguments.all("data").count + arguments.all("json").count <= 1 else {
            throw .usage("the body is given once; join its parts yourself", of: "send")
        }
        guard let data = arguments["data"] ?? arguments["json"] else { return [] }
        if data == "-" || data == "@-" {
            return try FileBytes.read(descriptor: STDIN_FILENO, "standard input")
        }
        guard data.hasPrefix("@") else { return Array(data.utf8) }
        return try FileBytes.read(path: String(data.dropFirst()))
    }
}
