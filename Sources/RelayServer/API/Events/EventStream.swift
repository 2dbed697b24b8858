import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix

/// Tells one caller what happens, until it leaves or the daemon stops.
///
/// Nobody waits for a reader: one that is too slow finds events gone and is told how many.
struct EventStream {
    private let options: EventOptions
    private let feed: EventFeed
    private let sight: Sight
    private let framing: AnswerWriter.Framing

    /// Events that are written at once.
    private static let batch = 64
    /// How long a reader hears nothing.
    private static let heartbeat: Duration = .seconds(15)

    init(_ call: APICall, on connection: Connection) throws(Problem) {
        options = try EventOptions(call)
        feed = connection.server.durable.feed
        sight = Sight(connection)
        if !sight.isUnlimited, sight.user == nil {
            throw Problem(
                .notAllowed,
                "a caller without peer credentials has no jobs of their own: use a Unix socket"
            )
        }
        framing = connection.upload?.head.minorVersion == 1 ? .chunked : .untilClose
    }

    func serve(on connection: Connection, isHead: Bool) async {
        sendHead(on: connection, isHead: isHead)
        guard !isHead else { return }
        let time = connection.server.relay.ports.time
        var next = options.after
        var nextBeat = time.now().advanced(by: EventStream.heartbeat)
        connection.yieldsAtDrain = true
        defer { connection.yieldsAtDrain = false }
        while await connection.drainOutput(), !Task.isCancelled, !connection.server.isDraining {
            let reading = feed.events(after: next, limit: EventStream.batch)
            let output = compose(reading, at: time.wallMilliseconds())
            if !output.isEmpty {
                connection.send(output, framing)
                nextBeat = time.now().advanced(by: EventStream.heartbeat)
            }
            next = reading.next
            guard reading.events.isEmpty else {
                // A reader that is as fast as the feed must not have the loop to itself.
                await Task.yield()
                continue
            }
            await feed.wait(after: reading.next, by: nextBeat, time)
            if time.now() >= nextBeat {
                connection.send(beat(at: time.wallMilliseconds()), framing)
                nextBeat = time.now().advanced(by: EventStream.heartbeat)
            }
        }
        guard connection.phase == .busy else { return }
        connection.keepsAlive = false
        if framing == .chunked { connection.sendLastChunk() }
    }

    private func sendHead(on connection: Connection, isHead: Bool) {
        if !isHead, framing == .untilClose || connection.server.isDraining { connection.keepsAlive = false }
        let writer = AnswerWriter(
            server: connection.server,
            keepsAlive: connection.keepsAlive,
            isHead: isHead
        )
        connection.loop.withOutput { output in
            writer.appendStreamHead(framing: framing, type: options.form.type, to: &output)
            connection.send(output)
        }
    }

    private func compose(_ reading: EventFeed.Reading, at milliseconds: Int64) -> [UInt8] {
        var output: [UInt8] = []
        if let lost = reading.gap {
            let last = (reading.events.first?.number ?? reading.next &+ 1) &- 1
            let gap = EventDocument.gap(lost, last: last, at: milliseconds)
            append(gap, EventDocument.gap, last, to: &output)
        }
        for (number, at, event) in reading.events
        where options.wants(event) && (sight.isUnlimited || sight.sees(event.user)) {
            let document = EventDocument.json(event, number: number, at: at)
            append(document, event.kind.rawValue, number, to: &output)
        }
        return output
    }

    private func append(_ document: [UInt8], _ type: String, _ number: UInt64, to output: inout [UInt8]) {
        if options.form == .eventStream {
            output += Array("id: \(number)\nevent: \(type)\ndata: ".utf8)
            output += document
            output += [0x0A, 0x0A]
        } else {
            output += document
            output.append(0x0A)
        }
    }

    /// A comment, or a line that has a type like every other.
    private func beat(at milliseconds: Int64) -> [UInt8] {
        options.form == .eventStream
            ? Array(": heartbeat\n\n".utf8) : EventDocument.heartbeat(at: milliseconds) + [0x0A]
    }
}
