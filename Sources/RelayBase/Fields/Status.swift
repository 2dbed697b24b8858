/// A response status code (RFC 9110 §15).
public struct Status: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The code: 100 to 599 in a message that was parsed.
    public let rawValue: UInt16

    /// Takes a code as it is.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Takes a code as it is written in the source.
    public init(integerLiteral value: UInt16) { rawValue = value }

    /// The first digit, or nil for a code outside 200–599, which is a protocol fault and not an answer.
    public var `class`: Class? {
        switch rawValue {
        case 200..<300: .success
        case 300..<400: .redirection
        case 400..<500: .clientError
        case 500..<600: .serverError
        default: nil
        }
    }

    /// The four classes of final answers.
    public enum Class: UInt8, Hashable, Sendable {
        /// 200 to 299.
        case success = 2
        /// 300 to 399.
        case redirection = 3
        /// 400 to 499.
        case clientError = 4
        /// 500 to 599.
        case serverError = 5
    }

    /// Whether the code is one of 200 to 299.
    public var isSuccess: Bool { self.class == .success }
    /// Whether the code is one of 300 to 399.
    public var isRedirection: Bool { self.class == .redirection }
    /// Whether the code is one of 400 to 499.
    public var isClientError: Bool { self.class == .clientError }
    /// Whether the code is one of 500 to 599.
    public var isServerError: Bool { self.class == .serverError }

    /// Whether a response with this status never has content, whatever its header says (RFC 9110 §6.4.1).
    public var forbidsContent: Bool {
        rawValue < 200 || rawValue == 204 || rawValue == 304
    }
}

extension Status: CustomStringConvertible {
    /// The code and, for one that RFC 9110 §15 knows, its phrase: `404 Not Found`.
    public var description: String {
        let phrase = "\(reasonPhrase)"
        return phrase.isEmpty ? "\(rawValue)" : "\(rawValue) \(phrase)"
    }
}
