package import RelayBase
package import RelayRoute

/// A route's harmless request, by which its upstreams may be looked at.
package struct CheckRequest: Sendable {
    /// GET or HEAD.
    package internal(set) var method = Method.get
    /// Below the upstream's base, with a query where it has one.
    package internal(set) var path = ""
    /// Of an answer that is well.
    package internal(set) var statuses = StatusSet.success
}
