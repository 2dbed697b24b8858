package import RelayCore

/// A request the gate let in: everything decided before its body is read.
package struct Admission: Sendable {
    package let id: JobID
    package let state: RouteState
    package let snapshot: Snapshot
    package let method: Method
    /// Below the route, with query, without leading slash.
    package let target: String
    package let fields: RelayFields
    package let client: ClientIdentity?
    /// Seconds since 1970.
    package let acceptedAt: Int64

    package var route: Route { state.route }

    package var context: JobContext {
        JobContext(
            id: id, route: route.name, method: method,
            path: "/" + (target.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(target[..<$0]) } ?? target),
            maxAttempts: route.policy.maxAttempts, client: client)
    }
}
