import RelayBase
import RelayJSON

/// The parts of a status line (RFC 9112 §4): `HTTP/1.1 200 OK`; the reason is checked and dropped.
struct StatusLine {
    let status: Status
    let minorVersion: Int
    /// The first byte behind the line.
    let end: Int

    /// Fails with nil when the line is not complete.
    init?(_ bytes: Span<UInt8>) throws(HTTPParseError) {
        let end = bytes.count
        guard end > 12 else {
            if end >= 8 { _ = try parseVersion(bytes, at: 0, malformed: .badStatusLine) }
            if bytes.hasLineFeed(from: 0) || (end > 0 && bytes[0] != UInt8(ascii: "H")) {
                throw fault(.badStatusLine)
            }
            return nil
        }
        minorVersion = try parseVersion(bytes, at: 0, malformed: .badStatusLine)
        guard bytes[8] == space, bytes[12] == space else { throw fault(.badStatusLine) }
        var code: UInt16 = 0
        for index in 9..<12 {
            guard bytes[index].isDigit else { throw fault(.badStatusLine) }
            code = code * 10 + UInt16(bytes[index] - UInt8(ascii: "0"))
        }
        guard (100...599).contains(code) else { throw fault(.badStatus) }
        guard code != 101 else { throw fault(.switchingProtocols) }
        status = Status(rawValue: code)

        var index = 13
        while true {
            index = bytes.firstControl(from: index)
            guard index < end else { return nil }
            if bytes[index] == carriageReturn { break }
            guard bytes[index] == horizontalTab else {
                throw fault(bytes[index] == lineFeed ? .bareLineFeed : .badStatusLine)
            }
            index &+= 1
        }
        guard index + 1 < end else { return nil }
        guard bytes[index + 1] == lineFeed else { throw fault(.bareCarriageReturn) }
        self.end = index + 2
    }
}

private func fault(_ code: HTTPParseError.Code) -> HTTPParseError { HTTPParseError(code, line: 1) }
