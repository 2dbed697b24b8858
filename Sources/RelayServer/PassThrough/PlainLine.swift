import RelayBase
import RelayHTTP
import RelayJSON

/// Reads lines where they stand, and writes each as the request that it stands for.
///
/// A line that is not plain, for whatever reason, is left to `Submission`; one that is taken means the same to both.
@safe struct PlainLine: ~Copyable {
    private enum Field {
        static let job = 0
        static let request = 1
        static let fields = 2
        static let query = 3
    }

    private var outline = JSONOutline([[], ["request"], ["request", "headers"], ["request", "query"]])
    /// The request; its head ends with `Content-Length`.
    private(set) var request = PassThroughOutput()
    /// The caller's name for the job, as a place in the line; empty where there is none.
    private(set) var id = 0..<0
    /// The route's name, and where the fields begin, as places in the request.
    private(set) var route = 0..<0
    private(set) var fields = 0

    /// The parts of the request that a line gives, as members of the outline.
    private struct Parts {
        var method: Range<Int>?
        var path = 0..<0
        var content: JSONOutline.Member?
        var isJSON = false
        /// Whether the content was named before the fields.
        var isFirst = false
        var hasFields = false
    }

    /// - Returns: false where the line is not plain; what is written then means nothing.
    mutating func read(_ line: Span<UInt8>) -> Bool {
        guard (try? outline.read(line)) != nil, outline.isWhole else { return false }
        id = 0..<0
        var parts = Parts()
        var name = 0..<0
        for member in outline.members {
            guard member.isNamePlain else { return false }
            switch member.object {
            case Field.job:
                switch member.name.count {
                case 2 where line.stands("id", member.name):
                    guard let text = text(member), Submission.idLengths.contains(text.count) else {
                        return false
                    }
                    id = text
                case 5 where line.stands("route", member.name):
                    guard let text = text(member) else { return false }
                    name = text
                case 4 where line.stands("mode", member.name):
                    guard let text = text(member), text.count == 4, line.stands("sync", text) else {
                        return false
                    }
                case 7 where line.stands("request", member.name):
                    guard member.kind == .object else { return false }
                default: return false
                }
            case Field.request: guard take(member, line, &parts) else { return false }
            default: guard text(member) != nil else { return false }
            }
        }
        guard !name.isEmpty else { return false }
        return unsafe line.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            return unsafe write(name, parts, line, base)
        }
    }

    /// The place of a string's text; nil where it is none, or would have to be decoded.
    @inline(__always)
    private func text(_ member: JSONOutline.Member) -> Range<Int>? {
        member.kind == .string && member.isPlain ? member.value : nil
    }

    /// A member of the request; names that it may have and that are told apart by their length alone are few.
    private func take(_ member: JSONOutline.Member, _ line: Span<UInt8>, _ parts: inout Parts) -> Bool {
        switch member.name.count {
        case 4 where line.stands("path", member.name):
            guard let text = text(member) else { return false }
            parts.path = text
        case 4 where line.stands("json", member.name), 4 where line.stands("text", member.name):
            parts.isJSON = line[member.name.lowerBound] == UInt8(ascii: "j")
            guard parts.content == nil, parts.isJSON || member.kind == .string else { return false }
            parts.content = member
            parts.isFirst = !parts.hasFields
        case 5 where line.stands("query", member.name): return member.kind == .object
        case 6 where line.stands("method", member.name):
            guard let text = text(member), !text.isEmpty else { return false }
            parts.method = text
        case 7 where line.stands("headers", member.name):
            guard member.kind == .object else { return false }
            parts.hasFields = true
        default: return false
        }
        return true
    }

    // MARK: The request

    private mutating func write(
        _ name: Range<Int>,
        _ parts: Parts,
        _ line: Span<UInt8>,
        _ base: UnsafePointer<UInt8>
    ) -> Bool {
        request.clear()
        if let method = parts.method { unsafe request.put(base, method) } else { request.put("POST") }
        request.put(" /r/")
        route = request.count..<request.count + name.count
        unsafe request.put(base, name)
        if unsafe parts.path.isEmpty || base[parts.path.lowerBound] != UInt8(ascii: "/") { request.put("/") }
        unsafe request.put(base, parts.path)
        guard unsafe writeQuery(parts, line, base) else { return false }
        request.put(" HTTP/1.1\r\n")
        fields = request.count
        request.put("Host: line\r\n")
        guard unsafe writeFields(parts, line, base) else { return false }
        request.put("Content-Length: ")
        guard let content = parts.content else {
            request.put("0\r\n\r\n")
            return true
        }
        if content.isPlain {
            var place = content.value
            if parts.isJSON, content.kind == .string { place = place.lowerBound - 1..<place.upperBound + 1 }
            request.put(decimal: place.count)
            request.put("\r\n\r\n")
            unsafe request.put(base, place)
            return true
        }
        guard let bytes = decoded(content, isJSON: parts.isJSON, line) else { return false }
        request.put(decimal: bytes.count)
        request.put("\r\n\r\n")
        request.put(bytes)
        return true
    }

    /// Content that does not stand in the line as it is sent.
    @inline(never)
    private func decoded(_ content: JSONOutline.Member, isJSON: Bool, _ line: Span<UInt8>) -> [UInt8]? {
        guard isJSON else { return JSONScan.string(content.value, isEscaped: true, in: line) }
        var place = content.value
        if content.kind == .string { place = place.lowerBound - 1..<place.upperBound + 1 }
        return try? JSONScan.compact(line.extracting(place))
    }

    /// Parameters whose bytes all stand for themselves.
    @inline(__always)
    private mutating func writeQuery(
        _ parts: Parts,
        _ line: Span<UInt8>,
        _ base: UnsafePointer<UInt8>
    ) -> Bool {
        var hasQuery: Bool?
        for member in outline.members where member.object == Field.query {
            let isFirst = hasQuery ?? parts.path.allSatisfy { line[$0] != UInt8(ascii: "?") }
            hasQuery = false
            request.put(isFirst ? "?" : "&")
            guard member.name.allSatisfy({ isUnreserved(line[$0]) }),
                member.value.allSatisfy({ isUnreserved(line[$0]) })
            else { return false }
            unsafe request.put(base, member.name)
            request.put("=")
            unsafe request.put(base, member.value)
        }
        return true
    }

    /// The type of JSON stands where the content was named, unless the caller says another.
    @inline(__always)
    private mutating func writeFields(
        _ parts: Parts,
        _ line: Span<UInt8>,
        _ base: UnsafePointer<UInt8>
    ) -> Bool {
        var saysType = !parts.isJSON
        if parts.hasFields {
            for (index, member) in outline.members.enumerated() where member.object == Field.fields {
                guard isPlainName(member.name, line), isFirstOfItsName(index, line) else { return false }
                if member.name.count == 12, line.standsInAnyCase("content-type", member.name) {
                    saysType = true
                }
            }
        }
        if !saysType, parts.isFirst { request.put("Content-Type: application/json\r\n") }
        if parts.hasFields {
            for member in outline.members where member.object == Field.fields {
                unsafe request.put(base, member.name)
                request.put(": ")
                unsafe request.put(base, member.value)
                request.put("\r\n")
            }
        }
        if !saysType, !parts.isFirst { request.put("Content-Type: application/json\r\n") }
        return true
    }

    /// Whether it is a token, and none of the connection's, which the request's own reader would leave out.
    private func isPlainName(_ name: Range<Int>, _ line: Span<UInt8>) -> Bool {
        name.allSatisfy { isTokenByte(line[$0]) }
            && !(name.count == 10 && line.standsInAnyCase("connection", name))
    }

    /// A later field of a job takes the place of an earlier one of the same name.
    private func isFirstOfItsName(_ index: Int, _ line: Span<UInt8>) -> Bool {
        let name = outline.members[index].name
        for member in outline.members[..<index]
        where member.object == Field.fields && member.name.count == name.count {
            let isSame = zip(member.name, name).allSatisfy { lowercased(line[$0]) == lowercased(line[$1]) }
            if isSame { return false }
        }
        return true
    }
}

/// Letters, digits, `-`, `.`, `_` and `~` (RFC 3986 §2.3).
private func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        true
    default: false
    }
}

extension Span<UInt8> {
    /// Whether that text, as long as the place, stands there.
    @inline(__always)
    fileprivate func stands(_ text: StaticString, _ place: Range<Int>) -> Bool {
        for index in 0..<text.utf8CodeUnitCount
        where unsafe self[place.lowerBound + index] != text.utf8Start[index] {
            return false
        }
        return true
    }

    /// The same, whatever the case of its letters; the text is in lower case.
    fileprivate func standsInAnyCase(_ text: StaticString, _ place: Range<Int>) -> Bool {
        for index in 0..<text.utf8CodeUnitCount
        where unsafe lowercased(self[place.lowerBound + index]) != text.utf8Start[index] {
            return false
        }
        return true
    }
}
