import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayPosix
import RelayRoute

extension PassThrough {
    /// Counts a plain answer, and composes what its caller gets in `output`, without content that is lent.
    func answer(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ sender: any PassThroughSender,
        _ connection: Connection
    ) {
        let taken =
            answer.isWhole
            ? unsafe end(exchange, answer, sender, connection.client)
            : unsafe answering(exchange, answer, sender, connection.client)
        connection.listener.cells.count(Status(rawValue: UInt16(truncatingIfNeeded: answer.status)))

        let base = unsafe answer.base
        let status = Status(rawValue: UInt16(truncatingIfNeeded: answer.status))
        output.clear()
        output.put("HTTP/1.1 ")
        output.put(decimal: answer.status)
        output.put(" ")
        output.put(status.reasonPhrase)
        output.put("\r\n")
        unsafe output.put(base, answer.runs.0)
        unsafe output.put(base, answer.runs.1)
        unsafe output.put(base, answer.runs.2)
        output.put("Waystation-Job: ")
        unsafe output.put(exchange.pointee.id)
        output.put(
            "\r\nWaystation-Source: upstream\r\nWaystation-Outcome: success\r\nWaystation-Attempts: 1\r\n"
        )
        output.put("Proxy-Status: waystationd; received-status=")
        output.put(decimal: answer.status)
        unsafe output.put(exchange.pointee.entry.hop)
        output.put(milliseconds: Int(max(0, taken) / 1_000))
        if answer.isChunked, !answer.isWhole {
            output.put("\r\nTransfer-Encoding: chunked")
        } else if answer.hasContent {
            output.put("\r\nContent-Length: ")
            output.put(decimal: answer.length)
        }
        output.put("\r\n")
        if !answer.hasDate { output.put(clock.dateLine) }
        output.put("\r\n")
        if answer.isChunked { return putChunks(answer) }
        if !answer.isLent { unsafe output.put(base, answer.body) }
    }

    /// The bytes that have come of content in chunks: all of it as it is, or as one chunk.
    @inline(never)
    private func putChunks(_ answer: PassThroughAnswer) {
        let isChunk = !answer.isWhole && answer.length > 0
        if isChunk {
            output.put(hexadecimal: answer.length)
            output.put("\r\n")
        }
        let bytes = unsafe Span(_unsafeStart: answer.base, count: answer.body.upperBound)
        var decoder = BodyDecoder(framing: .chunked)
        var index = answer.body.lowerBound
        // It was read through before, and was well-formed.
        while index < bytes.count, !decoder.isComplete, let run = try? decoder.next(bytes, from: index) {
            unsafe output.put(answer.base, run)
            index = run.upperBound
        }
        if isChunk { output.put("\r\n") }
    }

    /// Tells traffic, meters and records of the answer.
    ///
    /// - Returns: how long it took, in nanoseconds.
    @inline(__always)
    func end(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ sender: any PassThroughSender,
        _ client: ClientIdentity?
    ) -> Int64 {
        let (now, wall) = (loop.now, clock.milliseconds)
        let taken = unsafe now &- exchange.pointee.began
        let route = unsafe exchange.pointee.entry.route
        let (memory, shard) = (route.entry.memory, relay.ports.shard)
        let meter = memory.meter
        if let grant = unsafe exchange.pointee.grant {
            unsafe exchange.pointee.grant = nil
            let change = memory.traffic.endedPlainly(
                grant,
                asked: { unsafe asked(exchange, client) },
                of: route.entry.route,
                random: random.next(),
                now
            )
            if let change {
                relay.ports.sink.record(.breakerChanged(route: route.entry.route.name, change))
            }
        }
        let bucket = meter.answeredPlainly(taken, now, shard: shard)
        if bucket >= 0 { unsafe exemplify(exchange, meter, taken, now, wall, bucket) }
        var record = unsafe record(exchange, answer, sender, client, taken, route)
        unsafe add(&record, exchange, route)
        return taken
    }

    @inline(__always)
    private func record(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ sender: any PassThroughSender,
        _ client: ClientIdentity?,
        _ taken: Int64,
        _ route: PassThroughRoute
    ) -> PassThroughRecord {
        unsafe PassThroughRecord(
            id: exchange.pointee.id,
            route: route,
            client: client,
            address: sender.address,
            wall: exchange.pointee.wall,
            duration: taken,
            firstByte: answer.firstByte,
            finishedAt: clock.milliseconds,
            status: UInt16(truncatingIfNeeded: answer.status),
            wasReused: answer.wasReused,
            method: exchange.pointee.method
        )
    }

    /// Counts and keeps a success.
    @inline(__always)
    private func add(
        _ record: inout PassThroughRecord,
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ route: PassThroughRoute
    ) {
        let target = unsafe exchange.pointee.target
        let shard = relay.ports.shard
        route.entry.memory.meter.countPlain(shard: shard)
        route.plain.meter?.countPlain(record.duration, shard: shard)
        unsafe engine.plain.add(&record, target)
    }

    /// Tells traffic and meters of an answer's head whose content follows by pieces.
    ///
    /// - Returns: how long it took, in nanoseconds.
    @inline(never)
    private func answering(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ answer: PassThroughAnswer,
        _ sender: any PassThroughSender,
        _ client: ClientIdentity?
    ) -> Int64 {
        let (now, wall) = (loop.now, clock.milliseconds)
        let taken = unsafe now &- exchange.pointee.began
        let entry = unsafe exchange.pointee.entry.route.entry
        let meter = entry.memory.meter
        if let grant = unsafe exchange.pointee.grant {
            let traffic = entry.memory.traffic
            let change = traffic.answeringPlainly(
                grant,
                asked: { unsafe asked(exchange, client) },
                of: entry.route,
                random: random.next(),
                now
            )
            tell(change, entry.route)
        }
        let bucket = meter.answeredPlainly(taken, now, shard: relay.ports.shard)
        if bucket >= 0 { unsafe exemplify(exchange, meter, taken, now, wall, bucket) }
        meter.isAnswered(shard: relay.ports.shard)
        let route = unsafe exchange.pointee.entry.route
        unsafe exchange.pointee.streamed = record(exchange, answer, sender, client, taken, route)
        return taken
    }

    /// The content that followed has come to its end; told once.
    func answerEnded(_ exchange: UnsafeMutablePointer<PassThroughExchange>, _ end: AnswerEnd) {
        guard var record = unsafe exchange.pointee.streamed.take() else { return }
        let passed = record.route
        let entry = passed.entry
        record.finishedAt = clock.milliseconds
        if case .whole = end {
            unsafe tell(end, nil, exchange, entry)
            return unsafe add(&record, exchange, passed)
        }
        let target = unsafe exchange.pointee.target
        let report = unsafe record.report(target: String(decoding: target, as: UTF8.self))
        unsafe tell(end, report.context?.requestClass, exchange, entry)
        let taken = unsafe loop.now &- exchange.pointee.began
        relay.ports.sink.tell(report, end, taken: .nanoseconds(taken))
    }

    private func tell(
        _ end: AnswerEnd,
        _ asked: RequestClass?,
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ entry: Snapshot.Entry
    ) {
        guard let grant = unsafe exchange.pointee.grant.take() else { return }
        let (traffic, random) = (entry.memory.traffic, random.next())
        let change = traffic.answerEndedPlainly(grant, end, asked, of: entry.route, random: random, loop.now)
        tell(change, entry.route)
    }

    /// The class of the request; its content matters to nobody who asks here.
    @inline(never)
    private func asked(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ client: ClientIdentity?
    ) -> RequestClass {
        let target = unsafe exchange.pointee.target
        return unsafe RequestClass(
            PassThroughRecords.methods[Int(exchange.pointee.method)],
            target: String(decoding: target, as: UTF8.self),
            contentLength: 0,
            user: client?.user
        )
    }

    private func tell(_ change: BreakerChange?, _ route: Route) {
        if let change { relay.ports.sink.record(.breakerChanged(route: route.name, change)) }
    }

    /// Notes the trace of a request by which the histogram's bucket is shown.
    @inline(never)
    private func exemplify(
        _ exchange: UnsafeMutablePointer<PassThroughExchange>,
        _ meter: RouteMeter,
        _ taken: Int64,
        _ now: Int64,
        _ wall: Int64,
        _ bucket: Int
    ) {
        let range = unsafe exchange.pointee.trace
        guard !range.isEmpty else { return }
        let text = unsafe UnsafeBufferPointer(
            start: exchange.pointee.bytes + range.lowerBound,
            count: range.count
        )
        guard let trace = unsafe TraceID(parent: String(decoding: text, as: UTF8.self)) else { return }
        meter.note(trace, taken, wall, in: bucket, now, shard: relay.ports.shard)
    }

    /// The answer is with its caller, or its caller is gone: what the request held goes back.
    @inline(__always)
    func over(_ exchange: UnsafeMutablePointer<PassThroughExchange>, _ share: CallerShare?) {
        unsafe exchange.pointee.entry.route.entry.state.releasePlainly()
        engine.countRunning(false)
        share?.end()
        unsafe loan.takeBack(exchange)
    }
}

extension PassThroughAnswer {
    /// Whether it says that it has no end of its own.
    var isEventStream: Bool {
        guard isChunked, type.count >= 17 else { return false }
        let text = unsafe UnsafeBufferPointer(start: base + type.lowerBound, count: 17)
        return unsafe String(decoding: text, as: UTF8.self).lowercased() == MediaType.eventStream
    }

    /// Whether what has come of the content is sent from where it stands.
    var isLent: Bool { !isChunked && body.count > Connection.copiedBody }

    /// The same where it is lent; empty where it is copied behind the head.
    var lent: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base + body.lowerBound, count: isLent ? body.count : 0)
    }
}
