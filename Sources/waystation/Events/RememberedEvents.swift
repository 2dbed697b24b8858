import RelayBase
import RelayClient
import RelayInterface
import RelayJSON
import RelayJobs

/// The events that the daemon remembers, the last of them.
struct RememberedEvents {
    /// Oldest first.
    private(set) var events: [JSONValue] = []
    /// Whether there were more.
    private(set) var isCut = false

    /// When none has come for so long, those were all.
    private static let pause: Duration = .milliseconds(500)

    /// Reads those that `query` says, at most the last `limit` of them.
    init(_ daemon: DaemonAccess, _ query: QueryText = QueryText(), limit: Int) throws(CommandFailure) {
        try read(daemon, query, limit)
        cut(to: limit)
    }

    private mutating func read(
        _ daemon: DaemonAccess,
        _ query: QueryText,
        _ limit: Int
    ) throws(CommandFailure) {
        var fields = HeaderFields()
        fields.append("Accept", "application/x-ndjson")
        fields.append("Last-Event-ID", "0")
        let answer = try daemon.stream(query.target("/v1/events"), fields: fields)
        var lines = LineBuffer()
        while true {
            let complete: [[UInt8]]
            do throws(RelayClientError) {
                guard let piece = try answer.next(within: Self.pause) else { return }
                complete = try lines.take(piece)
            } catch {
                if error.code == .timedOut { return }
                throw daemon.failure(error)
            }
            for line in complete {
                guard let event = try? JSONValue(parsing: line) else {
                    throw CommandFailure(.failed, "an event of the daemon is no valid JSON")
                }
                // A sign of life follows all that is remembered.
                if event["type"]?.text == EventKind.heartbeat.type { return }
                events.append(event)
            }
            if events.count > 2 * limit { cut(to: limit) }
        }
    }

    private mutating func cut(to limit: Int) {
        guard events.count > limit else { return }
        events.removeFirst(events.count - limit)
        isCut = true
    }
}
