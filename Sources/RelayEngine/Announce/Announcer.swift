package import RelayBase
package import RelayCore

/// The one place that is told what happens, and the only one that knows who listens.
///
/// Each event reaches every listener once, one listener after the other in the order of the list. Counters come before
/// what is read, and listeners that wake others last: whoever is woken finds all the rest as the event left it.
package final class Announcer: EventSink {
    private let listeners: [any JobListener]
    private let time: any ClockSource

    package init(_ listeners: [any JobListener], _ time: any ClockSource) {
        self.listeners = listeners
        self.time = time
    }

    package func record(_ event: JobEvent) {
        let wall = time.wallMilliseconds()
        for listener in listeners { listener.heard(event, at: wall) }
    }
}
