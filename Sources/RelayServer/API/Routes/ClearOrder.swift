import RelayBase
import RelayCore
import RelayEngine
import RelayInterface
import RelayJSON
import RelayRoute

/// The order of a `POST /v1/routes/{route}/limits/clear`, read strictly.
struct ClearOrder {
    /// Nil means every upstream of the route.
    private(set) var upstream: String?
    /// Method and path as the route's document names them; nil means all requests.
    private(set) var requests: String?

    /// No document says nothing.
    init(_ document: [UInt8]) throws(Problem) {
        guard !document.isEmpty else { return }
        let value = try JSONValue(document, as: "the order", or: .badRequest)
        var reader = SubmissionReader()
        reader.members(value, "", ["upstream", "requests"]) { reader, name, value in
            if name == "upstream" {
                upstream = reader.text(value, "/upstream")
            } else {
                requests = reader.text(value, "/requests")
            }
        }
        try reader.check("the order", or: .badRequest)
    }

    /// Puts it in force.
    ///
    /// - Returns: the names of the upstreams of which something was lifted.
    /// - Throws: `bad_request` when the route has no such upstream.
    func apply(to entry: Snapshot.Entry, _ now: Instant) throws(Problem) -> [String] {
        try entry.check(upstream)
        return entry.memory.traffic.clear(upstream, requests: requests, entry.route, now)
    }
}
