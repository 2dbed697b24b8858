/// Makes text safe to show in a terminal and in one line of a log.
package enum JournalText {
    /// `text` with control and direction-changing characters written as escapes, cut at `limit` bytes of UTF-8.
    ///
    /// Line breaks and tabs become `\n`, `\r` and `\t`, other characters `\x1b` or `\u{202e}`; what was cut ends
    /// in `…`, which counts. `keepsLines` leaves line feeds as they are.
    package static func escaped(_ text: String, limit: Int, keepsLines: Bool = false) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        let mark = "…"
        var result = ""
        var room = limit
        var cut: (end: String.Index, room: Int)?
        for scalar in text.unicodeScalars {
            let piece = isUnsafe(scalar) && !(keepsLines && scalar == "\n") ? escape(scalar) : String(scalar)
            if cut == nil, room - piece.utf8.count < mark.utf8.count { cut = (result.endIndex, room) }
            guard piece.utf8.count <= room else {
                guard let cut, cut.room >= mark.utf8.count else { return result }
                return String(result[..<cut.end]) + mark
            }
            result += piece
            room -= piece.utf8.count
        }
        return result
    }

    /// Whether a terminal could act on it: C0 and C1 controls, line and paragraph separators, and the marks that
    /// reorder text (Unicode TR 36 §3.2).
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let digits = String(scalar.value, radix: 16)
            return scalar.value < 0x100
                ? "\\x" + String(repeating: "0", count: 2 - digits.count) + digits : "\\u{\(digits)}"
        }
    }
}
