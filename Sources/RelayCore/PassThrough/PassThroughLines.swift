package import RelayBase
package import RelayRoute

/// The field lines that every request of a route gets, composed once for one value of its credential.
///
/// They are the lines that `Preparation` adds, asked with an id and a moment that stand nowhere else: where these appear
/// each request has its own.
package struct PassThroughLines: Sendable {
    package enum Gap: Sendable {
        /// 26 bytes.
        case jobID
        /// An IMF-fixdate, 29 bytes.
        case now
    }

    package private(set) var bytes: [UInt8]
    package let gaps: [(offset: Int, gap: Gap)]

    /// `compose` makes lines of fields; `probe` is a random id.
    package init(
        _ fields: HeaderFields,
        probe: JobID,
        wallSeconds: Int64,
        _ compose: (HeaderFields) -> [UInt8]
    ) {
        bytes = compose(fields)
        let id = positions(of: Array(probe.description.utf8), in: bytes).map { ($0, Gap.jobID) }
        let now = positions(of: IMFDate.format(wallSeconds), in: bytes).map { ($0, Gap.now) }
        gaps = (id + now).sorted { $0.0 < $1.0 }
    }

    /// Overwrites what it holds, credentials among it.
    package mutating func wipe() {
        for index in bytes.indices { bytes[index] = 0 }
    }
}

private func positions(of text: [UInt8], in bytes: [UInt8]) -> [Int] {
    guard bytes.count >= text.count else { return [] }
    return (0...bytes.count - text.count).filter { bytes[$0..<$0 + text.count].elementsEqual(text) }
}

extension Relay {
    /// The fields that an attempt of a bare request of the route gets with that credential.
    package func addedFields(
        _ route: Route,
        hasAgent: Bool,
        token: Token?,
        probe: JobID,
        wallSeconds: Int64
    ) throws(Failure) -> HeaderFields {
        var fields = HeaderFields()
        if hasAgent { fields.append("User-Agent", "probe") }
        let request = HTTPRequest(method: .post, target: "", fields: fields, body: .empty)
        let preparation = try Preparation(
            request,
            route: route,
            job: probe,
            added: addedFields(for: request),
            wallSeconds: wallSeconds
        )
        let plan = RecoveryMachine.Plan(
            number: 1,
            upstream: route.policy.upstreams[0],
            upstreamIndex: 0,
            deadline: .distantFuture,
            limit: TimeLimit("timeouts.attempt", route.policy.timeouts.attempt),
            end: nil
        )
        return try preparation.attempt(plan, token: token, wallSeconds: wallSeconds).addedFields
    }
}
