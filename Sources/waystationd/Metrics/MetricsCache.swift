import RelayPosix
import RelayServer
import Synchronization

/// Gives out the metrics: composed beside all loops, one text of a format at a time.
///
/// With many routes a text takes a while, and whoever may connect to a port may ask for it as often as they like: each is
/// given out for ten times as long as it took, so that they cost a tenth of a processor at most.
final class MetricsCache: Sendable {
    private typealias Reader = CheckedContinuation<[UInt8], Never>

    private enum Copy {
        /// Readers wait for it.
        case awaited([Reader])
        /// Given out until then, in nanoseconds of the monotonic clock.
        case made([UInt8], until: Int64)
    }

    private enum Step {
        case give([UInt8])
        case wait
        case compose
    }

    /// Where texts and other long documents are composed.
    let thread = SideThread("documents")
    private let copies = Mutex<[MetricsText.Format: Copy]>([:])
    private let clock: @Sendable () -> Int64

    init(clock: @escaping @Sendable () -> Int64 = { SystemClock.monotonic() }) { self.clock = clock }

    /// The text in that format, which `compose` makes where there is none that may be given out.
    func text(
        _ format: MetricsText.Format,
        compose: @escaping @Sendable () -> [UInt8]
    ) async -> [UInt8] {
        await withCheckedContinuation { reader in
            switch step(format, reader) {
            case .give(let text): reader.resume(returning: text)
            case .wait: break
            case .compose: thread.start { [self] in make(format, compose) }
            }
        }
    }

    private func step(_ format: MetricsText.Format, _ reader: Reader) -> Step {
        copies.withLock { copies in
            switch copies[format] {
            case .made(let text, let end) where clock() < end: return .give(text)
            case .awaited(let readers):
                copies[format] = .awaited(readers + [reader])
                return .wait
            default:
                copies[format] = .awaited([reader])
                return .compose
            }
        }
    }

    private func make(_ format: MetricsText.Format, _ compose: @Sendable () -> [UInt8]) {
        let began = clock()
        let text = compose()
        let now = clock()
        let readers = copies.withLock { copies -> [Reader] in
            defer { copies[format] = .made(text, until: now + 10 * (now - began)) }
            guard case .awaited(let readers) = copies[format] else { return [] }
            return readers
        }
        for reader in readers { reader.resume(returning: text) }
    }
}
