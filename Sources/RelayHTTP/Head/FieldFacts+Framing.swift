import RelayBase

extension FieldFacts {
    /// Where a request's body ends, once all fields are read (RFC 9112 §6.3, without its leniencies).
    func requestFraming(minorVersion: Int) throws(HTTPParseError) -> BodyFraming {
        guard host != nil || minorVersion == 0 else { throw HTTPParseError(.missingHost) }
        if isChunked {
            // HTTP/1.0 had no transfer codings: such a message is faulty, and a proxy on the way may have
            // missed it.
            guard contentLength == nil, minorVersion == 1 else { throw HTTPParseError(.conflictingFraming) }
            return .chunked
        }
        if let contentLength { return .length(contentLength) }
        return .none
    }

    /// Where a response's body ends.
    func responseFraming(
        status: Status,
        minorVersion: Int,
        requestMethod: Method
    ) throws(HTTPParseError) -> BodyFraming {
        guard !isChunked || (contentLength == nil && minorVersion == 1) else {
            throw HTTPParseError(.conflictingFraming)
        }
        if status.rawValue < 200 {
            guard !isChunked, contentLength == nil else { throw HTTPParseError(.conflictingFraming) }
            return .none
        }
        if requestMethod == .head || status.forbidsContent { return .none }
        if isChunked { return .chunked }
        if let contentLength { return .length(contentLength) }
        return .untilClose
    }
}
