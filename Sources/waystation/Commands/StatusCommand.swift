import RelayBase
import RelayJSON

extension Command {
    static let status = Command(
        "status",
        "[-o table|json]",
        "Shows the daemon, its routes and its credentials.",
        details: """
            The figures of a route count from the start of the daemon; below them stands what an operator should
            know of it. A terminal of 150 columns and more gets all the figures, a narrower one the main ones; -o json
            has them all. The columns are explained in waystation(1), the states by waystation explain STATE.

            """,
        options: [.output, .utc, .control]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        let format = try arguments.format()
        let (bytes, status) = try DaemonAccess.control(arguments).document(.get, "/v1/status")
        let (output, moments) = (Output.standard, Moments(isUTC: arguments.has("utc")))
        return try output.show(bytes, as: format) {
            StatusText(status, columns: output.columns, moments: moments).text(for: output)
        }
    }
}

extension String {
    /// `reload_failed` as people write it.
    var replacingUnderscores: String { String(map { $0 == "_" ? " " : $0 }) }
}
