import RelayHTTP
import Testing

/// A head that must be refused, and how; the status is what a server answers with.
struct MalformedHead: Sendable, CustomTestStringConvertible {
    var text: String
    var code: HTTPParseError.Code
    var status: UInt16

    init(_ text: String, _ code: HTTPParseError.Code, _ status: UInt16 = 400) {
        self.text = text
        self.code = code
        self.status = status
    }

    var testDescription: String { String(text.prefix(70)).debugDescription }

    var bytes: [UInt8] { latin1(text) }
}

/// One byte a character, so that a row can hold any byte.
func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
}

private let open = "POST /r/x HTTP/1.1\r\nHost: h\r\n"

let malformedRequests: [MalformedHead] = startLines + fieldLines + hosts + lengths + codings + options

private let startLines: [MalformedHead] = [
    .init("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", .badRequestLine),
    .init("\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", .bareLineFeed),
    .init("\rGET / HTTP/1.1\r\nHost: h\r\n\r\n", .bareCarriageReturn),
    .init(" GET / HTTP/1.1\r\nHost: h\r\n\r\n", .badRequestLine),
    .init("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", .badRequestLine),
    .init("GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", .badRequestLine),
    .init("GET\r\nHost: h\r\n\r\n", .badRequestLine),
    .init("GET\n\n", .bareLineFeed),
    .init("G(T / HTTP/1.1\r\nHost: h\r\n\r\n", .badMethod),
    .init("GET\u{0} / HTTP/1.1\r\nHost: h\r\n\r\n", .badMethod),
    .init("GÉT / HTTP/1.1\r\nHost: h\r\n\r\n", .badMethod),
    .init(String(repeating: "A", count: 33) + " / HTTP/1.1\r\nHost: h\r\n\r\n", .methodTooLong, 501),
    .init("GET /\r\n\r\n", .badRequestLine),
    .init("GET /\n\n", .bareLineFeed),
    .init("GET / \r\nHost: h\r\n\r\n", .badVersion),
    .init("GET /  HTTP/1.1\r\nHost: h\r\n\r\n", .badVersion),
    .init("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", .badVersion),
    .init("GET /\t HTTP/1.1\r\nHost: h\r\n\r\n", .badTarget),
    .init("GET /\u{0} HTTP/1.1\r\nHost: h\r\n\r\n", .badTarget),
    .init("GET /\u{7F} HTTP/1.1\r\nHost: h\r\n\r\n", .badTarget),
    .init("GET /caf\u{E9} HTTP/1.1\r\nHost: h\r\n\r\n", .badTarget),
    .init("GET /\u{1B}[2J HTTP/1.1\r\nHost: h\r\n\r\n", .badTarget),
    .init(
        "GET /" + String(repeating: "a", count: 16_384) + " HTTP/1.1\r\nHost: h\r\n\r\n",
        .targetTooLong,
        414
    ),
    .init("GET / HTTP/1.1\nHost: h\r\n\r\n", .bareLineFeed),
    .init("GET / HTTP/1.1\rHost: h\r\n\r\n", .bareCarriageReturn),
    .init("GET / HTTP/1.1 \r\nHost: h\r\n\r\n", .badVersion),
    .init("GET / HTTP/1.10\r\nHost: h\r\n\r\n", .badVersion),
    .init("GET / HTTP/1\r\nHost: h\r\n\r\n", .badVersion),
    .init("GET / HTTP/11\r\nHost: h\r\n\r\n", .badVersion),
    .init("GET / http/1.1\r\nHost: h\r\n\r\n", .badVersion),
    .init("GET / HTP/1.1\r\nHost: h\r\n\r\n", .badVersion),
    .init("GET / HTTP/+1.1\r\nHost: h\r\n\r\n", .badVersion),
    .init("GET / HTTP/1.2\r\nHost: h\r\n\r\n", .unsupportedVersion, 505),
    .init("GET / HTTP/0.9\r\nHost: h\r\n\r\n", .unsupportedVersion, 505),
    .init("GET / HTTP/3.0\r\nHost: h\r\n\r\n", .unsupportedVersion, 505),
    .init("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .unsupportedVersion, 505),
    .init("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}", .badMethod),
    .init("\u{0}\r\n", .badMethod),
]

private let fieldLines: [MalformedHead] = [
    .init(open + "A: b\n\r\n", .bareLineFeed),
    .init(open + "A: b\r\n\n", .bareLineFeed),
    .init(open + "A: b\rC: d\r\n\r\n", .bareCarriageReturn),
    .init(open + "A: b\r\r\n\r\n", .bareCarriageReturn),
    .init(open + "\rX: y\r\n\r\n", .bareCarriageReturn),
    .init(open + "A: b\r\n c\r\n\r\n", .foldedField),
    .init(open + "A: b\r\n\tc\r\n\r\n", .foldedField),
    .init("GET / HTTP/1.1\r\n Host: h\r\n\r\n", .foldedField),
    .init(open + "A : b\r\n\r\n", .spaceBeforeColon),
    .init(open + "Transfer-Encoding\t: chunked\r\n\r\n", .spaceBeforeColon),
    .init(open + "A b: c\r\n\r\n", .badFieldName),
    .init(open + ": b\r\n\r\n", .badFieldName),
    .init(open + "A(: b\r\n\r\n", .badFieldName),
    .init(open + "\u{0}A: b\r\n\r\n", .badFieldName),
    .init(open + "A\u{0}: b\r\n\r\n", .badFieldName),
    .init(open + "\u{E9}: b\r\n\r\n", .badFieldName),
    .init(open + "Transfer-Encoding\u{0B}: chunked\r\n\r\n", .badFieldName),
    .init(open + "A\r\n\r\n", .missingColon),
    .init(open + "GET / HTTP/1.1\r\n\r\n", .badFieldName),
    .init(open + "A: b\u{0}c\r\n\r\n", .badFieldValue),
    .init(open + "A: \u{1B}[31m\r\n\r\n", .badFieldValue),
    .init(open + "A: b\u{7F}\r\n\r\n", .badFieldValue),
    .init(open + "A: 0123456789\u{1}0123456789\r\n\r\n", .badFieldValue),
    .init(open + String(repeating: "n", count: 257) + ": v\r\n\r\n", .fieldNameTooLong, 431),
    .init(open + String(repeating: "a: b\r\n", count: 200) + "\r\n", .tooManyFields, 431),
    .init(open + "A: " + String(repeating: "v", count: 65_536) + "\r\n\r\n", .headTooLarge, 431),
]

private let hosts: [MalformedHead] = [
    .init("GET / HTTP/1.1\r\n\r\n", .missingHost),
    .init("GET / HTTP/1.1\r\nX-Host: h\r\n\r\n", .missingHost),
    .init("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .duplicateHost),
    .init("GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n", .duplicateHost),
    .init("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: user@h\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: h/r\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: h b\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: h:\u{E9}\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: h:65536\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: h:99999999999999999999\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: h:1:2\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: :80\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: a%2\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: h#f\r\n\r\n", .badHost),
    .init("GET / HTTP/1.1\r\nHost: http://h\r\n\r\n", .badHost),
]

private let lengths: [MalformedHead] = [
    .init(open + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", .duplicateContentLength),
    .init(open + "Content-Length: 5\r\nContent-length: 6\r\n\r\nhello", .duplicateContentLength),
    .init(open + "Content-Length: 5, 5\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: 5,6\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: +5\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: -5\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: 5 6\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: 0x5\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: 5.0\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: 5e1\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: \"5\"\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: 1_000\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: \u{B2}\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length:\r\n\r\nhello", .badContentLength),
    .init(open + "Content-Length: 9223372036854775808\r\n\r\n", .badContentLength),
    .init(open + "Content-Length: 18446744073709551616\r\n\r\n", .badContentLength),
    .init(open + "Content-Length: 18446744073709551621\r\n\r\n", .badContentLength),
    .init(open + "Content-Length: 00000000000000000005\r\n\r\n", .badContentLength),
]

private let codings: [MalformedHead] = [
    .init(open + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", .conflictingFraming),
    .init(open + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingFraming),
    .init(open + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingFraming),
    .init("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingFraming),
    .init(open + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked, chunked\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked, gzip\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked,\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: ,chunked\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding:\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: \"chunked\"\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked;q=1\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chunked\u{B}\r\n\r\n", .badFieldValue),
    .init(open + "Transfer-Encoding: \u{A0}chunked\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: chun ked\r\n\r\n", .badTransferEncoding),
    .init(open + "Transfer-Encoding: gzip, chunked\r\n\r\n", .unsupportedTransferCoding, 501),
    .init(open + "Transfer-Encoding: gzip\r\n\r\n", .unsupportedTransferCoding, 501),
    .init(open + "Transfer-Encoding: identity\r\n\r\n", .unsupportedTransferCoding, 501),
    .init(open + "Transfer-Encoding: xchunked\r\n\r\n", .unsupportedTransferCoding, 501),
    .init(open + "Transfer-Encoding: cow\r\n\r\n", .unsupportedTransferCoding, 501),
]

private let options: [MalformedHead] = [
    .init(open + "Expect: 200-ok\r\n\r\n", .badExpect, 417),
    .init(open + "Expect: 100-continue, x\r\n\r\n", .badExpect, 417),
    .init(open + "Connection: Content-Length\r\nContent-Length: 5\r\n\r\nhello", .badConnection),
    .init(open + "Connection: close, Host\r\n\r\n", .badConnection),
    .init(open + "Connection: authorization\r\n\r\n", .badConnection),
    .init(open + "Connection: keep-alive, X-Forwarded-For\r\n\r\n", .badConnection),
    .init(open + "Connection: waystation-timeout\r\n\r\n", .badConnection),
    .init(open + "Connection: close x\r\n\r\n", .badConnection),
    .init(open + "Connection: \"close\"\r\n\r\n", .badConnection),
    .init(open + "Connection: clo\u{E9}se\r\n\r\n", .badConnection),
]
