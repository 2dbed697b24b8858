import RelayCore
import RelayHTTP
import Testing

/// A response that must be refused, and how.
struct MalformedResponse: Sendable, CustomTestStringConvertible {
    var text: String
    var code: HTTPParseError.Code

    init(_ text: String, _ code: HTTPParseError.Code) {
        self.text = text
        self.code = code
    }

    var testDescription: String { String(text.prefix(70)).debugDescription }

    var bytes: [UInt8] { latin1(text) }
}

private let open = "HTTP/1.1 200 OK\r\n"

let malformedResponses: [MalformedResponse] = statusLines + fieldLines + framings

private let statusLines: [MalformedResponse] = [
    .init("\r\nHTTP/1.1 200 OK\r\n\r\n", .badStatusLine),
    .init("\nHTTP/1.1 200 OK\r\n\r\n", .badStatusLine),
    .init("<html>hello</html>", .badStatusLine),
    .init("\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{46}", .badStatusLine),
    .init("SSH-2.0-OpenSSH_9.2\r\n", .badStatusLine),
    .init("http/1.1 200 OK\r\n\r\n", .badStatusLine),
    .init("HTTP 200 OK\r\n\r\n\r\n", .badStatusLine),
    .init("HTTP/1 200 OK\r\n\r\n\r\n", .badStatusLine),
    .init("HTTP/11 200 OK\r\n\r\n\r\n", .badStatusLine),
    .init("HTTP/2 200 \r\n\r\n", .badStatusLine),
    .init("HTTP/2.0 200 OK\r\n\r\n", .unsupportedVersion),
    .init("HTTP/1.2 200 OK\r\n\r\n", .unsupportedVersion),
    .init("HTTP/0.9 200 OK\r\n\r\n", .unsupportedVersion),
    .init("HTTP/1.1\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 \r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 200\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1  200 OK\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1\t200 OK\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 200\tOK\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 20 OK\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 2000 OK\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 2x0 OK\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 +20 OK\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 -20 OK\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 000 OK\r\n\r\n", .badStatus),
    .init("HTTP/1.1 099 OK\r\n\r\n", .badStatus),
    .init("HTTP/1.1 600 OK\r\n\r\n", .badStatus),
    .init("HTTP/1.1 999 OK\r\n\r\n", .badStatus),
    .init("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", .switchingProtocols),
    .init("HTTP/1.1 200 OK\n\r\n", .bareLineFeed),
    .init("HTTP/1.1 200 \n", .bareLineFeed),
    .init("HTTP/1.1 200 O\rK\r\n\r\n", .bareCarriageReturn),
    .init("HTTP/1.1 200 OK\r\r\n\r\n", .bareCarriageReturn),
    .init("HTTP/1.1 200 O\u{0}K\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 200 O\u{1B}K\r\n\r\n", .badStatusLine),
    .init("HTTP/1.1 200 " + String(repeating: "x", count: 70_000) + "\r\n\r\n", .headTooLarge),
]

private let fieldLines: [MalformedResponse] = [
    .init(open + "A: b\n\r\n", .bareLineFeed),
    .init(open + "A: b\r\n\n", .bareLineFeed),
    .init(open + "A: b\rC: d\r\n\r\n", .bareCarriageReturn),
    .init(open + "\rX: y\r\n\r\n", .bareCarriageReturn),
    .init(open + "A: b\r\n c\r\n\r\n", .foldedField),
    .init(open + " A: b\r\n\r\n", .foldedField),
    .init(open + "A : b\r\n\r\n", .spaceBeforeColon),
    .init(open + "A b: c\r\n\r\n", .badFieldName),
    .init(open + ": b\r\n\r\n", .badFieldName),
    .init(open + "A\r\n\r\n", .missingColon),
    .init(open + "<html>\r\n\r\n", .badFieldName),
    .init(open + "A: b\u{0}c\r\n\r\n", .badFieldValue),
    .init(open + "A: b\u{1}c\r\n\r\n", .badFieldValue),
    .init(open + "A: b\u{7F}c\r\n\r\n", .badFieldValue),
    .init(open + String(repeating: "n", count: 257) + ": v\r\n\r\n", .fieldNameTooLong),
    .init(open + String(repeating: "a: b\r\n", count: 201) + "\r\n", .tooManyFields),
    .init(open + "A: " + String(repeating: "v", count: 65_536) + "\r\n\r\n", .headTooLarge),
    .init(open + "Connection: content-length\r\n\r\n", .badConnection),
    .init(open + "Connection: close close\r\n\r\n", .badConnection),
]

private let framings: [MalformedResponse] = [
    .init(open + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", .duplicateContentLength),
    .init(open + "Content-Length: 3\r\nContent-Length: 5\r\n\r\nabc", .duplicateContentLength),
    .init(open + "Content-Length: 3, 3\r\n\r\nabc", .badContentLength),
    .init(open + "Content-Length: -1\r\n\r\n", .badContentLength),
    .init(open + "Content-Length: +3\r\n\r\nabc", .badContentLength),
    .init(open + "Content-Length: 3 \u{B}\r\n\r\nabc", .badFieldValue),
    .init(open + "Content-Length: 0x3\r\n\r\nabc", .badContentLength),
    .init(open + "Content-Length:\r\n\r\n", .badContentLength),
    .init(open + "Content-Length: 9223372036854775808\r\n\r\n", .badContentLength),
    .init(open + "Content-Length: 99999999999999999999999\r\n\r\n", .badContentLength),
    .init(open + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingFraming),
    .init(open + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", .conflictingFraming),
    .init("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingFraming),
    .init("HTTP/1.1 100 Continue\r\nContent-Length: 3\r\n\r\n", .conflictingFraming),
    .init("HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingFraming),
    .init(open + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked, chunked\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked, gzip\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked;a=b\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding:\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: gzip\r\n\r\n", .unsupportedTransferCoding),
    .init(open + "Transfer-Encoding: gzip, chunked\r\n\r\n", .unsupportedTransferCoding),
    .init(open + "Transfer-Encoding: identity\r\n\r\n", .unsupportedTransferCoding),
]
