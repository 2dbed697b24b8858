import RelayJSON

extension Moments {
    /// `http_status at 15:40:00: the upstream answered 503`, of a `last_failure`; nil of none.
    func failure(_ json: JSONValue?) -> String? {
        guard let json, let kind = json["kind"]?.text else { return nil }
        let at = json["at"]?.text.map { " at \(short($0))" } ?? ""
        return safe(kind) + at + (json["detail"]?.text.map { ": \(safe($0))" } ?? "")
    }
}

/// A route of the API, with its words made safe for a terminal.
struct RouteDocument {
    let json: JSONValue
    private let moments: Moments

    init(_ json: JSONValue, _ moments: Moments) {
        self.json = json
        self.moments = moments
    }

    var name: String { safe(json["name"]?.text ?? "?") }
    var state: String { safe(json["state"]?.text ?? "?").replacingUnderscores }

    /// `paused until 15:40:00: the receiver answered 410 Gone`; nil for a route that is not.
    var pause: String? {
        guard let pause = json["pause"], pause != .null else { return nil }
        let until = pause["until"]?.text.map { " until \(moments.short($0))" } ?? ""
        let reason = pause["reason"]?.text.map { ": \(safe($0))" } ?? ""
        let rule = pause["rule"]?.text.map { " (rule \"\(safe($0))\")" } ?? ""
        let who = principalText(pause["by"]).map { " by \($0)" } ?? ""
        return "paused\(who)\(until)\(reason)\(rule)"
    }

    /// `closed until 06:00:00`, of a route that is in a planned window.
    var closed: String? {
        json["closed_until"]?.text.map { "closed until \(moments.short($0)), as planned" }
    }

    /// `goes on`, or in a planned window until when it stays closed all the same.
    var afterResume: String {
        guard let until = json["closed_until"]?.text else { return "goes on" }
        return
            "paused no more; it stays closed until \(moments.short(until)) (planned window), which resume does not open"
    }

    /// `eu breaker open, probed at 15:40:00; us closed`; nil where nothing is known.
    var upstreams: String? {
        let list = json["upstreams"]?.elements ?? []
        guard !list.isEmpty else { return nil }
        return list.map { upstream in
            var words = [safe(upstream["name"]?.text ?? "?")]
            if let breaker = upstream["breaker"]?.text, breaker != "off" {
                words.append("breaker \(safe(breaker).replacingUnderscores)")
            }
            if let until = upstream["until"]?.text { words.append("until \(moments.short(until))") }
            if let held = upstream["held_until"]?.text {
                words.append("held back until \(moments.short(held))")
            }
            let window = upstream["window"]?.integer.map { " of \($0)" } ?? ""
            words.append("\(upstream["under_way"]?.integer ?? 0)\(window) under way")
            return words.joined(separator: ", ")
        }.joined(separator: "; ")
    }

    /// Why each request costs what an ordinary one does; nil where requests may be passed through.
    var passing: String? {
        json["ordinary_path"]?["detail"]?.text.map { "none is passed through: \(safe($0))" }
    }

    /// `circuit_breaker would have acted 12 times`, of what only tells; nil where all acts.
    var reporting: String? {
        guard let list = json["reporting"]?.elements, !list.isEmpty else { return nil }
        return list.map { part in
            let count = part["would_have"]?.integer ?? 0
            return "\(safe(part["name"]?.text ?? "?")) would have acted \(count) time\(count == 1 ? "" : "s")"
        }.joined(separator: "; ")
    }

    func jobs(_ state: String) -> String { json["jobs"]?[state]?.integer.map { String($0) } ?? "–" }

    func count(_ name: String) -> String { json[name]?.integer.map { String($0) } ?? "–" }

    var lastFailure: String? { moments.failure(json["last_failure"]) }

    /// Everything, a line each.
    var sheet: String {
        let states = [
            "scheduled", "queued", "running", "retrying", "held", "succeeded", "dead", "cancelled", "expired",
        ]
        let jobs = states.compactMap { state in
            json["jobs"]?[state]?.integer.flatMap { $0 > 0 ? "\($0) \(state)" : nil }
        }
        let rows: [(String, String?)] = [
            ("Route", name), ("State", pause ?? closed ?? state),
            ("Delivery", json["delivery"]?.text.map(safe)),
            ("In flight", "\(count("in_flight")) of \(count("max_requests")), \(count("pending")) waiting"),
            ("Upstreams", upstreams), ("Passing on", passing),
            (
                "Requests",
                "\(count("requests")): \(count("succeeded")) succeeded, \(count("recovered")) of them recovered,"
                    + " \(count("fallbacks")) stand-ins, \(count("failed")) failed, \(count("cancelled")) cancelled"
            ),
            ("Jobs", json["jobs"] == nil ? nil : jobs.isEmpty ? "none" : jobs.joined(separator: ", ")),
            ("Oldest job", json["oldest_job_at"]?.text.map { moments.ageOfOldest($0) + " old" }),
            ("Next attempt", json["next_attempt_at"]?.text.map { moments.coming($0) }),
            ("Reports", reporting), ("Last failure", lastFailure),
        ]
        return TextTable.sheet(rows, width: 15)
    }
}
