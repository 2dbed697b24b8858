package import RelayBase
package import RelayCore
package import RelayRoute
import Synchronization

/// A route of one configuration whose requests or deliveries may be passed through, with all that can be made before
/// they come.
package final class PassThroughRoute: Sendable {
    package let snapshot: Snapshot
    package let entry: Snapshot.Entry
    package let plain: PassThroughPolicy
    package let name: [UInt8]
    /// Whether anybody may send to it.
    package let isOpen: Bool

    package init?(_ snapshot: Snapshot, _ name: String) {
        guard let entry = snapshot.routes[name],
            let plain = PassThroughPolicy(entry.route, entry.memory.upstreams)
        else { return nil }
        self.snapshot = snapshot
        self.entry = entry
        self.plain = plain
        self.name = Array(name.utf8)
        isOpen = entry.route.policy.callers.isEmpty
    }

    package func allows(_ client: ClientIdentity?) -> Bool {
        if isOpen { return true }
        guard let client else { return false }
        return entry.route.policy.callers.allows(user: client.user, groups: client.groups)
    }
}

extension Engine {
    /// One of the last requests that were not kept, however it went.
    package func found(_ id: JobID) -> (report: JobReport, finishedAt: Int64)? {
        recent.find(id) ?? plain.find(id)
    }

    /// Whether requests of the middle urgency are let in.
    package func admitsPlainly() -> Bool {
        idleSignal.end()
        return !isDraining && !shedding.refuses(3)
    }

    /// One request more is under way, or one less.
    @inline(__always)
    package func countRunning(_ begins: Bool) {
        if begins { running.add(1, ordering: .relaxed) } else { running.subtract(1, ordering: .relaxed) }
    }

    /// The admission that the gate would have made of a request that counts among its caller's already.
    package func adopted(
        _ route: PassThroughRoute,
        id: JobID,
        target: String,
        method: Method,
        _ terms: RequestTerms,
        _ client: ClientIdentity?,
        _ share: CallerShare?,
        wall: Int64
    ) -> Admission {
        let entry = route.entry
        let context = JobContext(
            id: id,
            route: entry.route,
            method: method,
            target: target,
            options: terms.options,
            client: client,
            share: share,
            memory: entry.memory
        )
        return Admission(
            entry: entry,
            snapshot: route.snapshot,
            context: context,
            fields: terms.forwarded,
            caller: route.snapshot.settings.callers.isEnabled
                ? client.map { .user($0.user) } ?? .unknown : .unknown,
            urgency: terms.durable.priority
        )
    }
}
