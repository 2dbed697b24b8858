import RelayPosix

/// A batch from the call to its answer.
final class Batch {
    /// One answer that the server owes.
    enum Expected {
        /// The end of a prepared statement of that name.
        case closing(String)
        /// The settings of a transaction whose session belongs to a pooler.
        case settings
        case preparation(PreparedStatements.Entry, statement: Int)
        case statement(Int)
        case rollback
        case sync
    }

    let statements: [PostgresStatement]
    let timer = LoopTimer {}
    var expected: [Expected] = []
    /// How many of them have come.
    var answered = 0
    var results: [PostgresResult] = []
    /// The first error of the server.
    var failure: PostgresError?
    /// Whether all of it is with the system.
    var isSent = false
    /// Whether any of it may be.
    var isBegun = false
    private let answer: (Result<[PostgresResult], PostgresError>) -> Void
    private let hasCommit: Bool
    private let isPooled: Bool
    private var hasPendingWarning = false

    init(
        _ statements: [PostgresStatement],
        isPooled: Bool,
        _ answer: @escaping (Result<[PostgresResult], PostgresError>) -> Void
    ) {
        self.statements = statements
        self.answer = answer
        self.isPooled = isPooled
        hasCommit = statements.contains(where: \.isCommit)
    }

    /// Whether it ends the prepared statement of that name.
    func closes(_ name: String) -> Bool {
        expected.contains { if case .closing(name) = $0 { true } else { false } }
    }

    var next: Expected? { answered < expected.count ? expected[answered] : nil }

    func finish(_ result: Result<[PostgresResult], PostgresError>) { answer(result) }

    /// Whether what was sent may be carried out although no answer says so.
    var isUnknown: Bool { failure?.isUnknown ?? mayBeCommitted }

    /// Without a COMMIT of its own it is the Sync, its last bytes, that commits.
    private var mayBeCommitted: Bool { isSent || isBegun && hasCommit }

    /// Whether it may be carried out in spite of an error in the place of the next answer.
    ///
    /// An error of a statement rolls all of it back. One that ends the server's process does so, too, unless it comes where
    /// the commit's own answer is awaited, or a pooler may have said it while the server went on.
    private func mayBeCommitted(in spite: ServerReport) -> Bool {
        guard spite.isFatal, mayBeCommitted else { return false }
        return isAtCommit || isPooled || (spite.sqlState?.utf8.starts(with: "08".utf8) ?? false)
    }

    /// Whether the next answer is that to the commit, or comes after it.
    private var isAtCommit: Bool {
        switch next {
        case .preparation(_, let index), .statement(let index): statements[index].isCommit
        case .settings, .closing, .rollback: false
        case .sync, nil: true
        }
    }

    /// Notes an error in the place of the next answer.
    func fail(_ report: ServerReport, at endpoint: String) {
        guard failure == nil else { return }
        var index: Int?
        switch next {
        case .preparation(_, let statement), .statement(let statement): index = statement
        case .settings, .closing, .rollback, .sync, nil: break
        }
        let subject = index.map { "statement \($0 + 1) of \(statements.count)" } ?? "the commit of a batch"
        let state = report.sqlState.map { " (\($0))" } ?? ""
        var error = PostgresError(
            report.isFatal ? .lost : .refused,
            "\(endpoint) refused \(subject): \(report.message)\(state)",
            sqlState: report.sqlState,
            statement: index
        )
        error.endsConnection = report.endsConnection
        error.isUnknown = mayBeCommitted(in: report)
        failure = error
    }

    /// Notes a warning, which belongs to the statement whose answer is awaited.
    func warn() { hasPendingWarning = true }

    func add(_ result: PostgresResult) {
        var result = result
        result.hasWarning = hasPendingWarning
        hasPendingWarning = false
        results.append(result)
    }

    /// The results of a batch that is over; a warning of its commit stands in the last one.
    var finalResults: [PostgresResult] {
        if hasPendingWarning, !results.isEmpty { results[results.count - 1].hasWarning = true }
        return results
    }
}
