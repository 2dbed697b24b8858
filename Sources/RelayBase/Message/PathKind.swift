/// The part of a path that tells what is asked for, and not of which: `/api/v1/orders/*` of `/api/v1/orders/1723/lines`.
///
/// It has two segments, and before them what leads up to a version (`v1`, `v58.0`, the `2` of `/rest/api/2`) among the first
/// four. A segment that is an identifier stands as `*`: one of digits, with three of them or more, or with a digit beside
/// punctuation (`1723`, `ch_3Px9z0`, `INV-7`). Each segment has 64 bytes at most.
package enum PathKind {
    private static let longest = 64
    /// Segments of which one may be a version.
    private static let mostBefore = 4

    /// The method before the kind of the path of `target`, which has a slash before it or not, and maybe a query behind it.
    ///
    /// - Returns: both, and the same with its identifiers where it has any.
    package static func names(_ method: Method, _ target: String) -> (kind: String, exact: String?) {
        let bytes = target.utf8Span.span
        var end = 0
        while end < bytes.count, bytes[end] != UInt8(ascii: "?"), bytes[end] != UInt8(ascii: "#") { end += 1 }
        let begin = end > 0 && bytes[0] == UInt8(ascii: "/") ? 1 : 0

        var (place, start, isAfterAPI) = (0, begin, false)
        // How many segments stand as they are, and lead up to a version.
        var before = 0
        while place < mostBefore, start <= end {
            let segment = start..<segmentEnd(bytes, start, end)
            if isVersion(bytes, segment, isAfterAPI: isAfterAPI) { before = place + 1 }
            isAfterAPI = isAPI(bytes, segment)
            (place, start) = (place + 1, segment.upperBound + 1)
        }
        let (kind, hasIdentifier) = name(method, bytes, begin..<end, before, named: false)
        return (kind, hasIdentifier ? name(method, bytes, begin..<end, before, named: true).name : nil)
    }

    /// The name, and whether an identifier is left out, which none is with `named`.
    private static func name(
        _ method: Method,
        _ bytes: Span<UInt8>,
        _ path: Range<Int>,
        _ before: Int,
        named: Bool
    ) -> (name: String, hasIdentifier: Bool) {
        let most = method.rawValue.utf8.count + 1 + (mostBefore + 2) * (longest + 1)
        var hasIdentifier = false
        // Made at once: a string that grows byte by byte costs ten times as much.
        let name = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most) { buffer in
            var count = 0
            func put(_ byte: UInt8) {
                unsafe buffer[count] = byte
                count += 1
            }
            for byte in method.rawValue.utf8 { put(byte) }
            put(UInt8(ascii: " "))
            var (place, start) = (0, path.lowerBound)
            while place < before + 2, start <= path.upperBound {
                let segment = start..<segmentEnd(bytes, start, path.upperBound)
                put(UInt8(ascii: "/"))
                if !named, place >= before, isIdentifier(bytes, segment) {
                    put(UInt8(ascii: "*"))
                    hasIdentifier = true
                } else {
                    for index in segment.prefix(longest) {
                        let byte = bytes[index]
                        put(byte > 0x20 && byte < 0x7F ? byte : UInt8(ascii: "?"))
                    }
                }
                (place, start) = (place + 1, segment.upperBound + 1)
            }
            return unsafe String(decoding: UnsafeBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
        }
        return (name, hasIdentifier)
    }

    private static func segmentEnd(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        var index = start
        while index < end, bytes[index] != UInt8(ascii: "/") { index += 1 }
        return index
    }

    private static func isAPI(_ bytes: Span<UInt8>, _ segment: Range<Int>) -> Bool {
        let first = segment.lowerBound
        return segment.count == 3 && bytes[first] == UInt8(ascii: "a")
            && bytes[first + 1] == UInt8(ascii: "p")
            && bytes[first + 2] == UInt8(ascii: "i")
    }

    private static func isVersion(
        _ bytes: Span<UInt8>,
        _ segment: Range<Int>,
        isAfterAPI: Bool
    ) -> Bool {
        guard let first = segment.first else { return false }
        if isDigit(bytes[first]) {
            return isAfterAPI && segment.count <= 2 && segment.allSatisfy { isDigit(bytes[$0]) }
        }
        guard bytes[first] == UInt8(ascii: "v"), segment.count > 1, isDigit(bytes[first + 1]) else {
            return false
        }
        return segment.dropFirst().allSatisfy { isDigit(bytes[$0]) || bytes[$0] == UInt8(ascii: ".") }
    }

    private static func isIdentifier(_ bytes: Span<UInt8>, _ segment: Range<Int>) -> Bool {
        var (digits, marks) = (0, 0)
        for index in segment {
            if isDigit(bytes[index]) {
                digits += 1
            } else if !isLetter(bytes[index]) {
                marks += 1
            }
        }
        return digits >= 3 || digits > 0 && (marks > 0 || digits == segment.count)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
}
