import RelayJSON

/// A job of the API, with its words made safe for a terminal.
struct JobDocument {
    let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    var id: String { string("id") ?? "?" }
    var route: String { string("route") ?? "?" }
    var state: String { string("state") ?? "?" }
    /// Why it waits, or why it is over.
    var reason: String? {
        if !isOver, let blocker = json["blocker"]?["reason"]?.text, blocker != "due", blocker != "running" {
            return safe(blocker)
        }
        return string("reason") ?? string("end").flatMap { $0 == state ? nil : $0 }
    }
    /// `http_status 401`: the kind of the last failure, and the answer's status where there was one.
    var failureKind: String? {
        let status = json["last_failure"]?["status"]?.integer.map { " \($0)" } ?? ""
        return json["last_failure"]?["kind"]?.text.map { safe($0) + status }
    }
    var isDurable: Bool { json["durable"] == .bool(true) }

    var isOver: Bool { ["succeeded", "dead", "cancelled", "expired"].contains(state) }

    /// Whether it goes on by itself when it is due: what is held, or waits for something without a date, does not.
    var hasNextAttempt: Bool {
        let isDateless = ["route_paused", "route_removed", "ordering"].contains(
            json["blocker"]?["reason"]?.text
        )
        return !isOver && state != "held" && !isDateless
    }

    /// `2/8`, or `9` when nobody says how many there may be, or another life has added to them.
    var attempts: String {
        let made = attemptCount
        guard let limit = json["max_attempts"]?.integer, made <= limit else { return String(made) }
        return "\(made)/\(limit)"
    }

    var attemptCount: Int64 {
        json["attempt_count"]?.integer ?? Int64(json["attempts"]?.elements.count ?? 0)
    }

    var request: String {
        let request = json["request"] ?? json
        return safe("\(request["method"]?.text ?? "?") \(request["path"]?.text ?? "?")")
    }

    var labels: String {
        safe((json["labels"]?.elements ?? []).compactMap(\.text).joined(separator: " "))
    }

    /// `retrying (backoff)`, `dead (exhausted, no rule acts on it)`.
    var stateAndReason: String {
        reason.map { "\(state) (\($0)\(wasExhaustedByNoRule ? ", no rule acts on it" : ""))" } ?? state
    }

    /// Whether it is dead because no rule of its route is for its failure.
    var wasExhaustedByNoRule: Bool {
        guard string("end") == "exhausted", let last = json["attempts"]?.elements.last else { return false }
        return JobDocument.metNoRule(last)
    }

    /// Whether an attempt failed and no rule of the route was for it.
    static func metNoRule(_ attempt: JSONValue) -> Bool {
        guard let kind = attempt["kind"]?.text,
            !["cancelled", "client_gone", "http_request_error", "preparation"].contains(kind)
        else { return false }
        return attempt["rule"] == nil && attempt["next"] == nil
            && (attempt["held_back"]?.elements ?? []).isEmpty
    }

    /// `http_status: the upstream answered 503`.
    var failure: String? {
        guard let kind = json["last_failure"]?["kind"]?.text.map(safe) else { return nil }
        return kind + (json["last_failure"]?["detail"]?.text.map { ": \(safe($0))" } ?? "")
    }

    func string(_ name: String) -> String? { json[name]?.text.map(safe) }
}
