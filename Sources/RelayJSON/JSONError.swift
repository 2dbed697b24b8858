/// Why a text is not the JSON that is asked for, and where.
///
/// `message` names what is wrong, never what the text holds beyond one punctuation byte.
package struct JSONError: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
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

    package let code: Code
    /// Offset in bytes of the first byte that is wrong; the length of the text when it ends too early.
    package let offset: Int
    package let message: String

    package init(_ code: Code, at offset: Int, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }
}

/// How much of a hostile text is looked at before it is refused.
package struct JSONLimits: Sendable {
    /// Arrays and objects inside one another, the outermost included; 1…512, default 64.
    package let maxDepth: Int

    /// Clamps `maxDepth` to 1…512: a tree is freed by recursion.
    package init(maxDepth: Int = 64) {
        self.maxDepth = min(max(maxDepth, 1), 512)
    }
}
