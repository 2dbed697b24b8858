package import RelayBase
package import RelayRoute

extension PassThroughAnswer {
    /// Bytes of a head that is read here.
    private static let headLimit = 16_384

    /// Nil where the answer is not plain, or its head not there as a whole; `policy` says which statuses are.
    @inline(__always)
    package init?(
        reading base: UnsafePointer<UInt8>,
        _ count: Int,
        _ policy: PassThroughPolicy,
        _ kind: UInt8
    ) {
        let kinds = byteKinds
        guard count > 20, unsafe loadEightBytes(base, 0) == version11, unsafe base[8] == space,
            unsafe base[12] == space, let code = unsafe plainNumber(base, 9, 12), policy.takes(code, kind)
        else { return nil }
        var index = unsafe firstControl(base, 13, count)
        guard index &+ 1 < count, unsafe base[index] == carriageReturn, unsafe base[index &+ 1] == lineFeed
        else { return nil }
        index &+= 2
        var runs = (index..<index, index..<index, index..<index)
        var run = index
        var runCount = 0
        var length = -1
        var isChunked = false
        var date = false
        var type = 0..<0
        var isCoded = false
        var lines = 0
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
            let first = unsafe base[index] | 0x20
            switch colon &- index {
            case 4:
                if unsafe stands("date", base, index) { date = true }
                if unsafe stands("link", base, index) { return nil }
            case 7:
                if unsafe stands("refresh", base, index) { return nil }
            case 8: if unsafe stands("location", base, index) { return nil }
            case 10:
                if unsafe isKeepAlive(base, index, colon, valueEnd) { isDropped = true }
            case 12:
                if unsafe stands("content-type", base, index) {
                    guard type.isEmpty else { return nil }
                    type = colon &+ 2..<valueEnd
                }
            case 14:
                if unsafe stands("content-length", base, index) {
                    guard length < 0, let found = unsafe plainNumber(base, colon &+ 2, valueEnd) else {
                        return nil
                    }
                    length = found
                    isDropped = true
                }
            case 16:
                if unsafe stands("content-encoding", base, index) { isCoded = true }
                if unsafe stands("content-location", base, index) { return nil }
            case 17:
                if unsafe stands("transfer-encoding", base, index) {
                    guard !isChunked, valueEnd &- colon == 9, unsafe stands("chunked", base, colon &+ 2)
                    else {
                        return nil
                    }
                    isChunked = true
                    isDropped = true
                }
            case 18: if unsafe stands("preference-applied", base, index) { return nil }
            default: break
            }
            if !isDropped, unsafe isHopByHop(base, index, colon &- index) { return nil }
            // Fields that are the relay's own to write, and those that speak of limits.
            if colon &- index > 8 {
                if first == UInt8(ascii: "w"), unsafe stands("waystati", base, index) { return nil }
                if first == UInt8(ascii: "r"), unsafe stands("ratelimi", base, index) { return nil }
                if first == UInt8(ascii: "x"), unsafe stands("x-rate", base, index) { return nil }
            }
            if isDropped {
                switch runCount {
                case 0: runs.0 = run..<index
                case 1: runs.1 = run..<index
                default: return nil
                }
                runCount &+= 1
                run = valueEnd &+ 2
            }
            index = valueEnd &+ 2
        }
        runs.2 = run..<index
        let body = index &+ 2
        // A 204 or 304 has no content, whatever else it says (RFC 9112 §6.3).
        let hasContent = code != 204 && code != 304
        guard index <= Self.headLimit,
            hasContent
                ? length >= 0 ? !isChunked && body &+ length >= count : isChunked
                : length < 0 && !isChunked && body == count
        else { return nil }
        unsafe self.init(
            base: base,
            status: code,
            runs: runs,
            type: type,
            isCoded: isCoded,
            body: body..<count,
            isChunked: isChunked,
            length: max(0, length),
            hasContent: hasContent,
            hasDate: date
        )
    }
}
