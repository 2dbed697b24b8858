import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

/// Passes on the requests of a loop that need nothing else, without an object for any of them.
///
/// It takes a request where the ordinary path would send it at once on a kept connection, and an answer where the
/// ordinary path would pass it on at once and be over. Before anything else happens the request becomes an ordinary one.
@safe final class PassThrough {
    let loop: EventLoop
    let clock: LoopClock
    let relay: Relay
    let engine: Engine
    let mode: PassThroughMode
    private let upstreams: (any PassThroughTransport)?
    /// The configuration that `entries` are of.
    @safe @exclusivity(unchecked) private var version = UInt64.max
    @safe @exclusivity(unchecked) private var entries: [Entry] = []
    /// Routes of which only deliveries are passed through.
    @safe @exclusivity(unchecked) private var keptOnly: [Entry] = []
    /// The configuration's routes of which no request has come yet: to prepare all at once would hold up the loop.
    @safe @exclusivity(unchecked) private var untried: Set<String> = []
    @safe @exclusivity(unchecked) private var snapshot: Snapshot?
    @safe @exclusivity(unchecked) var loan = PassThroughLoan()
    @safe @exclusivity(unchecked) var random = FastRandom()
    /// Of the request that is composed.
    @safe @exclusivity(unchecked) var id = JobID(milliseconds: 0, random: (0, 0))
    /// Why none was composed.
    @safe @exclusivity(unchecked) var refusal = OrdinaryReason.shape
    @safe @exclusivity(unchecked) var output = PassThroughOutput()
    /// The reader of the lines of streams.
    @safe @exclusivity(unchecked) var line = PlainLine()
    /// Where the request of a kept job stands as its caller would have written it.
    @safe @exclusivity(unchecked) var keptRequest = PassThroughOutput()
    /// A route with its upstream's connections.
    final class Entry {
        let route: PassThroughRoute
        @safe @exclusivity(unchecked) var upstream: any PassThroughUpstream
        /// `Proxy-Status` of an answer from the next hop on, up to the duration in `Server-Timing`.
        let hop: [UInt8]
        /// With a `User-Agent` of the caller's, and without, for the credential of `generation`.
        @safe @exclusivity(unchecked) fileprivate(set) var lines:
            (besideAgent: PassThroughLines, all: PassThroughLines)?
        @safe @exclusivity(unchecked) fileprivate var generation: UInt64 = 0
        /// Whether another configuration is in force.
        @safe @exclusivity(unchecked) fileprivate(set) var isOver = false
        @safe @exclusivity(unchecked) fileprivate(set) var token: Token?

        init(_ route: PassThroughRoute, _ upstream: any PassThroughUpstream) {
            self.route = route
            self.upstream = upstream
            var text: [UInt8] = Array("; next-hop=\"".utf8)
            for byte in route.plain.upstream.name.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                    text.append(UInt8(ascii: "\\"))
                }
                text.append(byte >= 0x20 && byte < 0x7F ? byte : UInt8(ascii: "?"))
            }
            hop = text + Array("\"\r\nServer-Timing: attempt-1;dur=".utf8)
        }

        /// Bytes that the configuration adds to a message, its lines aside.
        fileprivate var size: Int { hop.count + route.plain.basePath.count + route.plain.query.count }

        /// Overwrites the lines: they hold a credential.
        fileprivate func forget() {
            lines?.besideAgent.wipe()
            lines?.all.wipe()
            (lines, token) = (nil, nil)
        }
    }

    init(
        _ loop: EventLoop,
        _ clock: LoopClock,
        _ engine: Engine,
        _ relay: Relay,
        _ mode: PassThroughMode
    ) {
        self.loop = loop
        self.clock = clock
        self.relay = relay
        self.mode = mode
        self.engine = engine
        upstreams = mode == .off ? nil : relay.ports.transport as? any PassThroughTransport
    }

    var isOn: Bool { upstreams != nil }

    // MARK: Routes

    /// The route of that name, where its requests may be passed through.
    @inline(__always)
    func entry(_ base: UnsafePointer<UInt8>, _ name: Range<Int>) -> Entry? {
        let present = engine.version
        if present != version { reload(present) }
        return unsafe find(base, name, entries) ?? (untried.isEmpty ? nil : prepare(base, name))
    }

    /// The same where kept jobs of it may be.
    func keptEntry(_ base: UnsafePointer<UInt8>, _ name: Range<Int>) -> Entry? {
        unsafe entry(base, name) ?? find(base, name, keptOnly)
    }

    @inline(__always)
    private func find(_ base: UnsafePointer<UInt8>, _ name: Range<Int>, _ entries: [Entry]) -> Entry? {
        for entry in entries where entry.route.name.count == name.count {
            if unsafe isSame(entry.route.name, base + name.lowerBound) { return entry }
        }
        return nil
    }

    @inline(never)
    private func reload(_ present: UInt64) {
        version = present
        for entry in entries + keptOnly {
            entry.forget()
            entry.isOver = true
        }
        (entries, keptOnly) = ([], [])
        loan.clear()
        guard upstreams != nil else { return }
        let snapshot = engine.snapshot
        (self.snapshot, untried) = (snapshot, Set(snapshot.routeNames))
    }

    @inline(never)
    private func prepare(_ base: UnsafePointer<UInt8>, _ name: Range<Int>) -> Entry? {
        let bytes = unsafe UnsafeBufferPointer(start: base + name.lowerBound, count: name.count)
        guard let name = untried.remove(unsafe String(decoding: bytes, as: UTF8.self)),
            let upstreams, let snapshot, let route = PassThroughRoute(snapshot, name)
        else { return nil }
        let entry = Entry(route, upstreams.passThroughUpstream(for: route.plain.upstream))
        guard route.entry.ordinaryReason == nil else {
            keptOnly.append(entry)
            return nil
        }
        entries.append(entry)
        return entry
    }

    /// A kept connection to the route's upstream.
    @inline(__always)
    func sender(_ entry: Entry, _ now: Int64) -> (any PassThroughSender)? {
        if entry.upstream.isOver, let upstreams {
            entry.upstream = upstreams.passThroughUpstream(for: entry.route.plain.upstream)
        }
        return entry.upstream.take(now: now)
    }

    // MARK: Lines

    /// Sees to it that the entry has the lines of the credential in force.
    ///
    /// - Returns: false where that has to be fetched, ends within an attempt, or was refused.
    @inline(__always)
    func knowsLines(_ entry: Entry, _ now: Int64) -> Bool {
        guard let name = entry.route.plain.credential else {
            return entry.lines != nil || compose(entry, nil)
        }
        let (present, end) = (
            Instant(nanoseconds: now), Instant(nanoseconds: now &+ entry.route.plain.attempt)
        )
        guard let token = entry.route.snapshot.vault.calmToken(name, present, until: end),
            !entry.route.entry.memory.hasRefusedTokens
        else { return false }
        if entry.lines != nil, token.generation == entry.generation { return true }
        return compose(entry, token)
    }

    @inline(never)
    private func compose(_ entry: Entry, _ token: Token?) -> Bool {
        // Neither stands anywhere else: the id is random, and the moment far away.
        let probe = JobID(milliseconds: clock.milliseconds, random: (random.next(), random.next()))
        let seconds = 20_000_000_000 + Int64(truncatingIfNeeded: random.next() % 10_000_000_000)
        func lines(_ hasAgent: Bool) -> PassThroughLines? {
            let fields = try? relay.addedFields(
                entry.route.entry.route,
                hasAgent: hasAgent,
                token: token,
                probe: probe,
                wallSeconds: seconds
            )
            return fields.map { fields in
                PassThroughLines(fields, probe: probe, wallSeconds: seconds) { fields in
                    var buffer = OutputBuffer()
                    HeadWriter.appendFields(fields, to: &buffer)
                    return buffer.bytes
                }
            }
        }
        guard let besideAgent = lines(true), let all = lines(false),
            all.bytes.count + entry.size <= PassThroughOutput.own
        else { return false }
        entry.forget()
        entry.lines = (besideAgent, all)
        entry.token = token
        entry.generation = token?.generation ?? 0
        return true
    }
}

@inline(__always)
private func isSame(_ name: [UInt8], _ bytes: UnsafePointer<UInt8>) -> Bool {
    var index = 0
    while index < name.count {
        if unsafe name[index] != bytes[index] { return false }
        index &+= 1
    }
    return true
}

/// How requests that need only be passed on are served.
package enum PassThroughMode: String, Sendable, CaseIterable {
    case on
    /// All go the ordinary way.
    case off
    /// For tests: each becomes an ordinary request right after it was sent.
    case promote
    #if DEBUG
    /// For tests: each is also built the ordinary way, and the process ends at the first difference.
    case check
    #endif
}
