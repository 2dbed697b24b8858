import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayPosix
import RelayRoute

/// A parser between two pieces of a head; only a connection that has one pays for it.
final class HeldParser {
    var parser: RequestHeadParser

    init(_ parser: RequestHeadParser) { self.parser = parser }
}

/// One caller's connection: reads a request, has it answered, reads the next.
///
/// While idle it owns neither a buffer nor a task. While a request is under way nothing more is read, but a hang-up is
/// heard and cancels it.
@safe final class Connection: Watcher {
    let server: LoopServer
    let listener: ListenerIdentity
    let client: ClientIdentity?
    /// Its place among the connections there may be; one too many has none, and is refused.
    let slot: ConnectionLimiter.Slot?
    /// Its caller's part of the means that all share; operators and those who are refused have none.
    let share: CallerShare?
    @safe @exclusivity(unchecked) var phase = Phase.idle
    /// Bytes received and not yet used: an incomplete head, the next request, or the beginning of a body.
    @safe @exclusivity(unchecked) var pending: [UInt8] = []
    /// Keeps how far the search for a head's end got, while there is one.
    @safe @exclusivity(unchecked) var parser: HeldParser?
    /// Edge-triggered: whether there may be something to read that was not asked for.
    @safe @exclusivity(unchecked) var mayRead = true
    /// The caller sends no more; it may still read.
    @safe @exclusivity(unchecked) var peerFinished = false
    @safe @exclusivity(unchecked) var keepsAlive = true
    /// Whether its last request had a large body: the next is expected to have one too.
    @safe @exclusivity(unchecked) var bringsLargeBodies = false
    /// Whether a request has come on this connection.
    @safe @exclusivity(unchecked) var wasUsed = false
    @safe @exclusivity(unchecked) var task: Task<Void, Never>?
    /// The task waits for something that loses nothing when the daemon stops.
    var yieldsAtDrain = false
    /// The bytes that the socket would not take yet.
    @safe @exclusivity(unchecked) var unsent: [UInt8] = []
    @safe @exclusivity(unchecked) var unsentOffset = 0
    /// The memory that takes.
    var unsentReservation: MemoryReservation?
    @safe @exclusivity(unchecked) var request: ServerRequest?
    /// The rest of its answer, where that needs no task.
    @safe @exclusivity(unchecked) var passage: Passage?
    /// Resumed with whether the socket took everything.
    @safe @exclusivity(unchecked) var drained: CheckedContinuation<Bool, Never>?
    /// Resumed when body bytes may be there, with whether the connection lives.
    @safe @exclusivity(unchecked) var arrived: CheckedContinuation<Bool, Never>?
    /// Its request that is passed through, and who carries it as long as it is not answered.
    @safe @exclusivity(unchecked) var passing: UnsafeMutablePointer<PassThroughExchange>?
    @safe @exclusivity(unchecked) var passingSender: (any PassThroughSender)?
    /// The route that it sent to last in that way, and may send to.
    @safe @exclusivity(unchecked) var passThroughEntry: PassThrough.Entry?
    /// Why its request takes the ordinary path.
    @safe @exclusivity(unchecked) var ordinaryReason = OrdinaryReason.shape
    /// How many of its next requests are not tried.
    @safe @exclusivity(unchecked) var skipsPassThrough = 0
    /// The turn of the loop in which a request last ended at once, and how many did so in it.
    @safe @exclusivity(unchecked) var lastIteration: Int64 = 0
    @safe @exclusivity(unchecked) var endsInIteration = 0
    /// Monotonic nanoseconds; what the server's sweep looks at.
    @safe @exclusivity(unchecked) private(set) var deadline = Int64.max

    enum Phase {
        case idle
        case head
        case body
        /// A request is under way.
        case busy
        /// The last answer is out; the caller may still be sending.
        case lingering
        case closed
    }

    init(
        server: LoopServer,
        listener: ListenerIdentity,
        client: ClientIdentity?,
        slot: ConnectionLimiter.Slot?,
        share: CallerShare? = nil
    ) {
        self.slot = slot
        self.share = share
        self.server = server
        self.listener = listener
        self.client = client
        super.init(loop: server.loop)
        setDeadline(server.limits.idle)
    }

    override func ready(_ events: Events) {
        if events.contains(.hangUp) || events.contains(.error) { return abort() }
        if events.contains(.writable) { flush() }
        if events.contains(.peerFinished) { peerFinished = true }
        if events.contains(.readable) || events.contains(.peerFinished) {
            mayRead = true
            receive()
        }
    }

    /// Idle connections go at once, the others after their answer.
    ///
    /// A new connection whose request is still on its way gets a moment: its caller could not tell a restart from
    /// a failure.
    func drain() {
        keepsAlive = false
        if phase == .idle { receive() }
        if phase == .busy, let lines { return lines.drain() }
        if phase == .busy, yieldsAtDrain { task?.cancel() }
        guard phase == .idle else { return }
        if wasUsed { close() } else { setDeadline(.seconds(1)) }
    }

    /// The caller is gone or will be: whatever is under way ends.
    func abort() {
        guard phase != .closed else { return }
        let wasBusy = phase == .busy
        promotePassing()
        lines?.promotePassed()
        close()
        guard wasBusy else { return }
        if let task { task.cancel() } else if !keepWithTask() { request?.run?.cancel() }
        lines?.cancelPassed()
    }

    /// The stream of jobs that it serves.
    private var lines: LineStream? { if case .stream(let lines)? = request?.purpose { lines } else { nil } }

    func close() {
        guard phase != .closed else { return }
        phase = .closed
        pending = []
        unsent = []
        unsentReservation = nil
        loop.remove(self)
        endPassage()
        passingIsOver()
        server.closed(self)
        drained.take()?.resume(returning: false)
        arrived.take()?.resume(returning: false)
    }
}

// MARK: Deadlines

extension Connection {
    func setDeadline(_ wait: Duration) {
        deadline = loop.now &+ wait.saturatedNanoseconds
        if deadline < server.nextLook { server.look(by: deadline) }
    }

    @inline(__always)
    func setDeadline(nanoseconds wait: Int64) {
        deadline = loop.now &+ wait
        if deadline < server.nextLook { server.look(by: deadline) }
    }

    func clearDeadline() { deadline = .max }

    /// The server looks round.
    func swept(now: Int64) {
        guard now >= deadline else { return }
        deadline = .max
        switch phase {
        case .idle, .lingering, .closed: close()
        case .head:
            let problem = Problem(.requestTimeout, "the head did not arrive in time")
            countUnreadRefusal(problem)
            refuse(problem)
        case .body: refuseSlow(bodyTime.stalled(now))
        // A stalled disk and a stalled upload are told of; at a stalled reader nobody is there to tell.
        case .busy: if !endStalledUpload(now), !keepWithTask() { abort() }
        }
    }
}
