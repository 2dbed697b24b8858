/// The room that a text has in an agent's answer, which is JSON on one line.
enum AnswerLimit {
    /// Bytes of a whole answer.
    static let answer = 65_536
    /// Bytes of a text as JSON, beside which stand the frame, an id and twice what upstreams wrote.
    static let text = answer - 8_192

    /// The text's beginning as far as there is room; whether all of it has.
    static func beginning(_ text: String) -> (String, isWhole: Bool) {
        var (kept, count) = (String.UnicodeScalarView(), 0)
        for scalar in text.unicodeScalars {
            count += width(scalar)
            guard count <= Self.text else { return (String(kept), false) }
            kept.append(scalar)
        }
        return (text, true)
    }

    /// The last lines that there is room for; whether these are all.
    static func lastLines(_ text: String) -> (String, isWhole: Bool) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var (first, count) = (lines.count, 0)
        for index in lines.indices.reversed() {
            count += lines[index].unicodeScalars.reduce(2) { $0 + width($1) }
            guard count <= Self.text else { break }
            first = index
        }
        guard first > 0 else { return (text, true) }
        return (lines[first...].joined(separator: "\n"), false)
    }

    /// Bytes of it in a string of JSON.
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x22, 0x5C, 0x08, 0x09, 0x0A, 0x0C, 0x0D: 2
        case ..<0x20: 6
        default: UTF8.width(scalar)
        }
    }
}
