import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix

extension PassThrough {
    /// Bytes of a request that is read here; a larger one takes the ordinary path.
    private static let largest = 40_960
    /// Requests of a connection that are not tried after one with a field that has to be looked into: whoever writes
    /// such fields goes on to.
    private static let skipped = 15

    /// Sends a plain request on at once.
    ///
    /// - Returns: false, having done nothing, where it is not plain, or something would have to be waited for.
    func begin(_ connection: Connection, _ base: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        if connection.skipsPassThrough > 0 {
            connection.skipsPassThrough &-= 1
            return false
        }
        guard isOn, !connection.server.isDraining, let share = connection.share, count <= Self.largest,
            let line = unsafe PassThroughLine(base, count), engine.admitsPlainly(),
            let entry = unsafe entry(base, line.route), connection.maySend(to: entry)
        else { return false }
        guard let fields = unsafe compose(entry, line, base, count, connection) else { return false }
        let route = entry.route
        let state = route.entry.state
        let now = loop.now
        guard !state.isPausedNow, state.enterPlainly() else { return false }
        guard let sender = sender(entry, now) else {
            state.leavePlainly()
            return false
        }
        var leave: TrafficLeave?
        if route.plain.usesTraffic {
            leave = route.entry.memory.traffic.leavePlainly(route.entry.route, now)
            if leave == nil {
                sender.putBack()
                state.leavePlainly()
                return false
            }
        }
        // From here on it is under way.
        _ = share.begin()
        engine.countRunning(true)
        let exchange = unsafe loan.take(entry, count)
        let wall = present(now)
        unsafe exchange.pointee.id = JobID(milliseconds: wall, random: (random.next(), random.next()))
        unsafe exchange.pointee.began = now
        unsafe exchange.pointee.wall = wall
        unsafe exchange.pointee.leave = leave
        unsafe exchange.pointee.count = count
        unsafe exchange.pointee.bytes.update(from: base, count: count)
        unsafe exchange.pointee.rest = line.rest
        unsafe exchange.pointee.trace = fields.trace
        unsafe exchange.pointee.method = Self.method(line.methodCount, base[1])
        unsafe connection.begunPassing(exchange, sender)
        #if DEBUG
        if mode == .check { unsafe connection.checkRequest(exchange, output.bytes, sender) }
        #endif
        unsafe sender.begin(
            output.bytes,
            connection,
            route.plain.verdicts,
            deadline: now &+ route.plain.attempt,
            idle: route.plain.idle,
            now: now
        )
        if mode == .promote { connection.promotePassing() }
        return true
    }

    /// Composes the upstream's request; nil where it is not plain, not whole, or too large.
    @inline(__always)
    private func compose(
        _ entry: Entry,
        _ line: PassThroughLine,
        _ base: UnsafePointer<UInt8>,
        _ count: Int,
        _ connection: Connection
    ) -> PassThroughFields? {
        output.clear()
        unsafe output.put(base, 0..<line.methodCount + 1)
        output.put(entry.route.plain.basePath)
        unsafe output.put(base, line.rest)
        output.put(" HTTP/1.1\r\n")
        output.put(entry.upstream.hostLine)
        guard let fields = unsafe PassThroughFields(base, line.fields, count, to: output.end) else {
            connection.skipsPassThrough = Self.skipped
            return nil
        }
        output.advance(fields.written)
        output.put(fields.hasAgent ? addedBesideAgent : added)
        let length = max(0, fields.length)
        let settings = entry.route.snapshot.settings
        guard fields.end &+ length == count, length <= MemoryAccount.free, length <= settings.maxRequestBody,
            length <= settings.replayBuffer
        else { return nil }
        // POST, PUT and PATCH say so where they have no content (RFC 9110 §8.6).
        if unsafe length > 0 || base[0] == UInt8(ascii: "P") {
            output.put("Content-Length: ")
            output.put(decimal: length)
            output.put("\r\n\r\n")
        } else {
            output.put("\r\n")
        }
        unsafe output.put(base, fields.end..<count)
        return fields
    }

    /// As in `PassThroughRecords.methods`.
    @inline(__always)
    private static func method(_ count: Int, _ second: UInt8) -> UInt8 {
        switch count {
        case 3: second == UInt8(ascii: "E") ? 0 : 1
        case 4: 2
        case 5: 3
        default: 4
        }
    }
}
