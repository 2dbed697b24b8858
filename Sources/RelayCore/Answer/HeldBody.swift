package import RelayBase
import RelayRoute
import Synchronization

/// The content of an answer whose head may be held back until something of it is there, and whose events are counted.
package final class HeldBody: BodySource {
    private struct State {
        var scanner: ContentScanner
        /// The bytes that have come and were not passed on yet.
        var beginning: [UInt8] = []
        /// The piece that was waited for when the time was over.
        var late: LatePiece?
        var dropsMark = false
        /// Bytes that were read, and those of them that are out.
        var read = 0
        var sent = 0
        /// The room that the beginning takes.
        var reservation: MemoryReservation?
    }

    private let source: any BodySource
    private let state: Mutex<State>

    package init(_ source: any BodySource, _ kind: ContentScanner.Kind) {
        self.source = source
        state = Mutex(State(scanner: ContentScanner(kind)))
    }

    package var length: UInt64? { source.length }
    package var wasRead: Bool { source.wasRead }

    package func cancel() { source.cancel() }

    package func bound(by deadline: Instant) { source.bound(by: deadline) }

    package func next() async throws(Failure) -> [UInt8]? {
        let held = takeBeginning()
        let piece = held.isEmpty ? try await read() : held
        guard let piece, state.withLock({ $0.dropsMark }) else { return piece }
        return try await unmarked(piece)
    }

    /// Has a byte order mark left out: something else comes before the content.
    package func dropMark() { state.withLock { $0.dropsMark = true } }

    private func unmarked(_ first: [UInt8]) async throws(Failure) -> [UInt8]? {
        var content = first
        while content.count < ContentScanner.mark.count, ContentScanner.mark.starts(with: content),
            let piece = try await read()
        {
            content += piece
        }
        state.withLock { $0.dropsMark = false }
        if content.starts(with: ContentScanner.mark) { content.removeFirst(ContentScanner.mark.count) }
        return content.isEmpty ? try await next() : content
    }

    /// Takes out the bytes that have come so far.
    package func takeBeginning() -> [UInt8] {
        state.withLock { state in
            defer { (state.beginning, state.reservation) = ([], nil) }
            return state.beginning
        }
    }

    /// Takes over the room for the beginning, which goes back when that is passed on.
    func keep(_ reservation: MemoryReservation?) {
        state.withLock { $0.reservation = $0.beginning.isEmpty ? nil : reservation }
    }

    /// How many bytes are held.
    var held: Int { state.withLock { $0.beginning.count } }

    /// Whether events were to come and none did.
    var hasNoEvent: Bool { state.withLock { $0.scanner.kind != .pieces && $0.scanner.events == 0 } }

    /// As `ContentScanner.endOfPart` says of all that was read.
    package var endOfPart: [UInt8]? { state.withLock { $0.scanner.endOfPart } }

    /// So many bytes more are out.
    package func sent(_ count: Int) { state.withLock { $0.sent += count } }

    /// As `endOfPart`, where all that was read is out; nil where nobody knows behind what an event more would stand.
    package var endOfSent: [UInt8]? {
        state.withLock { $0.read == $0.sent ? $0.scanner.endOfPart : nil }
    }

    /// Waits until so much is there that the head may go.
    func hold(
        _ commit: StreamRules.Commit,
        until end: Instant?,
        _ time: any TimeSource
    ) async throws(Failure) -> HeadRelease {
        let isOfPieces = state.withLock { $0.scanner.kind == .pieces }
        while true {
            var piece: [UInt8]?
            if let end {
                guard let result = try await nextPiece(before: end, time) else { return .time }
                piece = try result.get()
            } else {
                piece = try await read()
            }
            guard let piece else { return .whole }
            let (events, bytes) = state.withLock { state in
                if state.beginning.isEmpty { state.beginning = piece } else { state.beginning += piece }
                return (state.scanner.events, state.beginning.count)
            }
            if isOfPieces || commit.events > 0 && events >= commit.events { return .event }
            if bytes >= commit.bytes { return .bytes }
        }
    }

    /// The next piece, unless it comes later than that: whoever reads on gets it then.
    private func nextPiece(
        before end: Instant,
        _ time: any TimeSource
    ) async throws(Failure) -> Result<[UInt8]?, Failure>? {
        let late = LatePiece()
        state.withLock { $0.late = late }
        Task { [self] in
            await late.came(Result(of: { () async throws(Failure) in try await readSource() }))
        }
        let result = await cancelling(at: end, time) { await late.wait() }
        if result != nil { state.withLock { $0.late = nil } } else { try checkCancellation() }
        return result
    }

    private func read() async throws(Failure) -> [UInt8]? {
        guard let late = state.withLock({ $0.late }) else { return try await readSource() }
        guard let result = await late.wait() else {
            try checkCancellation()
            return nil
        }
        state.withLock { $0.late = nil }
        return try result.get()
    }

    private func readSource() async throws(Failure) -> [UInt8]? {
        let piece = try await source.next()
        if let piece {
            state.withLock { state in
                state.scanner.take(piece.span)
                state.read += piece.count
            }
        }
        return piece
    }

    private func checkCancellation() throws(Failure) {
        guard Task.isCancelled else { return }
        source.cancel()
        throw Failure(.cancelled, sent: .unknown, "the response body was given up")
    }
}

/// A piece that one task reads and another waits for, as long as it likes.
private final class LatePiece: Sendable {
    private struct State {
        var result: Result<[UInt8]?, Failure>?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func came(_ result: Result<[UInt8]?, Failure>) {
        state.withLock { state in
            state.result = result
            return state.waiter.take()
        }?.resume()
    }

    /// Nil where the task that waits is cancelled before it is there.
    func wait() async -> Result<[UInt8]?, Failure>? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.result != nil || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
        return state.withLock { $0.result }
    }
}
