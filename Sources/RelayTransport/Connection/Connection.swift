import RelayBase
import RelayHTTP
import RelayPosix
import RelayRoute

/// One connection to an upstream, carrying one request at a time and confined to its loop.
///
/// It is driven from two sides: requests are begun and bodies read by whoever wants them; the loop reports readiness
/// and time. A request ends once, in `finish`, `fail` or `release`, and each of them moves
/// `serial` on or closes, so that a call that comes late finds nothing to do.
@safe final class Connection: Watcher {
    enum Phase {
        /// Being made: look-up, connect, handshake. Next: `exchanging`, `closed`.
        case dialling
        /// Made and not yet used, or waiting in the pool. Next: `exchanging`, `closed`.
        case idle
        /// A request was begun and its answer's head is awaited. Next: `reading`, `idle`, `closed`.
        case exchanging
        /// The head was delivered; somebody reads the body. Next: `idle`, `closed`.
        case reading
        case closed
    }

    let pool: OriginPool
    @safe @exclusivity(unchecked) var phase: Phase = .dialling
    /// Moves on with each request, so that a late call for an earlier one is told apart.
    @safe @exclusivity(unchecked) var serial: UInt64 = 0
    @safe @exclusivity(unchecked) var tls: TLSSession?
    /// The address that was dialled, with port.
    var address = ""
    @safe @exclusivity(unchecked) var isReused = false
    /// Whether the peer's chain held none of the pinned keys, and the pins only report.
    @safe @exclusivity(unchecked) var missedPins = false
    /// Holds the connection while its timer is scheduled: a timer never outlives what it wakes.
    let wakeUp: WakeUp
    let timer: LoopTimer

    /// How far it has come, while it is being made.
    var dialling: Dialling?

    // The wire.
    /// The events that the descriptor is watched for when nothing is left to write.
    @safe @exclusivity(unchecked) var interest: Events = .stream
    /// Whether a read may find something; set by events, cleared by reads.
    @safe @exclusivity(unchecked) var isReadable = false
    @safe @exclusivity(unchecked) var peerFinished = false

    // Time, in monotonic nanoseconds.
    @safe @exclusivity(unchecked) var deadline: Int64 = .max
    @safe @exclusivity(unchecked) var idleLimit: Int64 = .max
    @safe @exclusivity(unchecked) var lastProgress: Int64 = 0
    /// The settings behind the deadline and the idle limit, for messages.
    @safe @exclusivity(unchecked) var timeLimit: TimeLimit?
    @safe @exclusivity(unchecked) var idleName = LimitName("timeouts.idle")
    /// Content as it moves; nil for an exchange none of whose content is waited for.
    @safe @exclusivity(unchecked) var transfer: Transfer?

    // The request on its way out.
    @safe @exclusivity(unchecked) var output = PendingOutput()
    @safe @exclusivity(unchecked) var upload: (any BodySource)?
    var uploadWaiter: UnsafeContinuation<Void, Never>?
    @safe @exclusivity(unchecked) var hasWritten = false
    @safe @exclusivity(unchecked) var sentAt: Int64 = 0
    @safe @exclusivity(unchecked) var nameLookup: Int64 = 0
    @safe @exclusivity(unchecked) var connectTime: Int64 = 0
    /// Whether the answer came before the whole request was read.
    @safe @exclusivity(unchecked) var closesAfterAnswer = false
    /// Why writing stopped; the answer may still be there to read.
    @safe @exclusivity(unchecked) var writeFault: WireFault?

    // The answer on its way in.
    @safe @exclusivity(unchecked) var waiter: ExchangeWaiter?
    /// The receiver whose request it passes through: there is no `waiter` and no parser then, until it is promoted.
    @safe @exclusivity(unchecked) var passing: Passing?
    /// The pool that it was taken from for that, as long as it may be promoted.
    @safe @exclusivity(unchecked) var passThroughPool: PassThroughPool?
    /// Whether a request is being begun: who has no task is told of an end in that only afterwards.
    @safe @exclusivity(unchecked) var isBeginning = false
    /// Of the request, by which the end of its answer is known.
    @safe @exclusivity(unchecked) var method = Method.get
    /// Keeps how far the search for the end of a head got that has come in part.
    @safe @exclusivity(unchecked) var parser: HeldParser?
    @safe @exclusivity(unchecked) var limits = ResponseLimits()
    @safe @exclusivity(unchecked) var headBytes: [UInt8] = []
    @safe @exclusivity(unchecked) var interimCount = 0
    /// When the head came of an answer that is passed on once it is there as a whole; 0 for any other.
    @safe @exclusivity(unchecked) var headAt: Int64 = 0
    /// Bytes of such an answer in all.
    @safe @exclusivity(unchecked) var awaited = 0
    /// Whether its last answer was large and passed on: the next one is expected to be so too.
    @safe @exclusivity(unchecked) var bringsLargeAnswers = false
    @safe @exclusivity(unchecked) var body = IncomingBody()
    /// The receiver that takes the body without a task.
    @safe @exclusivity(unchecked) var taker: (any PieceReceiver)?

    init(_ pool: OriginPool, loop: EventLoop) {
        self.pool = pool
        let wakeUp = WakeUp()
        self.wakeUp = wakeUp
        timer = LoopTimer { wakeUp.connection?.timerFired() }
        super.init(loop: loop)
    }

    override public func ready(_ events: Events) {
        if !events.isDisjoint(with: [.readable, .peerFinished, .hangUp, .error]) { isReadable = true }
        if !events.isDisjoint(with: [.peerFinished, .hangUp, .error]) { peerFinished = true }
        switch phase {
        case .dialling: dialReady()
        case .idle:
            // The peer closed, or spoke without being asked. A TLS peer may send tickets at any time.
            if tls == nil || !isQuietTLS() { discard() }
        case .exchanging:
            if events.contains(.writable) || tls != nil, !output.isEmpty { flush() }
            if phase == .exchanging, isReadable { readHead() }
        case .reading:
            if events.contains(.writable) || tls != nil, !output.isEmpty { flush() }
            if phase == .reading, isReadable { wakeReader() }
        case .closed: break
        }
    }

    // MARK: Ends

    /// Tells who waits for the try; who has no task may use the connection at once, so this comes last.
    func tell(_ outcome: ExchangeOutcome) {
        promote(.closed)
        guard let waiter else { return }
        self.waiter = nil
        if isBeginning, case .receiver = waiter {
            loop.afterBatch { waiter.resume(outcome) }
        } else {
            waiter.resume(outcome)
        }
    }

    /// Gives the connection back when both directions are at a clean end; closes it otherwise.
    func release(keepsAlive: Bool) {
        serial &+= 1
        stopUpload()
        body = IncomingBody()
        parser = nil
        transfer = nil
        guard keepsAlive, output.isEmpty, !peerFinished, writeFault == nil, phase != .closed else {
            return close()
        }
        output = PendingOutput()
        headBytes = []
        phase = .idle
        isReused = true
        deadline = .max
        lastProgress = loop.now
        if let tls, pool.ticket == nil, pool.keepsTickets { pool.ticket = tls.ticket() }
        pool.keep(self)
    }

    /// Closes at once; nobody is told.
    func close() {
        guard phase != .closed else { return }
        phase = .closed
        serial &+= 1
        dialling = nil
        stopUpload()
        loop.cancel(timer)
        wakeUp.connection = nil
        if descriptor >= 0, writeFault == nil { tls?.finish() }
        tls = nil
        output = PendingOutput()
        body.dropLeftover(body.leftover.count)
        loop.remove(self)
    }

    /// Closes while idle in the pool.
    private func discard() {
        pool.forget(self)
        close()
    }

    /// Whether an idle connection can be used: epoll has had its say unless the batch at hand is old.
    func isAlive(now: Int64) -> Bool {
        guard phase == .idle, !peerFinished else { return false }
        let isFresh =
            !isReadable && loop.currentTime() &- loop.now < Self.freshness && now &- lastProgress < Self.trust
        guard !isFresh else { return true }
        if tls != nil { return isQuietTLS() }
        var byte: UInt8 = 0
        let peeked = unsafe withUnsafeMutableBytes(of: &byte) { byte in
            unsafe Socket.receive(descriptor, into: byte, peek: true)
        }
        guard case .wouldBlock = peeked else { return false }
        isReadable = false
        return true
    }

    /// How old the loop's last look at the descriptors may be, and how long a connection may have idled,
    /// before it is looked at once more; nanoseconds.
    private static let freshness: Int64 = 3_000_000
    private static let trust: Int64 = 1_000_000_000

    /// Lets OpenSSL take in what is not application data; false when there was any, or the end.
    private func isQuietTLS() -> Bool {
        guard !peerFinished, let tls else { return false }
        var byte: UInt8 = 0
        let result = unsafe withUnsafeMutableBytes(of: &byte) { unsafe tls.read(into: $0) }
        guard case .wouldBlock = result else { return false }
        isReadable = false
        return true
    }
}

/// A parser between two pieces of a head; only a connection that has one pays for it.
final class HeldParser {
    let parser: ResponseHeadParser

    init(_ parser: ResponseHeadParser) { self.parser = parser }
}

/// The connection that a scheduled timer wakes.
final class WakeUp {
    @safe @exclusivity(unchecked) var connection: Connection?
}

/// The outcome of one try on one connection.
enum ExchangeOutcome: Sendable {
    case answer(InboundResponse)
    case failure(Failure)
    /// A kept connection turned out to be dead before it took a byte: another may be tried.
    case stale
    /// The peer closed a kept connection that had taken bytes of the request, and sent none of an answer.
    case closed(Failure)
}
