/// The receiver of what a scan finds, in the order of the text; ranges are offsets in bytes.
///
/// The scan has checked everything it reports. Sinks that keep text take it from the span they are given.
protocol JSONSink {
    mutating func beginObject(at offset: Int)
    mutating func beginArray(at offset: Int)
    /// A member's name: `range` lies between the quotes.
    mutating func name(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>)
    /// A string: `range` lies between the quotes.
    mutating func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>)
    mutating func number(_ range: Range<Int>, in text: Span<UInt8>)
    mutating func literal(_ literal: JSONLiteral, _ range: Range<Int>)
    /// The end of the innermost object or array; `end` is the offset after its bracket.
    mutating func endContainer(at end: Int)
    /// Takes note of a name that the object already has.
    ///
    /// - Returns: false to end the scan with an error.
    mutating func acceptsDuplicate(_ range: Range<Int>) -> Bool
}

extension JSONSink {
    mutating func acceptsDuplicate(_ range: Range<Int>) -> Bool { false }
}

enum JSONLiteral {
    case null
    case `true`
    case `false`
}

/// Only wants to know that the text is valid.
struct ValidatingSink: JSONSink {
    mutating func beginObject(at offset: Int) {}
    mutating func beginArray(at offset: Int) {}
    mutating func name(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {}
    mutating func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {}
    mutating func number(_ range: Range<Int>, in text: Span<UInt8>) {}
    mutating func literal(_ literal: JSONLiteral, _ range: Range<Int>) {}
    mutating func endContainer(at end: Int) {}
}
