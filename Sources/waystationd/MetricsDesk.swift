import RelayPosix
import RelayServer
import Synchronization

/// Gives out the metrics: composed beside all loops, one text of a format at a time.
///
/// With many routes a text takes a while, and whoever may connect to a port may ask for it as often as they like: each is
/// given out for ten times as long as it took, so that they cost a tenth of a processor at most.
final class MetricsDesk: Sendable {
    private struct Copy {
        let text: Task<[UInt8], Never>
        let number: Int
        /// Until when it is given out, in nanoseconds of the monotonic clock; nil while it is composed.
        var end: Int64?
    }

    private struct State {
        var copies: [MetricsText.Format: Copy] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int64

    init(clock: @escaping @Sendable () -> Int64 = { SystemClock.monotonic() }) { self.clock = clock }

    /// The text in that format, which `compose` makes where there is none that may be given out.
    func text(
        _ format: MetricsText.Format,
        compose: @escaping @Sendable () async -> [UInt8]
    ) async -> [UInt8] {
        let copy = state.withLock { state in
            if let copy = state.copies[format], copy.end.map({ clock() < $0 }) ?? true { return copy }
            state.count += 1
            let number = state.count
            let text = Task.detached { [self] in await made(format, number, compose) }
            let copy = Copy(text: text, number: number)
            state.copies[format] = copy
            return copy
        }
        return await copy.text.value
    }

    private func made(
        _ format: MetricsText.Format,
        _ number: Int,
        _ compose: @Sendable () async -> [UInt8]
    ) async -> [UInt8] {
        let began = clock()
        let text = await compose()
        let now = clock()
        state.withLock { state in
            if state.copies[format]?.number == number { state.copies[format]?.end = now + 10 * (now - began) }
        }
        return text
    }
}
