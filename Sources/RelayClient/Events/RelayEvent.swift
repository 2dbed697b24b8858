public import RelayBase
import RelayInterface
import RelayJSON

/// Something that happened at the relay.
public struct RelayEvent: Sendable {
    /// Its number, for `RelayClient.events(after:)`; numbers keep growing when the relay is restarted.
    public let id: String
    /// Such as `waystation.job.succeeded` or `waystation.route.paused`; there may be new ones.
    public let type: String
    /// When it happened.
    public let time: WallTime?
    /// The route's name.
    public let route: String?
    /// The job's id.
    public let job: String?
    /// Which attempt it was, counted from 1.
    public let attempt: Int?
    /// The status of the answer.
    public let status: Status?
    /// Why an attempt or a job failed, such as `http_status`.
    public let failureKind: String?
    /// In words, safe to show.
    public let detail: String?
    /// The recovery rule that acted.
    public let rule: String?
    /// Why a job is over without success, such as `exhausted`.
    public let end: String?
    /// The wait before the next attempt.
    public let wait: Duration?
}

/// A notice to a reader of events.
public enum RelayEventNotice: Sendable {
    /// Something happened.
    case event(RelayEvent)
    /// Events are gone for this reader: it was too slow, or the relay was away.
    ///
    /// `lost` says how many; nil when that cannot be known. Look at whatever you follow again.
    case gap(lost: UInt64?)
}

extension RelayEventNotice {
    static let gapType = "waystation.gap"

    /// Reads one line of the stream.
    ///
    /// - Returns: the notice and the number to go on after; no notice for a sign of life.
    static func read(_ line: [UInt8]) throws(RelayClientError) -> (notice: RelayEventNotice?, id: String?) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: line)
        } catch {
            throw RelayClientError(.invalidResponse, "an event of the relay is no JSON: \(error.message)")
        }
        let id: String? = json.member("id")
        guard let type: String = json.member("type") else {
            throw RelayClientError(.invalidResponse, "an event of the relay has no type")
        }
        if type == gapType {
            return (
                .gap(lost: json["data"]?.member("lost").flatMap { (lost: Int64) in UInt64(exactly: lost) }),
                id
            )
        }
        // A line that has no number is a sign of life.
        guard let id else { return (nil, nil) }
        return (.event(RelayEvent(id: id, type: type, json)), id)
    }
}

extension RelayEvent {
    fileprivate init(id: String, type: String, _ json: JSONValue) {
        self.id = id
        self.type = type
        time = json.member("time")
        let data = json["data"]
        route = data?.member("route")
        job = data?.member("job")
        attempt = data?.member("attempt")
        status = data?.member("status")
        failureKind = data?.member("kind")
        detail = data?.member("detail")
        rule = data?.member("rule")
        end = data?.member("end")
        wait = data?.member("wait_ms")
    }
}
