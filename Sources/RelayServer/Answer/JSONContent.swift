import RelayCore
import RelayJSON

/// A body as the value of a member: as it is where it is JSON, else as text, else in base 64.
struct JSONContent: Sendable {
    let bytes: [UInt8]
    /// The member's name.
    let form: Form

    enum Form: String, Sendable {
        case json
        case text
        case base64
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if (try? JSONScan.validate(bytes.span)) != nil {
            form = .json
        } else {
            form = JSONContent.isText(bytes) ? .text : .base64
        }
    }

    init(_ body: Body) {
        if case .bytes(let bytes) = body { self.init(bytes) } else { self.init([]) }
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
            return true
        } catch {
            return false
        }
    }

    /// Bytes of the encoded value.
    var length: Int {
        switch form {
        case .json: bytes.count
        case .text: JSONText.escapedLength(of: bytes.span) + 2
        case .base64: (bytes.count + 2) / 3 * 4 + 2
        }
    }

    /// The whole value.
    var encoded: [UInt8] {
        var encoded: [UInt8] = []
        append(0..<bytes.count, asLine: false, to: &encoded)
        return encoded
    }

    /// Appends a part of the encoded value; in base 64 it begins at a multiple of three.
    ///
    /// As a part of a line the line breaks between its tokens are blanks; text and base 64 have none.
    func append(_ range: Range<Int>, asLine: Bool, to encoded: inout [UInt8]) {
        if form != .json, range.lowerBound == 0 { encoded.append(UInt8(ascii: "\"")) }
        switch form {
        case .json where asLine:
            encoded += bytes[range].lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        case .json: encoded += bytes[range]
        case .text: JSONText.append(escaping: bytes.span.extracting(range), to: &encoded)
        case .base64: encoded += base64(Array(bytes[range])).utf8
        }
        if form != .json, range.upperBound == bytes.count { encoded.append(UInt8(ascii: "\"")) }
    }
}
