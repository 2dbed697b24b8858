import RelayJSON

/// Refuses paths that a server could resolve to a place above them.
///
/// Decoding is done in the mind only, as often as it could be done on the way: `%252e` is as much a dot as
/// `%2e`, and what stands behind an encoded slash or backslash may become a segment of its own. The encoded bytes
/// themselves are the upstream's business. Raw bytes are those a browser leaves unescaped (WHATWG URL), less the
/// backslash.
enum TargetCheck {
    /// Checks `bytes` from a path's leading slash to the end of the query.
    ///
    /// - Returns: whether the path has an empty segment, which some servers leave out.
    @discardableResult
    static func check(_ bytes: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Bool {
        guard start < bytes.count, bytes[start] == slash else { throw HTTPParseError(.badTarget) }
        var segment = SegmentShape()
        // A piece of the segment, up to the next encoded separator.
        var piece = SegmentShape()
        var hasEmptySegment = false
        var index = start + 1
        while index < bytes.count, bytes[index] != questionMark {
            let byte = bytes[index]
            switch byte {
            case slash:
                if segment.isBare { hasEmptySegment = true }
                guard !piece.isDots else { throw HTTPParseError(.dotSegment) }
                segment = SegmentShape()
                piece = SegmentShape()
                index += 1
            case percent:
                let escape = try Escape(bytes, at: index)
                guard escape.byte >= 0x20, escape.byte != 0x7F else { throw HTTPParseError(.encodedControl) }
                try checkOverlong(bytes, after: escape)
                segment.add(escape.byte)
                if escape.byte == slash || escape.byte == backslash {
                    guard !piece.isDots else { throw HTTPParseError(.dotSegment) }
                    piece = SegmentShape()
                } else {
                    piece.add(escape.byte)
                }
                index = escape.end
            default:
                guard isPathByte(byte) else {
                    throw HTTPParseError(byte == backslash ? .backslash : .badTarget)
                }
                segment.add(byte)
                piece.add(byte)
                index += 1
            }
        }
        if !segment.isEmpty, segment.isBare { hasEmptySegment = true }
        guard !piece.isDots else { throw HTTPParseError(.dotSegment) }
        try checkQuery(bytes, from: index)
        return hasEmptySegment
    }

    /// Refuses UTF-8 that spells a character longer than needed: some decoders make `%c0%af` a slash.
    private static func checkOverlong(_ bytes: Span<UInt8>, after escape: Escape) throws(HTTPParseError) {
        guard escape.byte >= 0xC0, escape.end < bytes.count, bytes[escape.end] == percent else { return }
        let follower = try Escape(bytes, at: escape.end).byte
        let isOverlong =
            switch escape.byte {
            case 0xC0, 0xC1: (0x80...0xBF).contains(follower)
            case 0xE0: (0x80...0x9F).contains(follower)
            case 0xF0: (0x80...0x8F).contains(follower)
            default: false
            }
        guard !isOverlong else { throw HTTPParseError(.badPercentEncoding) }
    }

    private static func checkQuery(_ bytes: Span<UInt8>, from start: Int) throws(HTTPParseError) {
        var index = start
        while index < bytes.count {
            if bytes[index] == percent {
                let escape = try Escape(bytes, at: index)
                // Line ends are data here; NUL ends strings in too many places to be.
                guard escape.byte != 0 else { throw HTTPParseError(.encodedControl) }
                index = escape.end
            } else {
                guard isQueryByte(bytes[index]) else { throw HTTPParseError(.badTarget) }
                index += 1
            }
        }
    }
}

/// One percent escape, however often its percent sign was escaped itself.
private struct Escape {
    /// The byte it comes to in the end.
    let byte: UInt8
    /// The first byte behind it.
    let end: Int

    init(_ bytes: Span<UInt8>, at start: Int) throws(HTTPParseError) {
        var index = start + 1
        while true {
            guard index + 1 < bytes.count, let high = bytes[index].hexadecimalValue,
                let low = bytes[index + 1].hexadecimalValue
            else {
                // `%25` alone, or before anything but two digits, is an escaped percent sign.
                guard index > start + 1 else { throw HTTPParseError(.badPercentEncoding) }
                byte = percent
                end = index
                return
            }
            let value = high << 4 | low
            index += 2
            guard value == percent else {
                byte = value
                end = index
                return
            }
        }
    }
}

/// The shape of a segment to a server that resolves dots, up to its first semicolon.
///
/// Some servers cut parameters (`..;a=1`) before they resolve.
private struct SegmentShape {
    private(set) var isEmpty = true
    private var dots = 0
    private var isPlain = false
    private var hasParameters = false

    /// Whether nothing, or nothing but parameters, stands in it.
    var isBare: Bool { !isPlain && dots == 0 }

    var isDots: Bool { !isPlain && (dots == 1 || dots == 2) }

    mutating func add(_ byte: UInt8) {
        isEmpty = false
        if hasParameters { return }
        if byte == UInt8(ascii: ";") {
            hasParameters = true
        } else if byte == UInt8(ascii: "."), dots < 3 {
            dots += 1
        } else {
            isPlain = true
        }
    }
}

private let percent = UInt8(ascii: "%")
private let backslash = UInt8(ascii: "\\")

private func isPathByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), backslash,
        UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "}"):
        false
    default: byte > 0x20 && byte < 0x7F
    }
}

private func isQueryByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), backslash: false
    default: byte > 0x20 && byte < 0x7F
    }
}
