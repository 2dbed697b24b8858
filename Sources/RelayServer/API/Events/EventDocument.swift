import RelayCore
import RelayEngine
import RelayJSON

/// An event as one line of JSON with the attributes of CloudEvents 1.0.
enum EventDocument {
    static let gap = "waystation.gap"
    static let heartbeat = "waystation.heartbeat"

    static func json(_ event: FeedEvent, number: UInt64, at milliseconds: Int64) -> [UInt8] {
        var json = begin(event.kind.rawValue, at: milliseconds)
        json.member("id", String(number))
        if let subject = event.job?.description ?? event.route { json.member("subject", subject) }
        json.object("data") { data in
            if let route = event.route { data.member("route", route) }
            if let job = event.job { data.member("job", job.description) }
            if let user = event.user { data.member("uid", user) }
            if let attempt = event.attempt { data.member("attempt", attempt) }
            if let upstream = event.upstream { data.member("upstream", upstream) }
            if let status = event.status { data.member("status", status.rawValue) }
            if let kind = event.failureKind { data.member("kind", kind.rawValue) }
            if let detail = event.detail { data.member("detail", detail) }
            if let rule = event.rule { data.member("rule", rule) }
            if let end = event.end { data.member("end", end.rawValue) }
            if let wait = event.wait { data.milliseconds("wait_ms", wait) }
        }
        return json.bytes
    }

    /// Events a reader was too slow for, or which are no longer there; the last of them has the number `last`.
    ///
    /// How many is not said where nobody knows.
    static func gap(_ gap: EventFeed.Gap, last: UInt64, at milliseconds: Int64) -> [UInt8] {
        var json = begin(Self.gap, at: milliseconds)
        json.member("id", String(last))
        json.object("data") { data in
            if case .lost(let count) = gap { data.member("lost", count) }
        }
        return json.bytes
    }

    /// Has no number: it is nothing to go on after.
    static func heartbeat(at milliseconds: Int64) -> [UInt8] {
        begin(heartbeat, at: milliseconds).bytes
    }

    private static func begin(_ type: String, at milliseconds: Int64) -> JSONObjectWriter {
        var json = JSONObjectWriter()
        json.member("specversion", "1.0")
        json.member("source", "/waystationd")
        json.member("type", type)
        json.member("time", UTCTime.format(milliseconds: milliseconds))
        json.member("datacontenttype", "application/json")
        return json
    }
}
