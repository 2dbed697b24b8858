import RelayInterface
import RelayJSON

extension Job.Action {
    /// Whether the job was over by then.
    var isAfterTheEnd: Bool { action == "expunge" }

    var what: String {
        switch action {
        case "retry": "retried"
        case "cancel": isAsked ? "cancel asked" : "cancelled"
        case "hold": "held"
        case "release": "released"
        case "expunge": "expunged"
        default: safe(action)
        }
    }

    var who: String {
        let name =
            user.map { "by \(principalText($0, userName, node))" } ?? "by somebody the kernel has no name for"
        return name + (isBulk ? ", in a bulk action" : "")
    }
}

extension Job.Client {
    /// `shop.service (alice, uid 1001)`, or as much of it as is known.
    func text(_ name: String?) -> String {
        // On another machine the number may be another user's.
        let name = node == nil ? name : nil
        guard let unit else { return principalText(uid, name, node) }
        return "\(safe(unit)) (\(name.map { safe($0) + ", " } ?? "")uid \(uid))\(machineText(node))"
    }
}

/// `alice (uid 1001)`, or `uid 1001`; of a fleet with the daemon whose machine's user that is.
func principalText(_ user: UInt32, _ name: String?, _ node: String?) -> String {
    (name.map { "\(safe($0)) (uid \(user))" } ?? "uid \(user)") + machineText(node)
}

private func machineText(_ node: String?) -> String { node.map { " on \(safe($0))" } ?? "" }

/// The same of whoever a document names; nil where nobody is named.
func principalText(_ principal: JSONValue?) -> String? {
    principal?["uid"].flatMap(UInt32.init).map {
        principalText($0, principal?["user"]?.text, principal?["node"]?.text)
    }
}
