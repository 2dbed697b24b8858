import RelaySystemd
import Synchronization
import Testing

/// Collects what a sink is given, in order; can be closed like a valve, so that the sink stalls.
final class Recorder<Element: Sendable>: Sendable {
    private let seen = Mutex<[Element]>([])
    private let gate: Mutex<EventDescriptor?>
    /// Signalled when the sink begins to wait at the valve.
    let reachedValve: EventDescriptor
    private let opened: EventDescriptor

    init(isStalled: Bool = false) throws {
        let opened = try #require(EventDescriptor())
        self.opened = opened
        gate = Mutex(isStalled ? opened : nil)
        reachedValve = try #require(EventDescriptor())
    }

    var elements: [Element] { seen.withLock { $0 } }

    @discardableResult
    func take(_ element: Element) -> Bool {
        if let valve = gate.withLock({ $0 }) {
            reachedValve.signal()
            valve.wait(milliseconds: 30_000)
        }
        seen.withLock { $0.append(element) }
        return true
    }

    func open() {
        gate.withLock { $0 = nil }
        opened.signal()
    }
}
