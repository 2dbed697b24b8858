import RelayJSON

/// Text as one word of a shell's command line; a word with control characters or marks that reorder text is for shells
/// that know `$'…'`, such as bash and zsh, and shows none of them to the terminal.
func shellWord(_ text: String) -> String {
    if isPlainWord(text), !text.isEmpty { return text }
    guard safe(text) == text else { return "$'\(text.utf8.map(octal).joined())'" }
    return "'\(text.map { $0 == "'" ? "'\\''" : String($0) }.joined())'"
}

/// Whether every byte of the text means itself to a shell behind its first.
func isPlainWord(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
        byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || Array("/._-=@+,:".utf8).contains(byte)
    }
}

/// Text as a string of JSON, with its quotes.
func quoted(_ text: String) -> String { String(decoding: JSONValue.string(text).encoded(), as: UTF8.self) }

/// `\ooo` of all that is not a letter or a digit.
private func octal(_ byte: UInt8) -> String {
    let scalar = Unicode.Scalar(byte)
    if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
        return String(scalar)
    }
    let digits = String(byte, radix: 8)
    return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
}
