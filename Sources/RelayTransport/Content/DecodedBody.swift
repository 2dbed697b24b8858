import RelayBase
import RelayRoute
import Synchronization

/// A body whose content coding is undone as it is read, by one reader at a time.
final class DecodedBody: BodySource {
    /// The most one piece holds.
    private static let pieceSize = 131_072

    private struct State: ~Copyable {
        let inflater: Inflater
        var input: ArraySlice<UInt8> = []
        /// Nil once all input has been taken.
        var source: Body?
        /// The memory that takes.
        var reservation: MemoryReservation?
        var isOver = false

        /// Nothing more is decoded.
        mutating func end() {
            isOver = true
            input = []
            reservation = nil
        }
    }

    let length: UInt64? = nil
    private let state: Mutex<State>
    private let stream: (any BodySource)?
    private let begun = Atomic<Bool>(false)

    init(_ source: Body, _ inflater: sending Inflater, _ reservation: MemoryReservation? = nil) {
        if case .stream(let inner) = source { stream = inner } else { stream = nil }
        state = Mutex(State(inflater: inflater, source: source, reservation: reservation))
    }

    var wasRead: Bool { begun.load(ordering: .relaxed) }

    func next() async throws(Failure) -> [UInt8]? {
        begun.store(true, ordering: .relaxed)
        while true {
            let step = state.withLock { Self.step(&$0) }
            switch step {
            case .piece(let piece): return piece
            case .over: return nil
            case .failed(let failure):
                stream?.cancel()
                throw failure
            case .needsMore:
                let more = try await stream?.next()
                state.withLock { state in
                    if let more { state.input = more[...] } else { state.source = nil }
                }
            }
        }
    }

    func cancel() {
        stream?.cancel()
        state.withLock { $0.end() }
    }

    func bound(by deadline: Instant) {
        stream?.bound(by: deadline)
    }

    private enum Step {
        case piece([UInt8])
        case needsMore
        case over
        case failed(Failure)
    }

    private static func step(_ state: inout State) -> Step {
        guard !state.isOver else { return .over }
        if case .bytes(let bytes)? = state.source {
            state.input = bytes[...]
            state.source = nil
        }
        var output: [UInt8] = []
        do throws(Failure) {
            while !state.input.isEmpty || state.inflater.hasPending, output.count < pieceSize {
                let taken = try state.inflater.decode(state.input, into: &output, capacity: pieceSize)
                state.input = state.input.dropFirst(taken)
            }
            if !output.isEmpty { return .piece(output) }
            if state.source != nil { return .needsMore }
            state.end()
            try state.inflater.finish()
            return .over
        } catch {
            state.end()
            return .failed(error)
        }
    }
}
