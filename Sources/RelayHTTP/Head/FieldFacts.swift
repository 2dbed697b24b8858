import RelayJSON

/// The facts that the fields of one head state about framing and the connection.
struct FieldFacts {
    /// The index of the Host field among the entries.
    private(set) var host: Int?
    private(set) var contentLength: UInt64?
    private(set) var isChunked = false
    private(set) var closes = false
    private(set) var keepsAlive = false
    private(set) var expectsContinue = false

    /// Takes note of one field whose name is a token and whose value has no control byte but tabs.
    ///
    /// - Returns: what is wrong with the field; nil when nothing is.
    @inline(__always)
    mutating func note(
        _ bytes: Span<UInt8>,
        name: Int,
        _ nameCount: Int,
        value: Range<Int>,
        _ index: Int
    ) -> HTTPParseError.Code? {
        switch nameCount {
        case 4 where bytes.hasToken("host", at: name):
            guard host == nil else { return .duplicateHost }
            guard isHost(bytes, value) else { return .badHost }
            host = index
        case 6 where bytes.hasToken("expect", at: name):
            guard value.count == 12, bytes.hasToken("100-continue", at: value.lowerBound) else {
                return .badExpect
            }
            expectsContinue = true
        case 10 where bytes.hasToken("connection", at: name):
            return noteConnection(bytes, value)
        case 14 where bytes.hasToken("content-length", at: name):
            return noteLength(bytes, value)
        case 17 where bytes.hasToken("transfer-encoding", at: name):
            guard !isChunked else { return .badTransferEncoding }
            if let code = transferCodingFault(bytes, value) { return code }
            isChunked = true
        default: break
        }
        return nil
    }

    private mutating func noteLength(_ bytes: Span<UInt8>, _ value: Range<Int>) -> HTTPParseError.Code? {
        guard contentLength == nil else { return .duplicateContentLength }
        guard (1...19).contains(value.count) else { return .badContentLength }
        var length: UInt64 = 0
        for index in value {
            guard bytes[index].isDigit else { return .badContentLength }
            // Nineteen digits stay below 2^64.
            length = length * 10 + UInt64(bytes[index] - UInt8(ascii: "0"))
        }
        guard length <= UInt64(Int64.max) else { return .badContentLength }
        contentLength = length
        return nil
    }

    private mutating func noteConnection(_ bytes: Span<UInt8>, _ value: Range<Int>) -> HTTPParseError.Code? {
        var index = value.lowerBound
        while index < value.upperBound {
            if isBlank(bytes[index]) || bytes[index] == UInt8(ascii: ",") {
                index += 1
                continue
            }
            let start = index
            while index < value.upperBound, isToken(bytes[index]) { index += 1 }
            let option = start..<index
            while index < value.upperBound, isBlank(bytes[index]) { index += 1 }
            guard !option.isEmpty, index == value.upperBound || bytes[index] == UInt8(ascii: ",") else {
                return .badConnection
            }
            if option.count == 5, bytes.hasToken("close", at: start) {
                closes = true
            } else if option.count == 10, bytes.hasToken("keep-alive", at: start) {
                keepsAlive = true
            } else if EndToEndField.contains(bytes, option) {
                return .badConnection
            }
        }
        return nil
    }
}

/// Says what is wrong with a Transfer-Encoding value other than `chunked` (RFC 9112 §6.1).
private func transferCodingFault(_ bytes: Span<UInt8>, _ value: Range<Int>) -> HTTPParseError.Code? {
    if value.count == 7, bytes.hasToken("chunked", at: value.lowerBound) { return nil }
    // A list of plain codings that ends in an unknown one, or has one before `chunked`, is a coding we lack;
    // anything with chunked elsewhere, parameters or odd bytes is an attempt at confusion.
    var index = value.lowerBound
    var sawChunked = false
    while true {
        let start = index
        while index < value.upperBound, isToken(bytes[index]) { index += 1 }
        guard index > start, !sawChunked else { return .badTransferEncoding }
        sawChunked = index - start == 7 && bytes.hasToken("chunked", at: start)
        while index < value.upperBound, isBlank(bytes[index]) { index += 1 }
        guard index < value.upperBound else { return .unsupportedTransferCoding }
        guard bytes[index] == UInt8(ascii: ",") else { return .badTransferEncoding }
        index += 1
        while index < value.upperBound, isBlank(bytes[index]) { index += 1 }
    }
}

/// Whether the value is `uri-host [ ":" port ]` (RFC 9110 §7.2), which may be empty.
///
/// Narrower than RFC 3986 where a proxy could be misled: no user part, no comma, no IPvFuture.
func isHost(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
    var index = value.lowerBound
    let end = value.upperBound
    if index < end, bytes[index] == UInt8(ascii: "[") {
        index += 1
        let start = index
        while index < end, isAddressByte(bytes[index]) { index += 1 }
        guard index < end, bytes[index] == UInt8(ascii: "]"), index > start + 1 else { return false }
        index += 1
    } else {
        while index < end, isHostByte(bytes[index]) {
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < end, bytes[index + 1].hexadecimalValue != nil,
                    bytes[index + 2].hexadecimalValue != nil
                else { return false }
            }
            index += 1
        }
    }
    guard index < end else { return true }
    // A port needs a host before it.
    guard bytes[index] == colon, index > value.lowerBound else { return false }
    var port = 0
    for digit in index + 1..<end {
        guard bytes[digit].isDigit, port <= 6_553 else { return false }
        port = port * 10 + Int(bytes[digit] - UInt8(ascii: "0"))
    }
    return port <= 65_535
}

private func isAddressByte(_ byte: UInt8) -> Bool {
    byte.hexadecimalValue != nil || byte == colon || byte == UInt8(ascii: ".")
}

private func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"),
        UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
        UInt8(ascii: ";"), UInt8(ascii: "="):
        true
    default: false
    }
}
