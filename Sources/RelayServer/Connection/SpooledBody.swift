import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import Synchronization

/// The body of a request that is too large to be held: it goes on to the upstream as it arrives, and a copy of it to the
/// spool, from which another attempt begins again.
///
/// Its attempts follow each other, and what one of them has asked the caller for may still be on its way when the next
/// one begins: so one piece is taken at a time, and every piece is copied before anybody has it.
final class SpooledBody: Sendable {
    private struct State {
        var copy: (any ReplayCopy)?
        /// Bytes that have come from the caller.
        var taken: UInt64 = 0
        var isOver = false
        /// Why there is no copy any more.
        var loss: String?
        /// The attempt that takes the next piece.
        var taker: UInt64?
        var waiting: [CheckedContinuation<Void, Never>] = []
        var attempts: UInt64 = 0
        /// How long the body waits for the disk of its copy in all.
        var deadline: StorageDeadline

        mutating func lose(_ why: String) {
            copy = nil
            loss = why
        }
    }

    private enum Step {
        case end
        case copied(any ReplayCopy, count: Int)
        case wait
        case take
        case gone(String)
    }

    /// Bytes that are read back at once.
    private static let readSize: UInt64 = 131_072
    private static let longestWait = Duration.seconds(2)
    private static let stalled = StoreError(.failed, "the disk of its copy does not move")

    private let connection: LoopBound<Connection>
    let length: UInt64?
    private let state: Mutex<State>

    init(_ connection: Connection, copy: any ReplayCopy, length: UInt64?) {
        self.connection = LoopBound(connection, connection.loop)
        self.length = length
        let deadline = StorageDeadline(connection.server.relay.ports, atMost: SpooledBody.longestWait)
        state = Mutex(State(copy: copy, deadline: deadline))
    }

    var wasRead: Bool { state.withLock { $0.taken > 0 } }
    var loss: String? { state.withLock { $0.loss } }
    var hasCopy: Bool { state.withLock { $0.copy != nil } }

    /// A source that begins at the first byte; nil when that is gone.
    func source() -> SpooledBodySource? {
        let attempt: UInt64? = state.withLock { state in
            guard state.copy != nil || state.taken == 0 else { return nil }
            state.attempts += 1
            return state.attempts
        }
        return attempt.map { SpooledBodySource(self, attempt: $0) }
    }

    /// The piece at `position`, for that attempt; nil at the end.
    func piece(at position: UInt64, for attempt: UInt64) async throws(Failure) -> [UInt8]? {
        while true {
            switch state.withLock({ step(&$0, position, attempt) }) {
            case .end: return nil
            case .take: return try await take()
            case .wait:
                await withCheckedContinuation { continuation in
                    let isFree = state.withLock { state in
                        if state.taker != nil { state.waiting.append(continuation) }
                        return state.taker == nil
                    }
                    if isFree { continuation.resume() }
                }
            case .copied(let copy, let count):
                do throws(StoreError) {
                    return try await waiting { () throws(StoreError) in
                        try await copy.read(at: position, count: count)
                    }
                } catch {
                    state.withLock { $0.lose(error.message) }
                    throw Failure(.storedBodyUnread, sent: .neverSent, error.message)
                }
            case .gone(let why): throw Failure(.storedBodyUnread, sent: .neverSent, why)
            }
        }
    }

    /// Waits for the disk, as long as the body's patience lasts.
    private func waiting<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        // The attempt that takes or reads a piece is the only one to do so.
        var deadline = state.withLock { $0.deadline }
        defer {
            let left = deadline
            state.withLock { $0.deadline = left }
        }
        guard let value = try await deadline.wait(for: work) else { throw SpooledBody.stalled }
        return value
    }

    private func step(_ state: inout State, _ position: UInt64, _ attempt: UInt64) -> Step {
        if state.taker != nil { return .wait }
        if position < state.taken {
            guard let copy = state.copy else { return .gone(state.loss ?? "the request body is gone") }
            return .copied(copy, count: Int(min(state.taken - position, SpooledBody.readSize)))
        }
        if state.isOver { return .end }
        state.taker = attempt
        return .take
    }

    private func take() async throws(Failure) -> [UInt8]? {
        defer {
            let waiting = state.withLock { state in
                state.taker = nil
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }
        guard let piece = try await connection.value.nextUploadPiece() else {
            state.withLock { $0.isOver = true }
            return nil
        }
        if let copy = state.withLock({ $0.copy }) {
            do throws(StoreError) {
                try await waiting { () throws(StoreError) in try await copy.append(piece) }
            } catch {
                state.withLock { $0.lose(error.message) }
            }
        }
        state.withLock { $0.taken += UInt64(piece.count) }
        return piece
    }

    /// The attempt wants nothing more.
    func gaveUp(_ attempt: UInt64) {
        guard state.withLock({ $0.taker == attempt }) else { return }
        connection.valueOnLoop?.pauseUpload()
    }
}

/// One attempt's view of a spooled body.
final class SpooledBodySource: CopiedBody {
    private struct State {
        var position: UInt64 = 0
        var isOver = false
    }

    private let body: SpooledBody
    private let attempt: UInt64
    private let state = Mutex(State())

    init(_ body: SpooledBody, attempt: UInt64) {
        self.body = body
        self.attempt = attempt
    }

    var length: UInt64? { body.length }
    var wasRead: Bool { body.wasRead }
    var sentOnceBecause: String? { body.loss }
    var hasCopy: Bool { body.hasCopy }

    func next() async throws(Failure) -> [UInt8]? {
        guard let position = state.withLock({ $0.isOver ? nil : $0.position }) else { return nil }
        let piece = try await body.piece(at: position, for: attempt)
        state.withLock { $0.position += UInt64(piece?.count ?? 0) }
        return piece
    }

    func cancel() {
        guard
            state.withLock({ state in
                defer { state.isOver = true }
                return !state.isOver
            })
        else { return }
        body.gaveUp(attempt)
    }

    func restarted() -> (any BodySource)? { body.source() }
}
