/// A server, or the way to it, did not do what it was asked.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// libpq is not there, or too old.
        case missingLibrary
        /// No connection came about.
        case unreachable
        /// No answer came in the time that was given.
        case timeout
        /// The connection broke.
        case lost
        /// The server said so: `sqlState`.
        case refused
        /// The peer does not speak the protocol, or was asked for what this layer does not do.
        case protocolError
    }

    package var kind: Kind
    /// The five characters of the server's answer.
    package var sqlState: String?
    /// The index of the statement in its batch; nil where the batch as a whole failed, as in its commit.
    package var statement: Int?
    /// The words that say what failed, where, and what to do; no password, parameter or body is in them.
    package var message: String
    /// Whether the batch may have been carried out all the same: its COMMIT (or Sync) had been sent and no answer came.
    package var isUnknown = false
    /// Whether the connection is over with it.
    package var endsConnection: Bool

    package init(_ kind: Kind, _ message: String, sqlState: String? = nil, statement: Int? = nil) {
        self.kind = kind
        self.message = message
        self.sqlState = sqlState
        self.statement = statement
        endsConnection = kind != .refused
    }

    package var description: String { message }
}
