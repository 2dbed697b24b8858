package import RelayBase
package import RelayJSON
package import RelayRoute

/// A configuration that has passed every check.
package struct Configuration: Sendable {
    package var listeners: [Listener]
    package var storage: StorageSettings
    package var limits: Limits
    package var log: LogSettings
    package var constrained: ConstrainedSources
    /// The shared ones and those inside routes, the latter called `route:<name>`.
    package var credentials: [CredentialDefinition]
    package var routes: [Route]
    /// The harmless requests of routes that have one, by the route's name.
    package var checks: [String: CheckRequest]
    /// Every secret the file refers to; the daemon resolves them before it uses the configuration.
    package var secrets: [SecretUse]
}

/// A socket on which callers are served.
package struct Listener: Sendable, Equatable {
    package enum Address: Sendable, Equatable {
        /// `group` owns the socket; nil leaves it to the daemon's own.
        case unix(path: String, mode: UInt32, group: String?)
        case tcp(LoopbackEndpoint)
    }

    /// Unique; also the name of a file descriptor passed by systemd.
    package var name: String
    package var address: Address
    package var role: Role
    /// Empty allows everyone who can open the socket.
    package var allowedUsers: [UInt32]
}

/// Bounds on what all callers together may take; sizes in bytes.
package struct Limits: Sendable {
    package var maxConnections = 512
    /// Requests under way over all routes; nil bounds nothing.
    package var maxRequests: Int?
    package var perUser = UserLimits()
    package var maxRequestBody = 16 << 20
    package var maxResponseBody = 16 << 20
    package var shedding = Shedding()
    /// A request body above this is copied to the disk while it is sent, so that it can be sent again.
    package var replayBuffer = 256 << 10
    /// Bytes all bodies in memory may take together; nil is a quarter of what there is.
    package var memory: Int?
    /// Bytes those copies may take together; what does not fit is sent once.
    package var spool = 1 << 30
    /// Unfinished jobs on disk; one more is refused.
    package var maxQueuedJobs = 100_000
}

extension Limits {
    /// The refusal of new work while memory is short.
    package struct Shedding: Sendable {
        package var isEnabled = true
        /// Whether it only tells what it would do.
        package var reports = false
        /// Bytes; nil is seven eighths of what there is.
        package var maxResident: Int?
    }
}

/// Bounds on what one user may take of what all share.
package struct UserLimits: Sendable {
    /// How fast requests may come: so many in each `per`, and at once as many as `burst`, or all of them.
    package struct Rate: Sendable {
        package var maxRequests = 1
        package var per: Duration = .seconds(1)
        package var burst: Int?
    }

    /// Whether users are told apart.
    package var isEnabled = true
    /// Nil is half of all.
    package var maxConnections: Int?
    /// Nil is half of all, where all have a bound.
    package var maxRequests: Int?
    /// Nil bounds nothing.
    package var maxBytes: Int?
    /// Unfinished jobs on disk; nil bounds nothing.
    package var maxQueuedJobs: Int?
    /// Nil bounds nothing.
    package var rate: Rate?
}

/// Where jobs are kept, and for how long.
package struct StorageSettings: Sendable, Equatable {
    /// How much of a commit is on disk when the caller is told.
    package enum Sync: String, CaseIterable, Sendable {
        case full
        /// Nothing: a power cut takes what was accepted last.
        case off
    }

    package var directory = "/var/lib/waystation"
    /// Bytes in use at which no more jobs are accepted.
    package var maxSize: UInt64 = 2 << 30
    package var sync = Sync.full
    package var retention = Retention()
    /// The database that keeps the jobs in the directory's place.
    package var postgresql: FleetSettings?
    /// Whether a user's number means the same user on every machine of the fleet.
    package var sharesUsers = false

    package init() {}
}

/// The settings of the records that go to the journal.
package struct LogSettings: Sendable {
    package enum Level: String, CaseIterable, Sendable {
        case error
        case warning
        case notice
        case info
        case debug
    }

    /// How records are written where no journal takes them.
    package enum Format: String, CaseIterable, Sendable {
        case text
        case json
    }

    package enum Bodies: String, CaseIterable, Sendable {
        case never
    }

    package var level = Level.info
    package var format = Format.text
    package var bodies = Bodies.never
    /// Lower case.
    package var redactedHeaders = ["authorization", "cookie", "set-cookie", "x-api-key"]
}

/// The sources that tell that the network is constrained; with neither it never is.
package struct ConstrainedSources: Sendable, Equatable {
    /// Absolute paths: any of these that exists is enough.
    package var files: [String] = []
    /// Whether operators may decide.
    package var control = false

    package init(files: [String] = [], control: Bool = false) {
        self.files = files
        self.control = control
    }
}

/// A secret and the place that refers to it.
package struct SecretUse: Sendable {
    package var reference: SecretReference
    package var pointer: JSONPointer
    package var position: JSONPosition
}
