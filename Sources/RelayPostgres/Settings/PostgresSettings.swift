/// Where a database is and who asks it.
package struct PostgresSettings: Sendable {
    /// A name, an address, or the directory of a Unix socket.
    package var host: String
    package var port: Int
    /// Other servers, which are tried in this order where the first does not answer or takes no writes.
    package var others: [(host: String, port: Int)] = []
    package var database: String
    package var user: String
    /// Asked at each connection: one that was rotated takes effect then.
    package var password: @Sendable () -> String?
    /// The schema in which names are looked up; behind a pooler each transaction has to say so itself.
    package var schema: String
    /// Whether a pooler in transaction mode stands between: no statement is prepared, and nothing is set for a session.
    package var isPooled: Bool
    package var tls: PostgresTLS
    package var applicationName: String
    package var limits: PostgresLimits

    package init(
        host: String,
        port: Int = 5432,
        database: String,
        user: String,
        password: @escaping @Sendable () -> String? = { nil },
        schema: String,
        isPooled: Bool = false,
        tls: PostgresTLS = .automatic,
        applicationName: String = "waystation",
        limits: PostgresLimits = PostgresLimits()
    ) {
        self.host = host
        self.port = port
        self.database = database
        self.user = user
        self.password = password
        self.schema = schema
        self.isPooled = isPooled
        self.tls = tls
        self.applicationName = applicationName
        self.limits = limits
    }
}

/// How long things may last, for the server and for the network; the server's are set where no pooler stands between.
package struct PostgresLimits: Sendable, Equatable {
    package var statement: Duration
    package var lock: Duration
    package var idleInTransaction: Duration
    /// How often the server looks, during a statement, whether its client is still there.
    package var connectionCheck: Duration
    /// How long what was sent may stay without an acknowledgement, in both directions.
    package var silence: Duration
    /// Bytes that the answers to one batch may have together.
    package var answer: Int
    /// Statements that one connection prepares.
    package var prepared: Int

    package init(
        statement: Duration = .seconds(30),
        lock: Duration = .seconds(10),
        idleInTransaction: Duration = .seconds(10),
        connectionCheck: Duration = .seconds(2),
        silence: Duration = .seconds(10),
        answer: Int = 64 << 20,
        prepared: Int = 256
    ) {
        self.statement = statement
        self.lock = lock
        self.idleInTransaction = idleInTransaction
        self.connectionCheck = connectionCheck
        self.silence = silence
        self.answer = answer
        self.prepared = prepared
    }
}
