/// Where a request goes below the upstream's base: a path, and a query where it has one.
///
/// The text of the source stands in it as it is, percent-encoded by its author. A value put in is encoded as one
/// segment (RFC 3986 §3.3), so that no value leads elsewhere or begins a query:
///
/// ```swift
/// "orders/7?full=1"
/// "users/\(id)"
/// ["users", id, "orders"]
/// RequestPath(next)
/// ```
///
/// A segment that is empty, `.` or `..` would make another path of it: the request then ends with the kind
/// `preparation` and nothing sent.
public struct RequestPath: Sendable, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral {
    /// The path, percent-encoded.
    public let text: String
    /// Why no request can go there.
    package let flaw: Failure?

    /// A path as it is, percent-encoded by the caller, with a query where it has one.
    public init(_ text: String) {
        self.text = text
        flaw = nil
    }

    /// A path as it is written.
    public init(stringLiteral text: String) { self.init(text) }

    /// The path of those segments, each percent-encoded.
    public init(segments: some Sequence<any CustomStringConvertible>) {
        var interpolation = StringInterpolation(literalCapacity: 0, interpolationCount: 0)
        var isFirst = true
        for segment in segments {
            if !isFirst { interpolation.appendLiteral("/") }
            isFirst = false
            interpolation.append(segment.description)
        }
        self.init(stringInterpolation: interpolation)
    }

    /// The path of those segments, each percent-encoded.
    public init(arrayLiteral segments: any CustomStringConvertible...) { self.init(segments: segments) }

    /// The path as it is written, with every value in it percent-encoded.
    public init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
        flaw = stringInterpolation.flaw
    }

    /// A path while it is put together.
    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        var flaw: Failure?
        private var isInQuery = false

        /// Begins with nothing.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// The text of the source, as it is.
        public mutating func appendLiteral(_ literal: String) {
            isInQuery = isInQuery || literal.utf8.contains(UInt8(ascii: "?"))
            text += literal
        }

        /// A value, percent-encoded.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            append(value.description)
        }

        /// A part of a path or query as it is, percent-encoded by the caller.
        public mutating func appendInterpolation(raw text: String) { appendLiteral(text) }

        fileprivate mutating func append(_ value: String) {
            text += percentEncoded(value)
            guard !isInQuery, ["", ".", ".."].contains(value) else { return }
            flaw = Failure.preparation(
                "a segment of the path is \(value.isEmpty ? "empty" : "\"\(value)\""), which leads elsewhere"
            )
        }
    }
}
