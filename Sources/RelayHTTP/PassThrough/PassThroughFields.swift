import RelayBase
package import RelayRoute

/// Copies the fields of a plain request to where its upstream's head is composed.
@safe package struct PassThroughFields {
    /// Behind the head.
    package var end = 0
    package var length = -1
    package var hasAgent = false
    /// Whether it asks only for what has changed.
    package var isConditional = false
    /// Where the value of `Traceparent` stands.
    package var trace = 0..<0
    /// Whether a web page may have sent it: it names one, or the host by another name than that of the loopback.
    package var isForeign = false
    /// How many bytes were written.
    package var written = 0

    /// Nil where something has to be looked into; of a kept job the relay has understood its key before.
    @inline(__always)
    package init?(
        _ base: UnsafePointer<UInt8>,
        _ start: Int,
        _ count: Int,
        _ edits: PassThroughEdits,
        isKept: Bool,
        to output: UnsafeMutablePointer<UInt8>
    ) {
        let kinds = byteKinds
        var index = start
        var run = start
        var hasHost = false
        var lines = 0
        func take(_ until: Int, _ written: inout Int) {
            let size = until &- run
            if size > 0 {
                unsafe (output + written).update(from: base + run, count: size)
                written &+= size
            }
        }
        while true {
            guard index &+ 1 < count else { return nil }
            if unsafe base[index] == carriageReturn {
                guard unsafe base[index &+ 1] == lineFeed else { return nil }
                break
            }
            guard lines < 64, let (colon, valueEnd) = unsafe plainLine(base, index, count, kinds) else {
                return nil
            }
            lines &+= 1
            var isDropped = false
            switch colon &- index {
            case 3: if unsafe stands("via", base, index) { return nil }
            case 4:
                if unsafe stands("host", base, index) {
                    let span = unsafe Span(_unsafeStart: base, count: count)
                    guard !hasHost, isHost(span, colon &+ 2..<valueEnd) else { return nil }
                    hasHost = true
                    if unsafe !isLoopback(base, colon &+ 2..<valueEnd) { isForeign = true }
                    isDropped = true
                }
            case 6:
                if unsafe stands("expect", base, index) || stands("prefer", base, index) { return nil }
                if unsafe stands("origin", base, index) { isForeign = true }
            case 7: if edits.keepsTrace, unsafe stands("baggage", base, index) { isDropped = true }
            case 8: if unsafe stands("priority", base, index) { return nil }
            case 10:
                if unsafe stands("user-agent", base, index) {
                    hasAgent = true
                } else if unsafe isKeepAlive(base, index, colon, valueEnd) {
                    isDropped = true
                } else if edits.keepsTrace, unsafe stands("tracestate", base, index) {
                    isDropped = true
                }
            case 11:
                if unsafe stands("traceparent", base, index) {
                    trace = colon &+ 2..<valueEnd
                    isDropped = edits.keepsTrace
                }
            case 13: if unsafe stands("if-none-match", base, index) { isConditional = true }
            case 14:
                if unsafe stands("content-length", base, index) {
                    guard length < 0, let found = unsafe plainNumber(base, colon &+ 2, valueEnd) else {
                        return nil
                    }
                    length = found
                    isDropped = true
                }
            case 15: if !isKept, unsafe stands("idempotency-key", base, index) { return nil }
            case 17: if unsafe stands("if-modified-since", base, index) { isConditional = true }
            default: break
            }
            if !isDropped, unsafe isHopByHop(base, index, colon &- index) { return nil }
            if colon &- index > 11, unsafe base[index] | 0x20 == UInt8(ascii: "w"),
                unsafe stands("waystation-", base, index)
            {
                return nil
            }
            if !edits.isEmpty {
                if edits.refused.contains(where: { unsafe isName($0, base, index, colon) }) {
                    return nil
                }
                if edits.dropped.contains(where: { unsafe isName($0, base, index, colon) }) {
                    isDropped = true
                }
            }
            if isDropped {
                take(index, &written)
                run = valueEnd &+ 2
            }
            index = valueEnd &+ 2
        }
        guard hasHost, index <= 16_384 else { return nil }
        take(index, &written)
        end = index &+ 2
    }
}

/// Whether the name from `start` to `end` is that one, which is in lower case.
@inline(__always)
private func isName(_ name: [UInt8], _ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
    guard end &- start == name.count else { return false }
    for index in 0..<name.count where unsafe lowercased(base[start &+ index]) != name[index] { return false }
    return true
}

/// Whether the host is `localhost` or `127.0.0.1`, with a port or without; by its length and its first letters, as the
/// rest of it is a port.
@inline(__always)
private func isLoopback(_ base: UnsafePointer<UInt8>, _ host: Range<Int>) -> Bool {
    guard host.count >= 9 else { return false }
    guard unsafe stands("localhost", base, host.lowerBound) || isFirst(base + host.lowerBound) else {
        return false
    }
    return unsafe host.count == 9 || base[host.lowerBound &+ 9] == colon
}

/// Whether `127.0.0.1` stands there.
@inline(__always)
private func isFirst(_ base: UnsafePointer<UInt8>) -> Bool {
    unsafe loadEightBytes(base, 0) == 0x2E30_2E30_2E37_3231 && base[8] == UInt8(ascii: "1")
}
