import RelayJobs
import RelayRecords

/// The columns of a row of `plain` beside its record, and of the record what no job has before it is accepted.
struct PlainColumns {
    let seq: Int64
    let route: Int64
    private(set) var queue: Int64
    private(set) var runAt: Int64
    var expiresAt: Int64?
    /// Wall milliseconds.
    let created: Int64
    let user: UInt32?
    /// Of a job that was born running; zero of others.
    private(set) var token: UInt64 = 0
    /// With its token.
    private(set) var begun: BegunAttempt?

    init(seq: Int64, priority: UInt8, user: UInt32?, route: Int64, runAt: Int64, created: Int64) {
        self.seq = seq
        self.route = route
        self.runAt = runAt
        self.created = created
        self.user = user
        queue = Int64(min(priority, 7))
    }

    /// Where it waits once it is due.
    var waitingQueue: JobQueue { JobQueue(ClaimTurns.party(of: user), Int(queue)) }

    /// It waits for its time.
    mutating func schedule(at time: Int64) {
        queue = JobRow.scheduledQueue
        runAt = time
    }

    /// It is claimed as it is accepted.
    mutating func run(token: UInt64, _ begun: BegunAttempt) {
        queue = JobRow.runningQueue
        self.token = token
        self.begun = begun
    }

    /// The checksum of the columns.
    var sum: Checksum {
        var sum = Checksum(of: seq)
        sum.add(route)
        sum.add(queue)
        sum.add(runAt)
        sum.add(expiresAt ?? -1)
        sum.add(created)
        sum.add(user.map(Int64.init) ?? -1)
        return sum
    }
}
