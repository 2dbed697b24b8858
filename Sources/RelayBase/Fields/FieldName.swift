/// A header field name: a token (RFC 9110 §5.1) held in lower case, so that equality ignores case.
public struct FieldName: Hashable, Sendable {
    @usableFromInline package let bytes: [UInt8]

    /// Fails when `name` is empty or has a byte outside `tchar` (RFC 9110 §5.6.2).
    public init?(_ name: String) {
        guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else { return nil }
        bytes = name.utf8.map(lowercased)
    }

    private init(known name: StaticString) {
        bytes = name.description.utf8.map(lowercased)
    }

    /// The bit that stands for the name among those of a list; other names may have the same.
    var mark: UInt64 { FieldName.mark(bytes[0], bytes[bytes.count - 1], bytes.count) }

    /// The same of a name by its first and last byte and its length; no matter in what case.
    @inline(__always)
    static func mark(_ first: UInt8, _ last: UInt8, _ count: Int) -> UInt64 {
        // These factors tell all but five of the names above apart.
        let sum = Int(first | 0x20) &+ Int(last | 0x20) &* 57 &+ count &* 7
        return 1 << UInt64(truncatingIfNeeded: sum & 63)
    }

    /// The bits of several names.
    package struct Marks: Sendable {
        let bits: UInt64

        package init(_ names: [FieldName]) { bits = names.reduce(0) { $0 | $1.mark } }
    }

    /// The name in lower case.
    public var lowercasedText: String { String(decoding: bytes, as: UTF8.self) }
}

// The fields that a program reads and writes most.
extension FieldName {
    /// Media types the client takes (RFC 9110 §12.5.1).
    public static let accept = FieldName(known: "accept")
    /// Charsets the client takes; deprecated (RFC 9110 §12.5.2).
    public static let acceptCharset = FieldName(known: "accept-charset")
    /// Content codings the client takes (RFC 9110 §12.5.3).
    public static let acceptEncoding = FieldName(known: "accept-encoding")
    /// Languages the client takes (RFC 9110 §12.5.4).
    public static let acceptLanguage = FieldName(known: "accept-language")
    /// The credentials of the request (RFC 9110 §11.6.2).
    public static let authorization = FieldName(known: "authorization")
    /// Codings applied to the content (RFC 9110 §8.4).
    public static let contentEncoding = FieldName(known: "content-encoding")
    /// Bytes of the content (RFC 9110 §8.6).
    public static let contentLength = FieldName(known: "content-length")
    /// Media type of the content (RFC 9110 §8.3).
    public static let contentType = FieldName(known: "content-type")
    /// When the message was made (RFC 9110 §6.6.1).
    public static let date = FieldName(known: "date")
    /// Where to go, or what was made (RFC 9110 §10.2.2).
    public static let location = FieldName(known: "location")
    /// How long to leave the server alone (RFC 9110 §10.2.3).
    public static let retryAfter = FieldName(known: "retry-after")
    /// The program that asks (RFC 9110 §10.1.5).
    public static let userAgent = FieldName(known: "user-agent")
    /// The credentials the server wants (RFC 9110 §11.6.1).
    public static let wwwAuthenticate = FieldName(known: "www-authenticate")
    /// The key that makes repeating a request safe (draft-ietf-httpapi-idempotency-key-header §2).
    public static let idempotencyKey = FieldName(known: "idempotency-key")
}

// The fields that the relay itself deals with.
extension FieldName {
    package static let contentLocation = FieldName(known: "content-location")
    package static let range = FieldName(known: "range")
    package static let refresh = FieldName(known: "refresh")
    /// Related resources (RFC 8288).
    package static let link = FieldName(known: "link")
    package static let connection = FieldName(known: "connection")
    package static let ifMatch = FieldName(known: "if-match")
    package static let ifNoneMatch = FieldName(known: "if-none-match")
    package static let ifModifiedSince = FieldName(known: "if-modified-since")
    package static let origin = FieldName(known: "origin")
    package static let expect = FieldName(known: "expect")
    package static let host = FieldName(known: "host")
    package static let baggage = FieldName(known: "baggage")
    package static let prefer = FieldName(known: "prefer")
    package static let preferenceApplied = FieldName(known: "preference-applied")
    package static let priority = FieldName(known: "priority")
    package static let proxyStatus = FieldName(known: "proxy-status")
    package static let serverTiming = FieldName(known: "server-timing")
    package static let traceparent = FieldName(known: "traceparent")
    package static let tracestate = FieldName(known: "tracestate")
    package static let transferEncoding = FieldName(known: "transfer-encoding")
    package static let via = FieldName(known: "via")
    package static let webhookID = FieldName(known: "webhook-id")
    package static let webhookTimestamp = FieldName(known: "webhook-timestamp")
    package static let webhookSignature = FieldName(known: "webhook-signature")
}

/// Whether `byte` may stand in a token (RFC 9110 §5.6.2).
package func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
        UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
        true
    default:
        false
    }
}

/// Whether `byte` may stand in a field value: visible, space, tab or obs-text (RFC 9110 §5.5).
package func isFieldValueByte(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F || byte == 0x09
}

extension String {
    /// Whether every byte of it is one of those; looks at them where they stand.
    @inline(__always)
    package func consists(of isGood: (UInt8) -> Bool) -> Bool {
        unsafe utf8.withContiguousStorageIfAvailable { unsafe $0.allSatisfy(isGood) }
            ?? utf8.allSatisfy(isGood)
    }
}

@inline(__always)
package func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}

/// Space or tab: what may stand around a field value (RFC 9110 §5.6.3).
package func isBlankByte(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

extension String {
    /// Without blanks around it.
    package var trimmingBlanks: String {
        var text = Substring(self)
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
