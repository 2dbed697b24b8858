/// Text as one word of a shell's command line; a word with control characters or marks that reorder text is for shells
/// that know `$'…'`, such as bash and zsh, and shows none of them to the terminal.
func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: Array("/._-=@+,:".utf8).contains(byte)
        }
    }
    if isPlain, !text.isEmpty { return text }
    guard safe(text) == text else {
        return "$'\(text.utf8.map(octal).joined())'"
    }
    return "'\(text.map { $0 == "'" ? "'\\''" : String($0) }.joined())'"
}

/// `\ooo` of all that is not a letter or a digit.
private func octal(_ byte: UInt8) -> String {
    let scalar = Unicode.Scalar(byte)
    if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
        return String(scalar)
    }
    let digits = String(byte, radix: 8)
    return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
}
