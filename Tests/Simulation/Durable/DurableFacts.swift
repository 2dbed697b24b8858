import RelayBase
import RelayJobs

/// The checker's knowledge of one durable job, from what crossed the borders of the engine.
final class DurableFacts {
    enum Landing: String {
        case none, never
        case failed
        /// Answered with a failure that does not refuse it.
        case answered
        case unknown, success
        case stopped
        case crashed
        /// No attempt: its upstream was asked about earlier ones.
        case asked
    }

    let number: Int
    let id: JobID
    let route: Int
    let method: Method
    let isKeyed: Bool
    var orderingKey: String?

    /// On disk, whoever knows of it.
    var isStored = false
    var isAcknowledged = false
    var isDropped = false
    var isHeld = false
    var turn = 0
    var storedAt: Int64 = 0
    /// On the steady clock, in nanoseconds.
    var notBefore: Int64 = 0
    /// On the wall clock, in milliseconds.
    var date: Int64?
    var expiresAt = Int64.max
    /// How far the store's line was behind the steady clock when it came.
    var lag: Int64 = 0

    var last = Landing.none
    /// Whether an attempt may have been carried out, whatever came after it.
    var mayHaveActed = false
    var lastLife = 0
    /// When an upstream carried it out, each time.
    var acts: [Int64] = []
    /// The upstream's words since the last attempt.
    var isFound = false
    var isAbsent = false
    /// Whether the store knows how the last attempt ended.
    var isSettled = true
    var flight: DurableFlight?
    /// Attempts of the present life that count, and those of the run that is not settled.
    var spent = 0
    var unsettled: [Landing] = []
    /// Attempts that are on record while it runs, and those that its run has sent.
    var onRecord = 0
    var sentInRun = 0
    var replays = 0
    var ends = 0
    var overSince: Int64?
    /// The process that was to tell of its end, and whether it has.
    var overLife = 0
    var isEndTold = false
    var runningSince: Int64?
    var strandedSince: Int64?
    /// The job of whose ending it tells, and the key by which an upstream knows it.
    var origin: DurableFacts?
    var noticeKey: String?
    /// Notices of its endings that are on disk, and of which of its lives the last one tells, and which ending.
    var notices = 0
    var toldReplay = -1
    var toldState: JobState?
    /// Whether its notice was owed at the last look, and since when although nothing is in its way.
    var isOwed = false
    var owedSince: Int64?
    /// The events of its life, for the reader of a broken promise.
    var story: [(at: Int64, what: String)] = []

    init(_ number: Int, _ id: JobID, route: Int, method: Method, isKeyed: Bool) {
        (self.number, self.id) = (number, id)
        (self.route, self.method, self.isKeyed) = (route, method, isKeyed)
    }
}

final class DurableFlight {
    let job: DurableFacts
    let life: Int
    var isOpen = true
    /// Whether it asks about earlier ones.
    let isQuestion: Bool

    init(_ job: DurableFacts, life: Int, isQuestion: Bool = false) {
        (self.job, self.life, self.isQuestion) = (job, life, isQuestion)
    }
}
