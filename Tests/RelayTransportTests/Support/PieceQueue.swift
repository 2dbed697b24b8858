import Synchronization

/// The pieces that a `Pieces` has left.
final class PieceQueue: Sendable {
    private struct State {
        var rest: [[UInt8]]
        let endless: Bool
        var taken = 0
        var wasCancelled = false
    }

    private let state: Mutex<State>

    init(_ pieces: [[UInt8]], _ endless: Bool) {
        state = Mutex(State(rest: pieces.reversed(), endless: endless))
    }

    var taken: Int { state.withLock { $0.taken } }
    var wasCancelled: Bool { state.withLock { $0.wasCancelled } }

    func next() -> [UInt8]? {
        state.withLock { state in
            guard !state.wasCancelled else { return nil }
            let piece = state.endless ? state.rest.last : state.rest.popLast()
            if piece != nil { state.taken += 1 }
            return piece
        }
    }

    func cancel() { state.withLock { $0.wasCancelled = true } }
}
