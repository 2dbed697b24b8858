/// The part of a path that tells what is asked for, and not of which: `/api/v1/orders/*` of `/api/v1/orders/1723/lines`.
///
/// It has two segments, and before them what leads up to a version (`v1`, `v58.0`, the `2` of `/rest/api/2`) among the first
/// four. A segment that is an identifier stands as `*`: one of digits, with three of them or more, or with a digit beside
/// punctuation (`1723`, `ch_3Px9z0`, `INV-7`). It has 64 bytes at most.
enum PathKind {
    private static let longest = 64
    /// A version may be the fourth segment, and two follow it.
    private static let mostSegments = 6

    /// The kind of the path of `target`, which has a slash before it or not, and maybe a query behind it.
    static func of(_ target: String) -> String {
        let end = target.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        var path = target.utf8[..<(end ?? target.utf8.endIndex)]
        if path.first == UInt8(ascii: "/") { path.removeFirst() }
        let segments = path.split(
            separator: UInt8(ascii: "/"),
            maxSplits: mostSegments,
            omittingEmptySubsequences: false
        )
        let version = segments.prefix(mostSegments - 2).indices.last { isVersion(segments, $0) }
        var kind = ""
        for (place, segment) in segments.prefix((version ?? -1) + 3).enumerated() {
            kind.append("/")
            if place > (version ?? -1), isIdentifier(segment) {
                kind.append("*")
                continue
            }
            for byte in segment.prefix(longest + 1 - min(kind.utf8.count, longest + 1)) {
                kind.unicodeScalars.append(byte > 0x20 && byte < 0x7F ? Unicode.Scalar(byte) : "?")
            }
        }
        return kind.isEmpty ? "/" : kind
    }

    private static func isVersion(_ segments: [Substring.UTF8View], _ place: Int) -> Bool {
        let segment = segments[place]
        if segment.count <= 2, segment.allSatisfy(isDigit), !segment.isEmpty {
            return place > 0 && segments[place - 1].elementsEqual("api".utf8)
        }
        guard segment.first == UInt8(ascii: "v"), let second = segment.dropFirst().first, isDigit(second)
        else { return false }
        return segment.dropFirst().allSatisfy { isDigit($0) || $0 == UInt8(ascii: ".") }
    }

    private static func isIdentifier(_ segment: Substring.UTF8View) -> Bool {
        var (digits, marks) = (0, 0)
        for byte in segment {
            if isDigit(byte) {
                digits += 1
            } else if !isLetter(byte) {
                marks += 1
            }
        }
        return digits >= 3 || digits > 0 && (marks > 0 || digits == segment.count)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
}
