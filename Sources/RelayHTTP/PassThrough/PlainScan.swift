// Heads that are as plain as they can be are read in one pass over raw bytes. A head that is not, for whatever reason, is
// left to the parsers. A head that these take the parsers take as well, and understand the same.

private let every: UInt64 = 0x0101_0101_0101_0101
private let tops: UInt64 = 0x8080_8080_8080_8080

/// The parts of a head that a byte may belong to.
enum ByteKind {
    static let token: UInt8 = 1
    static let path: UInt8 = 2
    static let query: UInt8 = 4
    static let routeName: UInt8 = 8
}

/// By byte: the kinds it is of.
@safe nonisolated(unsafe) let byteKinds: UnsafePointer<UInt8> = {
    let kinds = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    for code in 0..<256 {
        let byte = UInt8(code)
        var kind: UInt8 = isToken(byte) ? ByteKind.token : 0
        let isWord =
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        if isWord || "~,:@=".utf8.contains(byte) { kind |= ByteKind.path }
        if isWord || "~,:@=&+./?!$'()*".utf8.contains(byte) { kind |= ByteKind.query }
        if isWord || byte == UInt8(ascii: ".") { kind |= ByteKind.routeName }
        unsafe kinds[code] = kind
    }
    return unsafe UnsafePointer(kinds)
}()

@inline(__always)
func loadEightBytes(_ base: UnsafePointer<UInt8>, _ offset: Int) -> UInt64 {
    unsafe UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self)
}

/// `HTTP/1.1` as it stands in memory.
let version11: UInt64 = 0x312E_312F_5054_5448

/// The first control byte at or after `start`; `end` where there is none.
@inline(__always)
func firstControl(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int {
    var index = start
    while index &+ 8 <= end {
        let word = unsafe loadEightBytes(base, index)
        let low = (word &- 0x20 &* every) & ~word
        let flipped = word ^ (0x7F &* every)
        let found = (low | ((flipped &- every) & ~flipped)) & tops
        if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
        index &+= 8
    }
    while index < end {
        if unsafe base[index] < 0x20 || base[index] == 0x7F { return index }
        index &+= 1
    }
    return index
}

/// Whether `text`, in lower case, stands there in any case; letters and hyphens only.
@inline(__always)
func stands(_ text: StaticString, _ base: UnsafePointer<UInt8>, _ start: Int) -> Bool {
    let count = text.utf8CodeUnitCount
    var index = 0
    while index < count {
        if unsafe base[start &+ index] | 0x20 != text.utf8Start[index] { return false }
        index &+= 1
    }
    return true
}

/// One line of a field, as plain as can be: `Name: value`, with one blank and none at the end.
@inline(__always)
func plainLine(
    _ base: UnsafePointer<UInt8>,
    _ start: Int,
    _ end: Int,
    _ kinds: UnsafePointer<UInt8>
) -> (colon: Int, valueEnd: Int)? {
    var index = start
    while index < end, unsafe kinds[Int(base[index])] & ByteKind.token != 0 { index &+= 1 }
    guard index &+ 2 < end, index > start, index &- start <= 64, unsafe base[index] == colon,
        unsafe base[index &+ 1] == space
    else { return nil }
    let value = index &+ 2
    guard unsafe base[value] > space else { return nil }
    let valueEnd = unsafe firstControl(base, value, end)
    guard valueEnd &+ 1 < end, unsafe base[valueEnd] == carriageReturn,
        unsafe base[valueEnd &+ 1] == lineFeed, unsafe base[valueEnd &- 1] != space
    else { return nil }
    return (index, valueEnd)
}

/// Whether the line says that the connection stays, and nothing else of it.
@inline(__always)
func isKeepAlive(_ base: UnsafePointer<UInt8>, _ start: Int, _ colon: Int, _ valueEnd: Int) -> Bool {
    unsafe valueEnd &- colon == 12 && stands("connection", base, start)
        && stands("keep-alive", base, colon &+ 2)
}

/// A decimal number of one to fifteen digits.
@inline(__always)
func plainNumber(_ base: UnsafePointer<UInt8>, _ start: Int, _ end: Int) -> Int? {
    guard end > start, end &- start <= 15 else { return nil }
    var value = 0
    var index = start
    while index < end {
        let digit = unsafe base[index] &- 0x30
        guard digit < 10 else { return nil }
        value = value &* 10 &+ Int(digit)
        index &+= 1
    }
    return value
}
