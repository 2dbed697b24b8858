/// A request target in one of the four forms of RFC 9112 §3.2, split but not decoded.
package enum RequestTarget: Sendable, Equatable {
    /// `/path?query`; the path starts with its slash, the query comes without its question mark.
    case origin(path: String, query: String?)
    /// `http://authority/path?query`, as sent to a proxy; an absent path is `/`.
    case absolute(scheme: Scheme, authority: String, path: String, query: String?)
    /// `host:port`, for CONNECT only.
    case authority(String)
    /// `*`, for OPTIONS only.
    case asterisk

    /// The schemes an absolute target may have.
    package enum Scheme: String, Sendable {
        case http
        case https
    }
}

extension RequestTarget {
    /// Splits what a `RequestHead` holds as its target.
    ///
    /// Authority and asterisk forms are only told apart by the look; the caller compares them with the
    /// method.
    ///
    /// - Throws: `bad_target` when it has none of the forms, a fragment, or a user part in its authority.
    package static func parse(_ raw: String) throws(HTTPParseError) -> RequestTarget {
        let bytes = Array(raw.utf8)
        let span = bytes.span
        // The text is cut byte by byte below, so it must be the ASCII the head parser let through.
        guard span.firstNonVisible(from: 0) == span.count, !bytes.contains(UInt8(ascii: "#")) else {
            throw HTTPParseError(.badTarget)
        }
        if bytes == [UInt8(ascii: "*")] { return .asterisk }
        if bytes.first == UInt8(ascii: "/") {
            let (path, query) = splitQuery(bytes[...])
            return .origin(path: path, query: query)
        }
        if let scheme = scheme(of: span) {
            let rest = bytes[(scheme.rawValue.utf8.count + 3)...]
            let pathStart =
                rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            guard pathStart > rest.startIndex, isHost(span, rest.startIndex..<pathStart) else {
                throw HTTPParseError(.badTarget)
            }
            let (path, query) = splitQuery(rest[pathStart...])
            return .absolute(
                scheme: scheme,
                authority: span.text(rest.startIndex..<pathStart),
                path: path.isEmpty ? "/" : path,
                query: query
            )
        }
        guard let last = bytes.lastIndex(of: colon), last > 0, last + 1 < bytes.count,
            isHost(span, 0..<bytes.count)
        else { throw HTTPParseError(.badTarget) }
        return .authority(raw)
    }

    private static func scheme(of bytes: Span<UInt8>) -> Scheme? {
        if bytes.hasToken("https:", at: 0), bytes.hasSlashes(at: 6) { return .https }
        if bytes.hasToken("http:", at: 0), bytes.hasSlashes(at: 5) { return .http }
        return nil
    }

    private static func splitQuery(_ bytes: ArraySlice<UInt8>) -> (path: String, query: String?) {
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else {
            return (String(decoding: bytes, as: UTF8.self), nil)
        }
        return (
            String(decoding: bytes[..<mark], as: UTF8.self),
            String(decoding: bytes[(mark + 1)...], as: UTF8.self)
        )
    }
}

extension Span<UInt8> {
    fileprivate func hasSlashes(at index: Int) -> Bool {
        index + 1 < count && self[index] == UInt8(ascii: "/") && self[index + 1] == UInt8(ascii: "/")
    }
}
