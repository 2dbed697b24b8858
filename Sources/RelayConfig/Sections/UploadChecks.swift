import RelayBase
import RelayJSON

extension ConfigurationTable {
    /// Warns where large bodies were meant to be bounded by the time of an attempt or of a request, which stands still while
    /// a body moves; who has said how fast a body has to come has been here before.
    static func checkUploads(_ limits: Limits, _ node: JSONNode, _ reading: inout ReadContext) {
        guard limits.maxRequestBody > limits.replayBuffer,
            node["limits"]?.value["max_request_body"] != nil
        else { return }
        let defaults = node["defaults"]?.value["timeouts"]?.value
        guard case .object(let routes)? = node["routes"]?.value.content else { return }
        let old = routes.filter { route in
            let own = route.value["timeouts"]?.value
            func says(_ key: String) -> Bool { own?[key] != nil || defaults?[key] != nil }
            return (says("attempt") || says("total")) && !says("idle") && !says("min_rate")
        }
        guard let first = old.first else { return }
        let others = old.count > 1 ? " and of \(old.count - 1) more" : ""
        reading.warn(
            "a body that moves is bounded by no timeouts.attempt or timeouts.total, such as those of route "
                + "\"\(printable(first.name))\"\(others), but by timeouts.idle and timeouts.min_rate",
            at: node.location("limits", "max_request_body"),
            hint: "say in \"timeouts\" how slowly a body may come: \"idle\", or \"min_rate\": \"1KiB\""
        )
    }
}
