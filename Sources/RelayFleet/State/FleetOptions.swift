package import RelayPostgres

/// How a node reaches its database, and by which name it is known there.
package struct FleetOptions: Sendable {
    package var database: PostgresSettings
    /// The name of the node, one of its kind.
    package var node: String
    /// A random text that lies beside the lock file of the state directory: who has it is the node.
    package var identity: String
    /// The id of the machine, for words.
    package var machine: String
    package var version: String
    /// Whether a number is the same user on the machine of each node.
    package var sharesUsers = false
    package var lease: Duration = .seconds(30)
    /// Connections at most.
    package var connections = 4
    /// Settings that the server may be without, though it may lose then what it has committed.
    package var risks: FleetRisks = []
    /// How long a statement may take.
    package var statementTimeout: Duration = .seconds(5)
    /// How long it is tried to find out what became of a write whose reply was lost.
    package var doubtTimeout: Duration = .seconds(10)
    /// How long a statement may be on its way to the server after nobody waits for it any more.
    package var longestWay: Duration = .seconds(30)
    /// A direct way to the same database, past a pooler that hands on no notification.
    package var direct: PostgresSettings?
    /// Whether it hears hints of other nodes, where there is a way; tests have it not.
    package var hearsHints = true
    /// Whether its beat looks for work; tests have it not.
    package var looksByItself = true
    /// The slots that its schema was made with.
    package var slots = FleetSchema.Slots()
    /// The expression for the database's present in milliseconds since 1970 UTC; tests move it.
    package var databaseClock = FleetStatements.clock
    /// The same as it is known here; nil reckons it from the replies.
    package var present: (@Sendable () -> Int64)?
    /// Whether jobs that wait for their time are looked at without being asked for; tests ask.
    package var wakesByItself = true
    /// Nanoseconds of a clock that counts while the machine sleeps.
    package var clock: @Sendable () -> Int64

    package init(
        database: PostgresSettings,
        node: String,
        identity: String,
        machine: String,
        version: String,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.database = database
        self.node = node
        self.identity = identity
        self.machine = machine
        self.version = version
        self.clock = clock
    }
}

extension FleetOptions {
    /// Whether it looks for work more often than its beat does, since no hint can reach it.
    var looksOften: Bool { database.isPooled && direct == nil }

    /// The way on which hints come; nil behind a pooler that no direct way passes.
    var listening: PostgresSettings? {
        guard hearsHints else { return nil }
        return direct ?? (database.isPooled ? nil : database)
    }
}
