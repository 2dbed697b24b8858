/// Writes what it is told without blanks, and with no escape that need not be.
struct CompactingSink: JSONSink {
    private(set) var bytes: [UInt8] = []
    /// Whether the containers that are open are objects.
    private var areObjects: [Bool] = []
    private var needsComma = false

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func beginObject(at offset: Int) { enter(UInt8(ascii: "{"), isObject: true) }
    mutating func beginArray(at offset: Int) { enter(UInt8(ascii: "["), isObject: false) }

    mutating func name(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        append(range, isEscaped, text)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    mutating func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        append(range, isEscaped, text)
        needsComma = true
    }

    mutating func number(_ range: Range<Int>, in text: Span<UInt8>) {
        separate()
        copy(range, text)
        needsComma = true
    }

    mutating func literal(_ literal: JSONLiteral, _ range: Range<Int>) {
        separate()
        switch literal {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .true: bytes.append(contentsOf: "true".utf8)
        case .false: bytes.append(contentsOf: "false".utf8)
        }
        needsComma = true
    }

    mutating func endContainer(at end: Int) {
        bytes.append(areObjects.removeLast() ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        needsComma = true
    }

    private mutating func enter(_ bracket: UInt8, isObject: Bool) {
        separate()
        bytes.append(bracket)
        areObjects.append(isObject)
        needsComma = false
    }

    private mutating func separate() { if needsComma { bytes.append(UInt8(ascii: ",")) } }

    private mutating func append(_ range: Range<Int>, _ isEscaped: Bool, _ text: Span<UInt8>) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        if isEscaped {
            JSONText.append(escaping: JSONString.bytes(range, isEscaped: true, in: text).span, to: &bytes)
        } else {
            copy(range, text)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func copy(_ range: Range<Int>, _ text: Span<UInt8>) {
        unsafe text.extracting(range).withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }
}
