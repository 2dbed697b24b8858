import RelayBase
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

        /// The same, without a `String`.
        var name: StaticString {
            switch self {
            case .json: "json"
            case .text: "text"
            case .base64: "base64"
            }
        }
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        form = JSONContent.form(of: bytes.span)
    }

    /// Bytes whose form is known.
    init(_ bytes: [UInt8], _ form: Form) {
        self.bytes = bytes
        self.form = form
    }

    static func form(of bytes: Span<UInt8>) -> Form {
        if mayBeJSON(bytes), (try? JSONScan.validate(bytes)) != nil { return .json }
        return isText(bytes) ? .text : .base64
    }

    /// Whether the first byte that is no blank may begin a value; most texts begin otherwise.
    private static func mayBeJSON(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where bytes[index] > UInt8(ascii: " ") {
            switch bytes[index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "-"),
                UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                return true
            default: return false
            }
        }
        return false
    }

    init(_ body: Body) {
        if case .bytes(let bytes) = body { self.init(bytes) } else { self.init([]) }
    }

    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes)
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
