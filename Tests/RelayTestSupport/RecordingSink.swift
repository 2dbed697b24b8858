package import RelayCore
import Synchronization

/// Keeps every event.
package final class RecordingSink: EventSink, JobListener {
    private let kept = Mutex<[JobEvent]>([])

    package init() {}

    package func record(_ event: JobEvent) { kept.withLock { $0.append(event) } }
    package func heard(_ event: JobEvent, at wall: Int64) { record(event) }

    package var events: [JobEvent] { kept.withLock { $0 } }
}
