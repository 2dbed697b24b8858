/// A word of the server that is no error.
package struct PostgresNotice: Sendable, Equatable {
    /// `WARNING`, `NOTICE`, `INFO`, `LOG` or `DEBUG`; never translated.
    package var severity: String
    package var sqlState: String?
    package var message: String

    init(_ report: ServerReport) {
        severity = report.severity
        sqlState = report.sqlState
        message = report.message
    }

    package var isWarning: Bool { severity == "WARNING" }
}
