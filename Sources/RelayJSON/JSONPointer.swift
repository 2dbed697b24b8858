/// A JSON pointer (RFC 6901): the way from a document to one of its values.
public struct JSONPointer: Sendable {
    /// One step down: a member of that name, or of an array the element of that index.
    struct Step: Sendable, Hashable {
        let name: [UInt8]
        /// Nil when the token is no array index: only digits, no leading zero.
        let index: Int?

        init(_ token: String) {
            name = Array(token.utf8)
            let isIndex =
                !name.isEmpty && name.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
                && (name.count == 1 || name[0] != UInt8(ascii: "0"))
            index = isIndex ? Int(token) : nil
        }
    }

    /// Unescaped; none for the whole document.
    public let tokens: [String]
    let steps: [Step]

    /// The way down by those names and indices; none is the whole document.
    public init(tokens: [String]) {
        self.tokens = tokens
        steps = tokens.map(Step.init)
    }

    /// Reads the text of a pointer: empty, or a slash before every token.
    public init(parsing text: String) throws(JSONPointerError) {
        guard !text.isEmpty else {
            self.init(tokens: [])
            return
        }
        var tokens: [String] = []
        var token: [UInt8] = []
        var isAfterTilde = false
        var isFirst = true
        for byte in text.utf8 {
            if isFirst {
                guard byte == UInt8(ascii: "/") else { throw .noLeadingSlash }
                isFirst = false
            } else if isAfterTilde {
                switch byte {
                case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
                default: throw .invalidEscape
                }
                isAfterTilde = false
            } else if byte == UInt8(ascii: "~") {
                isAfterTilde = true
            } else if byte == UInt8(ascii: "/") {
                tokens.append(String(decoding: token, as: UTF8.self))
                token.removeAll()
            } else {
                token.append(byte)
            }
        }
        if isAfterTilde { throw .invalidEscape }
        tokens.append(String(decoding: token, as: UTF8.self))
        self.init(tokens: tokens)
    }

    /// The pointer as it is written, `~` and `/` in tokens escaped.
    public var text: String {
        var bytes: [UInt8] = []
        for step in steps {
            bytes.append(UInt8(ascii: "/"))
            for byte in step.name {
                switch byte {
                case UInt8(ascii: "~"): bytes += [UInt8(ascii: "~"), UInt8(ascii: "0")]
                case UInt8(ascii: "/"): bytes += [UInt8(ascii: "~"), UInt8(ascii: "1")]
                default: bytes.append(byte)
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The pointer one step further down.
    public func appending(_ token: String) -> JSONPointer { JSONPointer(tokens: tokens + [token]) }
}

// Tokens are compared as bytes: String's own equality takes canonically equivalent spellings for one.
extension JSONPointer: Hashable {
    /// Whether both take the same way; tokens are compared as bytes.
    public static func == (lhs: JSONPointer, rhs: JSONPointer) -> Bool { lhs.steps == rhs.steps }
    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(steps) }
}

/// Why a text is no JSON pointer.
public enum JSONPointerError: Error, Sendable {
    /// The text is not empty and does not begin with a slash.
    case noLeadingSlash
    /// A tilde is followed by neither 0 nor 1.
    case invalidEscape

    /// The fault in words.
    public var message: String {
        switch self {
        case .noLeadingSlash: "a JSON pointer is empty or begins with \"/\""
        case .invalidEscape: "in a JSON pointer \"~\" stands only as \"~0\" (for ~) or \"~1\" (for /)"
        }
    }
}
