import RelayJSON

/// The member of an agent's answer that holds what upstreams wrote, each text by the number of its mark.
struct UntrustedMember {
    /// The object with the member alone; nil where there are no texts.
    let object: [UInt8]?

    /// Bytes of the member, of which a text has a share.
    static let longest = 2_048
    private static let longestText = 512

    /// Reads lines of JSON strings.
    init(lines: [UInt8]) {
        var (inner, left) = (JSONObjectWriter(), 0)
        let texts = lines.split(separator: UInt8(ascii: "\n")).compactMap {
            (try? JSONValue(parsing: Array($0)))?.text
        }
        // Room for the name, the braces and the number of those that are left out.
        var room = Self.longest - 48
        for (index, text) in texts.enumerated() {
            let shown = Self.shown(text)
            room -= JSONValue.string(shown).encoded().count + 8
            guard room >= 0, left == 0 else {
                left += 1
                continue
            }
            inner.member("\(index + 1)", shown)
        }
        if left > 0 { inner.member("left_out", left) }
        guard !texts.isEmpty else {
            object = nil
            return
        }
        var outer = JSONObjectWriter()
        outer.member("untrusted", json: inner.bytes)
        object = outer.bytes
    }

    /// Without what changes how a text is read, and no longer than its share.
    private static func shown(_ text: String) -> String {
        let whole = safe(text)
        guard whole.utf8.count > longestText else { return whole }
        var (short, count) = (String.UnicodeScalarView(), 0)
        for scalar in whole.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= longestText else { break }
            short.append(scalar)
        }
        return String(short) + "…"
    }
}
