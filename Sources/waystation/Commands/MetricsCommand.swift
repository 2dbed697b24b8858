import RelayBase
import RelayClient

extension Command {
    static let metrics = Command(
        "metrics",
        "[--openmetrics]",
        "Prints the daemon's metrics, as Prometheus reads them.",
        details: """
            Each is explained in waystationd-metrics(7). A Prometheus scrapes them itself from a listener with the role
            metrics. For a textfile collector write them to a file beside, and move that into place; the figures of the
            process are left out, since the collector's own program has some of the same names.

            """,
        options: [
            OptionSpec(
                "openmetrics",
                nil,
                "in the OpenMetrics format, with the traces of callers that sent one"
            ), .control,
        ]
    ) { arguments throws(CommandFailure) in
        try arguments.limitOperands(to: 0)
        var fields = HeaderFields()
        fields.append("Accept", arguments.has("openmetrics") ? "application/openmetrics-text" : "text/plain")
        let response = try DaemonAccess.control(arguments).request(.get, "/metrics", fields: fields)
        guard response.status == .ok else { throw CommandFailure(response) }
        Output.standard.write(withoutProcess(response.body))
        return .done
    }
}

/// The text without the metrics that every program of a machine may have.
func withoutProcess(_ text: [UInt8]) -> [UInt8] {
    let beginnings = ["process_", "# HELP process_", "# TYPE process_"].map { Array($0.utf8) }
    return Array(
        text.split(separator: 0x0A, omittingEmptySubsequences: false)
            .filter { line in !beginnings.contains { line.starts(with: $0) } }
            .joined(separator: [0x0A])
    )
}
