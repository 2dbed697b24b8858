import RelayCore
import Synchronization

/// What has become of a streamed answer; outlives the stream, so that the checker can ask.
final class StreamRecord {
    enum Stage {
        case open
        case ended
        case broke(FailureKind)
        /// Given up by the core, or let go.
        case left
    }

    var stage = Stage.open
    /// Since when it is read; nil where it is not.
    var readSince: Int64?
    var wasRead: Bool { readSince != nil }

    var isOpen: Bool { if case .open = stage { true } else { false } }
}

/// The content of a simulated answer, piece by piece.
final class SimulatedBody: BodySource {
    let length: UInt64?
    private let world: Confined<World>
    private let record: Confined<StreamRecord>
    private let content: [UInt8]
    private let delivery: Delivery
    private let began: Int64
    private let owner: Owner
    private let state = Mutex(State())

    enum Owner {
        case job(Int)
        /// A token answer and what it gives.
        case credential(Int, SimulatedEndpoint.Grant?)
    }

    private struct State {
        var next = 0
        var deadline = Int64.max
    }

    init(
        _ world: Confined<World>,
        _ record: StreamRecord,
        _ owner: Owner,
        _ content: [UInt8],
        _ delivery: Delivery
    ) {
        self.world = world
        self.record = Confined(record)
        self.owner = owner
        self.content = content
        self.delivery = delivery
        began = world.value.timeline.now
        length = delivery.isAnnounced ? UInt64(content.count) : nil
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
        record.value.readSince = record.value.readSince ?? world.value.timeline.now
        switch record.value.stage {
        case .open: break
        case .ended: return nil
        case .broke, .left: throw Failure(.cancelled, sent: .unknown, "the body was given up")
        }
        let (index, deadline) = state.withLock { ($0.next, $0.deadline) }
        let at = began + delivery.gap * Int64(index + 1)
        guard await world.pause(until: min(at, deadline)) else {
            record.value.stage = .left
            world.value.checker.streamEnded(owner, nil, record.value)
            throw Failure(.cancelled, sent: .unknown, "cancelled")
        }
        guard record.value.isOpen else { throw Failure(.cancelled, sent: .unknown, "the body was given up") }
        if at >= deadline { throw broke(.httpResponseTimeout) }
        if index == delivery.breaksAfter { throw broke(.httpResponseIncomplete) }
        if index >= delivery.pieces || content.isEmpty {
            record.value.stage = .ended
            world.value.checker.streamEnded(owner, nil, record.value)
            return nil
        }
        state.withLock { $0.next += 1 }
        let size = content.count
        let piece = content[size * index / delivery.pieces..<size * (index + 1) / delivery.pieces]
        return piece.isEmpty ? try await next() : Array(piece)
    }

    private func broke(_ kind: FailureKind) -> Failure {
        record.value.stage = .broke(kind)
        world.value.checker.streamEnded(owner, kind, record.value)
        return Failure(kind, sent: .unknown, "simulated")
    }

    private func leave() {
        guard record.value.isOpen else { return }
        record.value.stage = .left
        world.value.checker.streamEnded(owner, nil, record.value)
    }
}
