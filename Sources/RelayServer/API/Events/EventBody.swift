import RelayBase
import RelayCore
import RelayEngine
import RelayJobs
import RelayPosix
import Synchronization

/// Tells one caller what happens, until it leaves or the daemon stops.
///
/// Nobody waits for a reader: one that is too slow finds events gone and is told how many.
final class EventBody: BodySource {
    private let options: EventOptions
    private let feed: EventFeed
    private let access: JobAccess
    private let node: NodeName
    private let time: any TimeSource
    /// Before it events of other daemons are old to who asks for what comes, in milliseconds since 1970 UTC.
    private let begun: Int64
    private let server: LoopBound<LoopServer>
    private let state: Mutex<State>

    private struct State {
        /// The event to go on after; nil begins with the next that happens.
        var after: UInt64?
        var nextBeat: Instant
        /// Events were read and more may be there.
        var isHurried = false
    }

    /// Events that are written at once.
    private static let batch = 64
    /// Milliseconds by which the clocks of two daemons may differ.
    private static let skew: Int64 = 10_000
    /// How long a reader hears nothing.
    private static let heartbeat: Duration = .seconds(15)

    init(_ call: APICall, _ caller: Caller) throws(Problem) {
        options = try EventOptions(call)
        feed = caller.server.durable.feed
        access = JobAccess(caller)
        node = caller.server.durable.store.member?.node ?? .none
        time = caller.server.relay.ports.time
        server = LoopBound(caller.server, caller.server.loop)
        let nextBeat = time.now().advanced(by: EventBody.heartbeat)
        begun = options.after == nil ? time.wallMilliseconds() - EventBody.skew : .min
        state = Mutex(State(after: options.after, nextBeat: nextBeat))
        try access.check()
    }

    var type: StaticString { options.form.type }
    var length: UInt64? { nil }
    var wasRead: Bool { false }
    func cancel() {}

    func next() async throws(Failure) -> [UInt8]? {
        while !Task.isCancelled, !server.value.isDraining {
            let (after, isHurried) = state.withLock { ($0.after, $0.isHurried) }
            // A reader that is as fast as the feed must not have the loop to itself.
            if isHurried { await Task.yield() }
            feed.reads(options.kinds, at: time.now())
            let reading = feed.events(after: after, limit: EventBody.batch)
            let output = compose(reading, at: time.wallMilliseconds())
            let nextBeat = state.withLock { state in
                state.after = reading.lastNumber
                state.isHurried = !reading.events.isEmpty
                if !output.isEmpty { state.nextBeat = time.now().advanced(by: EventBody.heartbeat) }
                return state.nextBeat
            }
            if !output.isEmpty { return output }
            guard reading.events.isEmpty else { continue }
            await feed.wait(after: reading.lastNumber, by: nextBeat, time)
            guard time.now() >= nextBeat else { continue }
            state.withLock { $0.nextBeat = time.now().advanced(by: EventBody.heartbeat) }
            return beat(at: time.wallMilliseconds())
        }
        return nil
    }

    private func compose(_ reading: EventFeed.Reading, at milliseconds: Int64) -> [UInt8] {
        var output: [UInt8] = []
        if let lost = reading.gap {
            let last = (reading.events.first?.number ?? reading.lastNumber &+ 1) &- 1
            let gap = EventDocument.gap(lost, last: last, at: milliseconds)
            append(gap, .gap, last, to: &output)
        }
        for told in reading.events where isTold(told) {
            append(EventDocument.json(told, from: node), told.kind, told.number, to: &output)
        }
        return output
    }

    private func isTold(_ told: EventFeed.Entry) -> Bool {
        guard told.event.elsewhere == nil || told.at >= begun else { return false }
        // Nobody knows whose events are gone at another daemon, nor of which kinds: like a gap here it comes unasked.
        return told.kind == .gap || options.wants(told) && access.sees(told.event.user, on: told.event.node)
    }

    private func append(_ document: [UInt8], _ kind: EventKind, _ number: UInt64, to output: inout [UInt8]) {
        if options.form == .eventStream {
            output += Array("id: \(number)\nevent: \(kind.type)\ndata: ".utf8)
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
