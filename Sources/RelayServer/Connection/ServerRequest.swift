import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayRoute

/// The problem of a body; only a request that has one pays for it.
private final class HeldProblem {
    let problem: Problem

    init(_ problem: Problem) { self.problem = problem }
}

/// A request whose head was accepted and whose body is arriving.
final class ServerRequest {
    let head: RequestHead
    let purpose: Purpose
    /// The configuration that holds for all of it.
    private let snapshot: Snapshot
    /// A document for the API is always collected, and so is a body that is to be wrapped; one that is kept on disk
    /// first is not wrapped yet.
    let streams: Bool
    @safe @exclusivity(unchecked) var decoder: BodyDecoder
    /// Decoded bytes nobody has taken yet.
    @safe @exclusivity(unchecked) var collected: [UInt8] = []
    /// The body that the task sends: all of it, or its source.
    @safe @exclusivity(unchecked) var body = Body.empty
    /// The request on its way, where it is relayed and answered when it is done, and with it its hold on the relay.
    @safe @exclusivity(unchecked) var run: RequestRun?
    /// The same, where it is on its way to disk without a task.
    @safe @exclusivity(unchecked) var keeping: PromptAcceptance?
    /// Whether its answer is composed.
    @safe @exclusivity(unchecked) var isAnswered = false
    /// Whether a head went out before there was an answer.
    @safe @exclusivity(unchecked) var isKeptAlive = false
    /// Which answer it is whose content follows its head; 0 of none.
    @safe @exclusivity(unchecked) var streamSerial = 0
    /// The part of the answer that has to be waited for.
    @safe @exclusivity(unchecked) var streaming: Streaming?
    /// Decoded bytes so far.
    @safe @exclusivity(unchecked) var received: UInt64 = 0
    /// When its head was there, and when more of its body came last, in monotonic nanoseconds.
    let began: Int64
    @safe @exclusivity(unchecked) var lastCame: Int64 = 0
    /// How long its body may take; nil of one that came at once.
    @safe @exclusivity(unchecked) var time: BodyTime?
    /// Whether more of a body that streams is waited for.
    @safe @exclusivity(unchecked) var isAwaited = false
    /// Bytes of the whole body that are accepted.
    let limit: Int
    /// Bytes that are held before the body starts to stream.
    private(set) var bufferLimit: Int
    /// The memory its body takes.
    private var reservation: MemoryReservation?
    @safe @exclusivity(unchecked) private var held: HeldProblem?
    /// The problem of a body that was being streamed: the caller's fault, which the answer names.
    var refusal: Problem? {
        get { held?.problem }
        set { held = newValue.map(HeldProblem.init) }
    }

    enum Purpose {
        case relay(Admission)
        case api(APICall)
        case stream(LineStream)
    }

    /// One that is relayed; what holds of it is the configuration that it was admitted with.
    convenience init(_ head: RequestHead, relaying admission: Admission, began: Int64) {
        let settings = admission.snapshot.settings
        self.init(
            head,
            .relay(admission),
            admission.snapshot,
            limit: settings.maxRequestBody,
            bufferLimit: settings.replayBuffer,
            began: began
        )
    }

    init(
        _ head: RequestHead,
        _ purpose: Purpose,
        _ snapshot: Snapshot,
        limit: Int,
        bufferLimit: Int,
        began: Int64
    ) {
        self.snapshot = snapshot
        self.began = began
        streams =
            if case .relay(let admission) = purpose {
                admission.isDurable || admission.route.policy.request.wrap == nil
            } else {
                false
            }
        self.head = head
        self.purpose = purpose
        self.limit = limit
        self.bufferLimit = bufferLimit
        decoder = BodyDecoder(framing: head.framing)
    }

    /// The problem that the caller is told when the body is larger than `limit`.
    var tooLarge: Problem {
        switch purpose {
        case .relay: Engine.tooLarge(snapshot)
        case .api, .stream: Problem(.contentTooLarge, "a document for the API may have \(limit) bytes")
        }
    }

    /// Finds room for what will be held of the body; what has none streams.
    ///
    /// - Throws: `overloaded` when it has to be held and there is no room.
    func reserveMemory(_ memory: MemoryAccount, _ share: CallerShare?) throws(Problem) {
        let most = streams ? bufferLimit : limit
        let wanted = Int(clamping: min(length ?? UInt64(most), UInt64(most)))
        guard wanted > MemoryAccount.free else { return }
        reservation = memory.reserve(wanted)
        if let share, let reservation {
            reservation.charge(to: share)
            let limits = snapshot.settings.callers
            if reservation.isOver(limits, isRefused: !streams) {
                self.reservation = nil
                if streams {
                    bufferLimit = 0
                    return
                }
                let fitsEver = wanted <= limits.maxBytes ?? .max
                throw Problem(.bytes, of: share, limits, retryAfter: fitsEver ? .seconds(1) : nil)
            }
        }
        if reservation != nil { return }
        guard streams else {
            throw Problem(
                .overloaded,
                "the body needs \(wanted) bytes of memory, and there is no room for it (limits.memory)",
                retryAfter: .seconds(1)
            )
        }
        bufferLimit = 0
    }

    /// Its body was there as a whole, in that room.
    func attach(_ reservation: MemoryReservation?) { self.reservation = reservation }

    /// All of the body is there.
    func isWhole() { reservation?.shrink(to: collected.count) }

    /// How many bytes may be read straight behind those that are collected: all that are still to come of what is held;
    /// nil where framing stands between them.
    var wanted: Int? {
        guard let rest = decoder.remaining, let length, streams || length <= UInt64(limit) else { return nil }
        guard streams, length > UInt64(bufferLimit) else { return Int(rest) }
        let left = bufferLimit - collected.count
        return left > 0 ? min(left, Int(clamping: rest)) : nil
    }

    /// Whether so much of a body that streams has come that its request may begin: a caller that stalls before that holds
    /// nothing of its route.
    var hasBegun: Bool {
        guard streams else { return false }
        return collected.count > bufferLimit
            || collected.count == bufferLimit && length.map { $0 > UInt64(bufferLimit) } ?? false
    }

    /// Hands the body over, so that it is held once.
    func takeBody() -> Body {
        defer { body = .empty }
        return body
    }

    /// Decoded bytes nobody has taken; nil when there are none.
    func takeCollected() -> [UInt8]? {
        guard !collected.isEmpty else { return nil }
        defer { (collected, reservation) = ([], nil) }
        return collected
    }

    var length: UInt64? {
        switch head.framing {
        case .none: 0
        case .length(let length): length
        case .chunked, .untilClose: nil
        }
    }

    /// The body is read by what serves it, line by line.
    var isLineStream: Bool { if case .stream = purpose { true } else { false } }
}
