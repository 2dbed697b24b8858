import RelayBase
import RelayCore
import RelayRoute
import Synchronization

/// The state of a streamed answer; outlives the stream, so that the checker can ask.
final class StreamRecord {
    enum Stage {
        case open, ended
        case broke(FailureKind)
        /// Given up by the core, or let go.
        case left
    }

    var stage = Stage.open
    /// Since when it is read; nil where it is not.
    var readSince: Int64?
    var wasRead: Bool { readSince != nil }
    /// Whether its pace was below what its route asks for in the time that is over which it is averaged.
    private(set) var isTooSlow = false
    private var waited: Int64 = 0
    private var bytes: Int64 = 0

    func arrived(_ count: Int, after wait: Int64, _ timeouts: Timeouts) {
        waited += wait
        bytes += Int64(count)
        guard waited >= max(30_000_000_000, timeouts.idle.saturatedNanoseconds) else { return }
        isTooSlow = Double(bytes) < Double(timeouts.minRate) * Double(waited) / 1e9 - 1
        (waited, bytes) = (0, 0)
    }

    var failure: FailureKind? {
        switch stage {
        case .broke(let kind): kind
        case .left: isTooSlow ? .connectionReadTimeout : nil
        case .open, .ended: nil
        }
    }

    var isOpen: Bool { if case .open = stage { true } else { false } }
}

final class SimulatedBody: BodySource {
    let length: UInt64?
    private let world: Confined<World>
    private let record: Confined<StreamRecord>
    private let content: [UInt8]
    private let flow: Flow
    private let began: Int64
    private let owner: Owner
    private let timeouts: Timeouts
    private let state: Mutex<State>

    enum Owner {
        case job(Int)
        /// A token answer and what it gives.
        case credential(Int, SimulatedEndpoint.Grant?)
    }

    private struct State {
        var next = 0
        var deadline = Int64.max
        var latest: Int64
    }

    init(
        _ world: Confined<World>,
        _ record: StreamRecord,
        _ owner: Owner,
        _ content: [UInt8],
        _ flow: Flow,
        _ timeouts: Timeouts
    ) {
        self.timeouts = timeouts
        state = Mutex(State(latest: world.value.timeline.now))
        self.world = world
        self.record = Confined(record)
        (self.owner, self.content, self.flow) = (owner, content, flow)
        began = world.value.timeline.now
        length = flow.isAnnounced ? UInt64(content.count) : nil
        world.value.openStreams += 1
    }

    deinit {
        leave()
        world.value.openStreams -= 1
    }

    var wasRead: Bool { record.value.wasRead }

    func bound(by deadline: Instant) { state.withLock { $0.deadline = deadline.nanoseconds } }

    func cancel() { if world.value.plant != .leakedBody { leave() } }

    func next() async throws(Failure) -> [UInt8]? {
        let began = world.value.timeline.now
        record.value.readSince = record.value.readSince ?? began
        if record.value.isTooSlow { world.value.checker.readOn(owner) }
        var piece = try await arriving()
        while piece?.isEmpty == true { piece = try await arriving() }
        guard let piece else { return nil }
        record.value.arrived(piece.count, after: world.value.timeline.now - began, timeouts)
        // Of content whose length it knows the transport sees to the pace.
        if record.value.isTooSlow, flow.isAnnounced { throw broke(.connectionReadTimeout) }
        return piece
    }

    private func arriving() async throws(Failure) -> [UInt8]? {
        switch record.value.stage {
        case .open: break
        case .ended: return nil
        case .broke, .left: throw Failure(.cancelled, sent: .unknown, "the body was given up")
        }
        let (index, deadline, latest) = state.withLock { ($0.next, $0.deadline, $0.latest) }
        let at = began + flow.gap * Int64(index + 1)
        let idleEnd = max(latest, record.value.readSince ?? 0) + timeouts.idle.saturatedNanoseconds
        guard await world.pause(until: min(at, deadline, idleEnd)) else {
            record.value.stage = .left
            world.value.checker.streamEnded(owner, record.value)
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        guard record.value.isOpen else { throw Failure(.cancelled, sent: .unknown, "the body was given up") }
        if min(at, idleEnd) >= deadline { throw broke(.httpResponseTimeout) }
        if at > idleEnd { throw broke(.connectionReadTimeout) }
        if index == flow.breaksAfter { throw broke(.httpResponseIncomplete) }
        if index >= flow.pieces || content.isEmpty {
            record.value.stage = .ended
            world.value.checker.streamEnded(owner, record.value)
            return nil
        }
        state.withLock { ($0.next, $0.latest) = (index + 1, world.value.timeline.now) }
        let size = content.count
        return Array(content[size * index / flow.pieces..<size * (index + 1) / flow.pieces])
    }

    private func broke(_ kind: FailureKind) -> Failure {
        record.value.stage = .broke(kind)
        world.value.checker.streamEnded(owner, record.value)
        return Failure(kind, sent: .unknown, "simulated")
    }

    private func leave() {
        guard record.value.isOpen else { return }
        record.value.stage = .left
        world.value.checker.streamEnded(owner, record.value)
    }
}
