import RelayJSON

/// Something that was done to a job, for people: what, and by whom.
struct ActionWords {
    private let action: JSONValue

    /// - Parameter action: an element of the API's list.
    init(_ action: JSONValue) { self.action = action }

    /// Whether the job was over by then.
    var isAfterTheEnd: Bool { action["action"]?.text == "expunge" }

    var what: String {
        switch action["action"]?.text {
        case "retry": "retried"
        case "cancel": action["asked"] == .bool(true) ? "cancel asked" : "cancelled"
        case "hold": "held"
        case "release": "released"
        case "expunge": "expunged"
        case let other: safe(other ?? "?")
        }
    }

    var who: String {
        let user = principalWords(action).map { "by \($0)" } ?? "by somebody the kernel has no name for"
        return user + (action["bulk"] == .bool(true) ? ", in a bulk action" : "")
    }
}

/// `alice (uid 1001)`, or `uid 1001`, of whoever did something; nil where nobody is named.
func principalWords(_ principal: JSONValue?) -> String? {
    guard let user = principal?["uid"]?.integer else { return nil }
    return principal?["user"]?.text.map { "\(safe($0)) (uid \(user))" } ?? "uid \(user)"
}
