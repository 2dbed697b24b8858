import RelayBase
import RelayJSON

extension Command {
    static let status = Command(
        "status",
        "[-o table|json]",
        "Shows the daemon, its routes and its credentials.",
        details: """
            First stands what is wrong, the most costly first: its cause, what the relay does about it, and what there
            is to do. The figures of a route count from the start of the daemon. A terminal of 150 columns and more
            gets all of them, a narrower one the main ones; -o json has them all. The columns are explained in
            waystation(1), the states by waystation explain STATE.

            """,
        options: [.output, .utc, .control]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        let format = try arguments.format()
        let daemon = DaemonAccess.control(arguments)
        let (bytes, status) = try daemon.document(.get, "/v1/status")
        let (output, moments) = (Output.standard, Moments(isUTC: arguments.has("utc")))
        return try output.show(bytes, as: format) { () throws(CommandFailure) in
            let (_, troubles) = try daemon.document(.get, "/v1/troubles")
            return StatusText(status, troubles: troubles, columns: output.columns, moments: moments)
                .text(for: output)
        }
    }
}

extension String {
    /// `reload_failed` as people write it.
    var replacingUnderscores: String { String(map { $0 == "_" ? " " : $0 }) }
}
