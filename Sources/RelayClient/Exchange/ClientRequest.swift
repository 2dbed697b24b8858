import RelayBase
import RelayHTTP

/// A request that is fit to be sent.
struct ClientRequest: Sendable {
    let method: Method
    let head: [UInt8]
    let body: [UInt8]

    init(
        method: Method,
        target: String,
        fields: HeaderFields,
        body: [UInt8]
    ) throws(RelayClientError) {
        guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(isTokenByte) else {
            throw RelayClientError(.invalidRequest, "cannot send a request: the method is no HTTP token")
        }
        guard target.hasPrefix("/"), target.utf8.allSatisfy(isTargetByte) else {
            throw RelayClientError(
                .invalidRequest,
                "cannot send a request: its path must begin with a slash and hold only visible ASCII;"
                    + " percent-encode the rest"
            )
        }
        for name in ClientRequest.reserved where fields.contains(name) {
            throw RelayClientError(
                .invalidRequest,
                "cannot send a request with a field \(name.lowercasedText): the client sets it itself"
            )
        }
        var head = OutputBuffer()
        HeadWriter.appendRequestLine(method, target, to: &head)
        head.append("Host: waystation\r\nConnection: close\r\n")
        if !fields.contains(.userAgent) {
            HeadWriter.appendField("User-Agent", Version.libraryUserAgent, to: &head)
        }
        HeadWriter.appendFields(fields, to: &head)
        if !body.isEmpty || method == .post || method == .put || method == .patch {
            HeadWriter.appendContentLength(UInt64(body.count), to: &head)
        }
        HeadWriter.appendLineEnd(to: &head)
        self.method = method
        self.head = head.bytes
        self.body = body
    }

    /// The target of a route's request: `/r/ROUTE/PATH`.
    static func target(route: String, path: RequestPath) throws(RelayClientError) -> String {
        if let flaw = path.flaw {
            throw RelayClientError(.invalidRequest, "cannot send a request: \(flaw.detail)")
        }
        let path = path.text
        let isPlain = route.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard !route.isEmpty, isPlain, route != ".", route != ".." else {
            throw RelayClientError(
                .invalidRequest,
                "cannot send a request: a route's name has only letters, digits, \"-\", \"_\" and \".\""
            )
        }
        return "/r/\(route)/" + (path.hasPrefix("/") ? path.dropFirst() : path[...])
    }

    private static let reserved: [FieldName] = [
        .host, .contentLength, .transferEncoding, .connection, .expect,
    ]
}

private func isTargetByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") }
