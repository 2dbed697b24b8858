import RelayBase

/// Finds what is probably a secret in a text that may not even be JSON, by the name in front of it.
///
/// A file with a slip in it cannot be understood, and its lines are shown all the same; a tolerant lexer keeps
/// the values of keys that sound like secrets out of them.
enum SecretMask {
    private static let exactNames: Set<String> = ["value", "key", "certificate", "cookie"]
    private static let parts = [
        "secret", "token", "password", "passwd", "credential", "authorization", "api_key", "api-key",
        "apikey",
    ]

    /// The ranges of values, quotes included, that no message may show.
    static func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var offset = 0
        var name: Range<Int>?
        var isAfterSensitiveName = false
        while offset < bytes.count {
            switch bytes[offset] {
            // Single quotes are a slip that is told of, and what stands in them is no less a secret.
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let end = stringEnd(in: bytes, from: offset)
                // The colon may be what is missing.
                let isAfterName = name.map { isSensitive(bytes[$0]) } ?? false
                if isAfterSensitiveName || isAfterName { ranges.append(offset..<end) }
                isAfterSensitiveName = false
                name = offset..<end
                offset = end
            case UInt8(ascii: ":"):
                if let name { isAfterSensitiveName = isSensitive(bytes[name]) }
                name = nil
                offset += 1
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            case UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["),
                UInt8(ascii: "]"):
                isAfterSensitiveName = false
                name = nil
                offset += 1
            default:
                let start = offset
                while offset < bytes.count, !isPunctuation(bytes[offset]),
                    isAfterSensitiveName || bytes[offset] != UInt8(ascii: ":")
                { offset += 1 }
                if isAfterSensitiveName {
                    ranges.append(start..<offset)
                } else if offset < bytes.count, bytes[offset] == UInt8(ascii: ":") {
                    // A name without quotes, as in other languages.
                    isAfterSensitiveName = isSensitive(name: bytes[start..<offset])
                    offset += 1
                }
                name = nil
            }
        }
        return ranges
    }

    /// The offset after the string's closing quote, or the end of its line when that is missing.
    private static func stringEnd(in bytes: [UInt8], from start: Int) -> Int {
        var offset = start + 1
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\n") {
            if bytes[offset] == bytes[start] { return offset + 1 }
            offset += bytes[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(offset, bytes.count)
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            true
        default: false
        }
    }

    private static func isSensitive(_ quoted: ArraySlice<UInt8>) -> Bool {
        isSensitive(String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self))
    }

    private static func isSensitive(name: ArraySlice<UInt8>) -> Bool {
        isSensitive(String(String(decoding: name, as: UTF8.self).filter { $0 != " " && $0 != "\t" }))
    }

    /// Whether a secret is likely to stand under that name.
    static func isSensitive(_ name: String) -> Bool {
        let name = name.lowercased()
        if name == "credential" || name == "credentials" || name == "token_url" { return false }
        return exactNames.contains(name) || parts.contains { name.contains(text: $0) }
    }
}
