import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayJobs
import RelayPosix
import RelayRoute

/// Passes deliveries through on one event loop.
struct LoopPassage: DeliveryPassage {
    let passThrough: LoopBound<PassThrough>

    func begin(_ claim: Claim, _ body: [UInt8], for receiver: any DeliveryReceiver) -> Bool {
        passThrough.value.begin(claim, body, for: receiver)
    }

    #if DEBUG
    var checks: Bool { passThrough.value.mode == .check }
    #endif

    func fields(of answer: PassThroughAnswer) -> HeaderFields {
        // The field lines are copied as one block, into which the entries are offsets.
        let start = answer.runs.0.lowerBound
        var entries: [HeaderFields.Entry] = []
        entries.reserveCapacity(16)
        answer.forEachField { name, value in
            entries.append(
                HeaderFields.Entry(
                    nameStart: name.lowerBound - start,
                    nameCount: name.count,
                    valueStart: value.lowerBound - start,
                    valueCount: value.count
                )
            )
        }
        // Without the CRLF of the empty line.
        let lines = unsafe UnsafeBufferPointer(
            start: answer.base + start,
            count: answer.body.lowerBound - 2 - start
        )
        return unsafe HeaderFields(storage: Array(lines), entries: entries)
    }
}

extension PassThrough {
    /// The most bytes of a kept request that is passed through; the output has room for them and the fields added.
    private static let largestKept = 98_304

    /// Sends the first attempt of a kept job at once.
    ///
    /// - Returns: false where it is not plain or would have to wait; nothing is sent then, and nothing is held.
    func begin(_ claim: Claim, _ body: [UInt8], for receiver: any DeliveryReceiver) -> Bool {
        guard isOn, let head = writeKeptRequest(claim.job.record, body) else { return false }
        // Read back, so that a target or field that reads as another than was written takes the ordinary path.
        let (base, count) = unsafe (UnsafePointer(keptRequest.base), keptRequest.count)
        guard let line = unsafe PassThroughLine(base, count), line.route == head.route,
            line.fields == head.fields, let entry = unsafe keptEntry(base, line.route)
        else { return false }
        let (route, now, wall) = (entry.route, loop.now, clock.milliseconds)
        // The ordinary path fails over, and shortens an attempt to the job's time, here from milliseconds.
        guard claim.job.begun?.upstream == route.plain.upstream.name,
            claim.job.expiresAt.map({ $0 &- wall > route.plain.attempt / 1_000_000 }) ?? true,
            !(route.plain.mayBeConstrained && relay.ports.isConstrained()),
            !route.entry.state.isPausedNow
        else { return false }
        id = claim.token.id
        guard let fields = unsafe compose(entry, line, base, count, isKept: true, now),
            let (sender, grant) = outlet(entry, now)
        else { return false }
        receiver.begunPassing(
            PassedDelivery(
                route,
                began: now,
                wall: wall,
                grant: grant,
                token: route.plain.credential == nil ? nil : entry.token,
                sending: sender.sending
            )
        )
        #if DEBUG
        if mode == .check {
            guard let request = receiver.rebuilt() else {
                fatalError("pass-through took a delivery that the ordinary path refuses")
            }
            unsafe demandEqual(output.bytes, sender.composed(request), "the request of a delivery")
        }
        #endif
        send(fields, by: sender, entry, to: receiver, now)
        return true
    }

    /// Writes the request in the form of HTTP/1.1, for the parser of callers' requests.
    ///
    /// - Returns: where the route's name stands and where the fields begin; nil where it is too large.
    private func writeKeptRequest(_ record: JobRecord, _ body: [UInt8]) -> (route: Range<Int>, fields: Int)? {
        let lines = record.fields.storage.count + 4 * record.fields.count
        guard record.route.utf8.count + record.target.utf8.count + lines + body.count <= Self.largestKept
        else { return nil }
        keptRequest.clear()
        keptRequest.put(text: record.method.rawValue)
        keptRequest.put(" /r/")
        let route = keptRequest.count..<keptRequest.count + record.route.utf8.count
        keptRequest.put(text: record.route)
        keptRequest.put("/")
        keptRequest.put(text: record.target)
        keptRequest.put(" HTTP/1.1\r\n")
        let fields = keptRequest.count
        keptRequest.put("Host: kept\r\n")
        unsafe record.fields.storage.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return }
            for entry in record.fields.entries {
                unsafe keptRequest.put(first, entry.nameRange)
                keptRequest.put(": ")
                unsafe keptRequest.put(first, entry.valueRange)
                keptRequest.put("\r\n")
            }
        }
        keptRequest.put("Content-Length: ")
        keptRequest.put(decimal: body.count)
        keptRequest.put("\r\n\r\n")
        keptRequest.put(body)
        return (route, fields)
    }
}
