/// Fields that mean something to the far end, so that `Connection` must not list them (RFC 9110 §7.6.1).
///
/// Honouring such a listing would let a sender strip framing, identity or credentials from what the next
/// server sees; the head is refused instead.
enum EndToEndField {
    private static let names: [StaticString] = [
        "authorization", "cache-control", "cookie", "date", "etag", "expect", "forwarded", "host",
        "idempotency-key", "location", "prefer", "proxy-status", "range", "retry-after", "set-cookie",
        "signature", "traceparent", "tracestate", "vary", "via", "www-authenticate",
    ]
    private static let prefixes: [StaticString] = [
        "content-", "if-", "waystation-", "webhook-", "x-forwarded-",
    ]

    /// Whether the token in `range` names one.
    static func contains(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        for name in names
        where name.utf8CodeUnitCount == range.count && bytes.hasToken(name, at: range.lowerBound) {
            return true
        }
        for prefix in prefixes
        where prefix.utf8CodeUnitCount <= range.count && bytes.hasToken(prefix, at: range.lowerBound) {
            return true
        }
        return false
    }
}
