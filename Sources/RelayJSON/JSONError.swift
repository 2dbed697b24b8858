/// Why a text is not the JSON that is asked for, and where.
///
/// `message` names what is wrong, never what the text holds beyond one punctuation byte.
public struct JSONError: Error, Sendable, Equatable {
    /// The fault.
    public enum Code: String, Sendable {
        /// The text begins with a byte order mark.
        case byteOrderMark
        /// A string holds an unescaped control character.
        case controlCharacter
        /// An object has a name twice.
        case duplicateName
        /// A backslash begins no escape of RFC 8259 §7.
        case invalidEscape
        /// A number does not follow the grammar of RFC 8259 §6.
        case invalidNumber
        /// The bytes are not UTF-8.
        case invalidUTF8
        /// An escape stands for half of a surrogate pair.
        case loneSurrogate
        /// Arrays and objects are inside one another deeper than ``JSONLimits/maxDepth``.
        case tooDeep
        /// A comma has nothing after it.
        case trailingComma
        /// Something follows the value.
        case trailingContent
        /// The byte cannot stand there.
        case unexpectedByte
        /// The text ends too early.
        case unexpectedEnd
    }

    /// The fault.
    public let code: Code
    /// Offset in bytes of the first byte that is wrong; the length of the text when it ends too early.
    public let offset: Int
    /// The fault in words.
    public let message: String

    package init(_ code: Code, at offset: Int, _ message: String) {
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
