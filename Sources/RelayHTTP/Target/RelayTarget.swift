/// A target of the relay: `/r/ROUTE/PATH?QUERY`, checked so that every server on the way reads it the same.
package struct RelayTarget: Sendable, Equatable {
    /// The route's name: letters, digits, `-`, `_` and `.`, at most 128.
    package var route: String
    /// Path and query behind the route's slash, undecoded: `orders/7?full=1`; a trailing slash is kept.
    ///
    /// Empty for `/r/ROUTE` and for `/r/ROUTE/`.
    package var remainder: String
    /// Whether an empty segment stands in the path, which only some routes pass on.
    package var hasEmptySegment = false

    /// Reads a target in origin form.
    ///
    /// - Throws: `unknown_path` when it does not begin with `/r/` and a route name, or what `TargetCheck`
    ///   finds.
    package static func parse(_ raw: String) throws(HTTPParseError) -> RelayTarget {
        var raw = raw
        raw.makeContiguousUTF8()
        let bytes = raw.utf8.span
        // A path that is malformed is answered so, whether or not it would have named a route.
        let hasEmptySegment = try TargetCheck.check(bytes, from: 0)
        // `/r/x` at least.
        guard bytes.count > 3, bytes[1] == UInt8(ascii: "r"), bytes[2] == slash else {
            guard !hasEmptySegment else { throw HTTPParseError(.emptySegment) }
            throw HTTPParseError(.unknownPath)
        }
        var end = 3
        while end < bytes.count, bytes[end] != slash, bytes[end] != questionMark { end += 1 }
        guard end > 3 || !hasEmptySegment else { throw HTTPParseError(.emptySegment) }
        guard end > 3, end - 3 <= 128 else { throw HTTPParseError(.unknownPath) }
        for index in 3..<end where !isRouteByte(bytes[index]) { throw HTTPParseError(.unknownPath) }
        let route = bytes.text(3..<end)
        if end < bytes.count, bytes[end] == slash { end += 1 }
        return RelayTarget(
            route: route,
            remainder: bytes.text(end..<bytes.count),
            hasEmptySegment: hasEmptySegment
        )
    }

    /// Checks a path and query that came another way: behind a host that names the route, or in an absolute
    /// target.
    ///
    /// - Throws: what `parse` throws, but never `unknown_path`.
    /// - Returns: what follows the leading slash, and whether an empty segment stands in the path.
    package static func remainder(
        of target: String
    ) throws(HTTPParseError) -> (text: String, hasEmptySegment: Bool) {
        var target = target
        target.makeContiguousUTF8()
        let bytes = target.utf8.span
        let hasEmptySegment = try TargetCheck.check(bytes, from: 0)
        return (bytes.text(1..<bytes.count), hasEmptySegment)
    }
}

let slash = UInt8(ascii: "/")
let questionMark = UInt8(ascii: "?")

private func isRouteByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
    default: false
    }
}
