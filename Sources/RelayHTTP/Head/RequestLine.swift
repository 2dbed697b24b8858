import RelayJSON

/// Where the parts of a request line stand (RFC 9112 §3).
struct RequestLine {
    let method: Range<Int>
    let target: Range<Int>
    let minorVersion: Int
    /// The first byte behind the line.
    let end: Int

    /// Fails with nil when the line is not complete.
    init?(_ bytes: Span<UInt8>, _ limits: HTTPLimits) throws(HTTPParseError) {
        let end = bytes.count
        var index = 0
        // RFC 9112 §2.2: one empty line left over from an earlier body is passed over.
        if end > 0, bytes[0] == carriageReturn {
            guard end > 1 else { return nil }
            guard bytes[1] == lineFeed else { throw fault(.bareCarriageReturn) }
            index = 2
        }
        let methodStart = index
        while index < end, isToken(bytes[index]) { index &+= 1 }
        guard index < end else { return nil }
        guard bytes[index] == space, index > methodStart else {
            throw methodFault(bytes[index])
        }
        method = methodStart..<index
        guard method.count <= limits.method else { throw fault(.methodTooLong) }

        let targetStart = index + 1
        index = bytes.firstNonVisible(from: targetStart)
        guard index - targetStart <= limits.target else { throw fault(.targetTooLong) }
        guard index < end else { return nil }
        target = targetStart..<index
        guard bytes[index] == space, !target.isEmpty else { throw targetFault(bytes[index], target.isEmpty) }

        let version = index + 1
        guard version + 8 < end else {
            if bytes.hasLineFeed(from: version) { throw fault(.badVersion) }
            return nil
        }
        minorVersion = try parseVersion(bytes, at: version, malformed: .badVersion)
        guard bytes[version + 8] == carriageReturn else {
            throw fault(bytes[version + 8] == lineFeed ? .bareLineFeed : .badVersion)
        }
        guard version + 9 < end else { return nil }
        guard bytes[version + 9] == lineFeed else { throw fault(.bareCarriageReturn) }
        self.end = version + 10
    }
}

/// The minor version of `HTTP/1.x` at `start`, where eight bytes are there.
func parseVersion(
    _ bytes: Span<UInt8>,
    at start: Int,
    malformed: HTTPParseError.Code
) throws(HTTPParseError) -> Int {
    guard bytes[start] == UInt8(ascii: "H"), bytes[start + 1] == UInt8(ascii: "T"),
        bytes[start + 2] == UInt8(ascii: "T"), bytes[start + 3] == UInt8(ascii: "P"),
        bytes[start + 4] == UInt8(ascii: "/")
    else { throw fault(malformed) }
    guard bytes[start + 5].isDigit, bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit else {
        throw fault(malformed)
    }
    guard bytes[start + 5] == UInt8(ascii: "1"), bytes[start + 7] <= UInt8(ascii: "1") else {
        throw fault(.unsupportedVersion)
    }
    return Int(bytes[start + 7] - UInt8(ascii: "0"))
}

private func methodFault(_ byte: UInt8) -> HTTPParseError {
    switch byte {
    case lineFeed: fault(.bareLineFeed)
    // A word alone, or a second empty line.
    case carriageReturn: fault(.badRequestLine)
    case space, horizontalTab: fault(.badRequestLine)
    default: fault(.badMethod)
    }
}

private func targetFault(_ byte: UInt8, _ isEmpty: Bool) -> HTTPParseError {
    switch byte {
    // HTTP/0.9 had no version; two spaces leave an empty target.
    case carriageReturn: fault(.badRequestLine)
    case lineFeed: fault(.bareLineFeed)
    case space where isEmpty: fault(.badRequestLine)
    default: fault(.badTarget)
    }
}

private func fault(_ code: HTTPParseError.Code) -> HTTPParseError { HTTPParseError(code, line: 1) }
