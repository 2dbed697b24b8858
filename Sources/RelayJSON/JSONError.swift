/// Why a text is not the JSON that is asked for, and where.
///
/// `message` names what is wrong, never what the text holds beyond one punctuation byte.
public struct JSONError: Error, Sendable, Equatable {
    public enum Code: String, Sendable {
        case byteOrderMark
        case controlCharacter
        case duplicateName
        case invalidEscape
        case invalidNumber
        case invalidUTF8
        case loneSurrogate
        case tooDeep
        case trailingComma
        case trailingContent
        case unexpectedByte
        case unexpectedEnd
    }

    public let code: Code
    /// Offset in bytes of the first byte that is wrong; the length of the text when it ends too early.
    public let offset: Int
    public let message: String

    public init(_ code: Code, at offset: Int, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }
}

/// How much of a hostile text is looked at before it is refused.
public struct JSONLimits: Sendable {
    /// Arrays and objects inside one another, the outermost included; 1…512, default 64.
    public let maxDepth: Int

    /// Clamps `maxDepth` to 1…512: a tree is freed by recursion.
    public init(maxDepth: Int = 64) {
        self.maxDepth = min(max(maxDepth, 1), 512)
    }
}
