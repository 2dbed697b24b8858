import RelayBase
import RelayClient
import RelayJSON

extension Command {
    static let reload = Command(
        "reload",
        "[-o table|json]",
        "Makes the daemon read its configuration again.",
        details: """
            Returns when the new configuration is in force. One with errors is refused: every error is printed,
            the exit status is 78 and the daemon goes on with the configuration it has.

            """,
        options: [.output, .control]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        let format = try arguments.format()
        let response = try DaemonAccess.control(arguments).request(.post, "/v1/reload")
        let isRefused = response.status == 422
        guard isRefused || response.status.class == .success else { throw CommandFailure(response) }
        let document = try DaemonAccess.parse(response)
        switch format {
        case .json: Output.standard.write(response.body + [UInt8(ascii: "\n")])
        case .table:
            if isRefused {
                Output.error.write(refusal(document))
            } else {
                Output.standard.write(changes(document))
            }
        }
        return isRefused ? .invalidConfiguration : .done
    }
}

private func changes(_ document: JSONValue) -> String {
    var text = "Reloaded: configuration \(safe(String((document["digest"]?.text ?? "").prefix(12))))\n"
    for (name, title) in [("added", "added"), ("removed", "removed"), ("modified", "changed")] {
        let routes = (document[name]?.elements ?? []).compactMap(\.text)
        if !routes.isEmpty { text += "  \(title): \(safe(routes.joined(separator: ", ")))\n" }
    }
    if document["changed"] == .bool(false) { text += "  the file is as it was\n" }
    let restart = (document["needs_restart"]?.elements ?? []).compactMap(\.text)
    if !restart.isEmpty {
        text += "  takes effect after a restart only: \(safe(restart.joined(separator: ", ")))\n"
    }
    return text
}

private func refusal(_ document: JSONValue) -> String {
    var text = ""
    if let rendered = document["text"]?.text {
        text = safeLines(rendered)
        if !text.hasSuffix("\n") { text += "\n" }
    }
    let detail = document["detail"]?.text ?? "the configuration has errors"
    return text + "waystation: the configuration was refused: \(safe(detail))\n"
}
