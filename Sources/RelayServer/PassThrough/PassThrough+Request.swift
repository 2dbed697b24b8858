import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

extension PassThrough {
    /// Bytes of a request that is read here, and of its content; a larger one takes the ordinary path.
    private static let (largest, largestContent) = (81_920, 65_536)
    /// Requests of a connection that are not tried after one with a field that has to be looked into: whoever writes
    /// such fields goes on to.
    private static let skipped = 15

    /// Sends a plain request on at once.
    ///
    /// - Returns: false, having done nothing, where it is not plain, or something would have to be waited for.
    func begin(
        _ caller: some PassThroughCaller,
        on connection: Connection,
        _ base: UnsafePointer<UInt8>,
        _ count: Int
    ) -> Bool {
        connection.ordinaryReason = .shape
        guard isOn else { return false }
        if connection.skipsPassThrough > 0 {
            connection.skipsPassThrough &-= 1
            connection.ordinaryReason = .fields
            return false
        }
        guard count <= Self.largest, let line = unsafe PassThroughLine(base, count), caller.means(line),
            let entry = unsafe entry(base, line.route)
        else { return false }
        if entry.route.plain.mayBeConstrained, relay.ports.isConstrained() {
            connection.ordinaryReason = .constrained
            return false
        }
        let now = loop.now
        guard connection.maySend(to: entry) else {
            connection.ordinaryReason = .listener
            return false
        }
        id = JobID(milliseconds: clock.milliseconds, random: (random.next(), random.next()))
        refusal = .shape
        guard let fields = unsafe compose(entry, line, base, count, isKept: false, now) else {
            connection.ordinaryReason = refusal
            if refusal == .fields { connection.skipsPassThrough = Self.skipped }
            return false
        }
        if fields.isForeign, caller.mayBeBrowser {
            connection.ordinaryReason = .listener
            return false
        }
        let kept = caller.keepsContent ? fields.end : count
        var reservation: MemoryReservation?
        if kept > PassThroughLoan.kept {
            reservation = connection.server.memory.reserve(kept)
            guard let reservation else {
                connection.ordinaryReason = .held
                return false
            }
            reservation.charge(to: connection.share)
            if reservation.isOver(entry.route.snapshot.settings.callers, isRefused: false) {
                connection.ordinaryReason = .held
                return false
            }
        }
        let route = entry.route
        let state = route.entry.state
        connection.ordinaryReason = .held
        guard !connection.server.isDraining, engine.admitsPlainly(), !state.isPausedNow,
            connection.share?.crowd ?? 0 == 0, state.enterPlainly()
        else { return false }
        guard let (sender, grant) = outlet(entry, now) else {
            state.releasePlainly()
            connection.ordinaryReason = refusal
            return false
        }
        // From here on it is under way.
        _ = connection.share?.begin()
        engine.countRunning(true)
        let exchange = unsafe loan.take(entry, kept)
        let wall = clock.milliseconds
        unsafe exchange.pointee.id = id
        unsafe exchange.pointee.began = now
        unsafe exchange.pointee.wall = wall
        unsafe exchange.pointee.grant = grant
        if route.plain.credential != nil { unsafe exchange.pointee.token = entry.token }
        if let reservation { unsafe exchange.pointee.reservation = reservation }
        unsafe exchange.pointee.count = kept
        unsafe exchange.pointee.bytes.update(from: base, count: kept)
        unsafe exchange.pointee.remainder = line.remainder
        unsafe exchange.pointee.trace = fields.trace
        unsafe exchange.pointee.method = Self.method(line.methodCount, base[1])
        unsafe caller.begunPassing(exchange, sender)
        #if DEBUG
        if mode == .check { unsafe caller.checkRequest(exchange, output.bytes, sender) }
        #endif
        send(fields, by: sender, entry, to: caller, now)
        return true
    }

    /// A kept connection to the route's upstream, with leave to use it; nil, having done nothing, where something holds it
    /// back: `refusal` says what.
    @inline(__always)
    func outlet(_ entry: Entry, _ now: Int64) -> (sender: any PassThroughSender, grant: AttemptGrant?)? {
        guard let sender = sender(entry, now) else {
            refusal = .connection
            return nil
        }
        guard entry.route.plain.usesTraffic else { return (sender, nil) }
        let (memory, route) = (entry.route.entry.memory, entry.route.entry.route)
        guard let grant = memory.traffic.grantPlainly(route, now) else {
            sender.putBack()
            refusal = .held
            return nil
        }
        return (sender, grant)
    }

    /// Sends what was composed.
    @inline(__always)
    func send(
        _ fields: PassThroughFields,
        by sender: any PassThroughSender,
        _ entry: Entry,
        to receiver: any PassThroughReceiver,
        _ now: Int64
    ) {
        unsafe sender.begin(
            output.bytes,
            receiver,
            entry.route.plain,
            fields.isConditional ? PassThroughPolicy.conditional : PassThroughPolicy.usual,
            now: now
        )
        if mode == .promote { sender.promote(.caller) }
    }

    /// Composes the upstream's request with `id`; nil where it is not plain, not whole, or too large: `refusal` says so.
    @inline(__always)
    func compose(
        _ entry: Entry,
        _ line: PassThroughLine,
        _ base: UnsafePointer<UInt8>,
        _ count: Int,
        isKept: Bool,
        _ now: Int64
    ) -> PassThroughFields? {
        let plain = entry.route.plain
        if !plain.query.isEmpty, unsafe line.hasQuery(base) { return nil }
        guard knowsLines(entry, now) else {
            refusal = .credential
            return nil
        }
        output.clear()
        unsafe output.put(base, 0..<line.methodCount + 1)
        output.put(plain.basePath)
        unsafe output.put(base, line.remainder)
        if !plain.query.isEmpty { output.put(plain.query) }
        output.put(" HTTP/1.1\r\n")
        output.put(entry.upstream.hostLine)
        let fields = unsafe PassThroughFields(
            base,
            line.fields,
            count,
            plain.edits,
            isKept: isKept,
            to: output.end
        )
        guard let fields else {
            refusal = .fields
            return nil
        }
        output.advance(fields.written)
        if let lines = entry.lines {
            put(fields.hasAgent ? lines.besideAgent : lines.all, clock.milliseconds)
        }
        let length = max(0, fields.length)
        let settings = entry.route.snapshot.settings
        guard fields.end &+ length == count, length <= Self.largestContent, length <= settings.maxRequestBody,
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

    /// Adds the route's own lines.
    @inline(__always)
    private func put(_ lines: PassThroughLines, _ wall: Int64) {
        let start = output.count
        output.put(lines.bytes)
        if !lines.gaps.isEmpty { fill(lines, start, wall) }
    }

    @inline(never)
    private func fill(_ lines: PassThroughLines, _ start: Int, _ wall: Int64) {
        for (offset, gap) in lines.gaps {
            switch gap {
            case .jobID: unsafe id.write(to: output.base + start + offset)
            case .now:
                for (index, byte) in IMFDate.format(wall / 1_000).enumerated() {
                    unsafe output.base[start + offset + index] = byte
                }
            }
        }
    }

    /// As in `PassThroughRecords.methods`.
    @inline(__always)
    static func method(_ count: Int, _ second: UInt8) -> UInt8 {
        switch count {
        case 3: second == UInt8(ascii: "E") ? 0 : 1
        case 4: 2
        case 5: 3
        default: 4
        }
    }
}
