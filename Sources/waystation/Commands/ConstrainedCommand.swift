import RelayBase
import RelayClient
import RelayJSON

extension Command {
    static let constrained = Command(
        "constrained",
        "[on|off|auto] [-o table|json]",
        "Tells, or says, whether the network is constrained.",
        details: """
            While it is, upstreams that are used when_constrained take the place of the first one of their route.
            on and off override the files of the configuration until auto leaves it to them again, or the daemon
            is restarted. They need {"control": true} in constrained.when of the configuration.

            """,
        operands: [.words(["on", "off", "auto"])],
        options: [.output, .control]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 1)
        let format = try arguments.format()
        let state = arguments.operands.first
        if let state, !["on", "off", "auto"].contains(state) {
            throw .usage("the state is on, off or auto, not \"\(safe(state))\"", of: "constrained")
        }
        let daemon = DaemonAccess.control(arguments)
        let response: RelayResponse
        if let state {
            var fields = HeaderFields()
            fields.append("Content-Type", "application/json")
            response = try daemon.request(
                .put,
                "/v1/constrained",
                fields: fields,
                body: Array("{\"state\":\"\(state)\"}".utf8)
            )
        } else {
            response = try daemon.request(.get, "/v1/constrained")
        }
        guard response.status.class == .success else { throw CommandFailure(response) }
        let document = try DaemonAccess.parse(response)
        return try Output.standard.show(response.body, as: format) {
            constrainedText(document) { Output.standard.styled($0, .bold) }
        }
    }
}

/// The document of `/v1/constrained` for people.
func constrainedText(_ document: JSONValue, heading: (String) -> String) -> String {
    let verb = document["constrained"] == .bool(true) ? "counts" : "does not count"
    let reason = document["reason"]?.text.map { ": \(safe($0))" } ?? ""
    var text = "The network \(verb) as constrained\(reason) (\(safe(document["state"]?.text ?? "?")))\n"
    let sources = document["sources"]?.elements ?? []
    guard !sources.isEmpty else {
        return text + "Nothing tells: the configuration has no \"constrained\", see waystation.json(5)\n"
    }
    var table = TextTable([("SOURCE", .left), ("SAYS", .left)])
    for source in sources {
        let isMet = source["met"] == .bool(true)
        if let file = source["file_exists"]?.text {
            let error = source["error"]?.text.map { "cannot be looked at: \(safe($0))" }
            table.add(["file \(safe(file))", error ?? (isMet ? "exists" : "does not exist")])
        } else {
            table.add(["operators", safe(document["state"]?.text ?? "?")])
        }
    }
    text += "\n" + table.text(style: heading)
    return text
}
