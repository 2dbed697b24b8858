package import RelayJobs
import Synchronization

/// The events of a store, as they were told.
package final class StoreNews: Sendable {
    package let ready = Notes<String>()
    package let ended = Notes<JobChange>()
    package let changes = Notes<Int>()
    package let noticed = Notes<MadeNotice>()
    /// Makes the notices; owes them all until it is another one.
    private let maker = Mutex(NoticeMaker())

    package init() {}

    package func makesNotices(by another: NoticeMaker) { maker.withLock { $0 = another } }

    /// The closures by which a store that is opened tells them.
    package var events: JobStoreEvents {
        var events = JobStoreEvents()
        events.ready = { [ready] in ready.add($0.keys) }
        events.ended = { [ended] in ended.add($0) }
        events.noticed = { [noticed] in noticed.add($0) }
        events.notices.wish = { [self] route, state in maker.withLock { $0 }.wish(route, state) }
        events.notices.make = { [self] job in maker.withLock { $0 }.make(job) }
        events.changed = { [changes] in changes.add([1]) }
        return events
    }
}

/// The values that callbacks have told, in order.
package final class Notes<Value: Sendable>: Sendable {
    private let kept = Mutex<[Value]>([])

    package init() {}

    package func add(_ values: some Sequence<Value>) { kept.withLock { $0 += values } }

    package var values: [Value] { kept.withLock { $0 } }
}
