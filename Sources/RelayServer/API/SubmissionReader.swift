import RelayCore
import RelayJSON

/// Walks a submitted document and collects every error with its pointer.
struct SubmissionReader {
    private(set) var errors: [(pointer: String, message: String, hint: String?)] = []

    mutating func fail(_ pointer: String, _ message: String, hint: String? = nil) {
        guard errors.count < 32 else { return }
        errors.append((pointer, message, hint))
    }

    /// Visits the members of an object; an unknown one is an error with the nearest name, or with what `hints` says.
    mutating func members(
        _ value: JSONValue,
        _ pointer: String,
        _ known: [String],
        hints: [String: String] = [:],
        _ visit: (inout SubmissionReader, String, JSONValue) -> Void
    ) {
        guard case .object(let members) = value else {
            return fail(pointer, "an object belongs here")
        }
        for member in members {
            guard known.contains(member.name) else {
                let hint =
                    hints[member.name]
                    ?? nearestWord(to: member.name, among: known).map { "did you mean \"\($0)\"?" }
                fail(pointer + pointerToken(member.name), "there is no such member", hint: hint)
                continue
            }
            visit(&self, member.name, member.value)
        }
    }

    mutating func string(_ value: JSONValue, _ pointer: String) -> String? {
        guard case .string(let text) = value else {
            fail(pointer, "a string belongs here")
            return nil
        }
        return text
    }

    /// The members of an object of strings.
    mutating func strings(_ value: JSONValue, _ pointer: String) -> [(name: String, text: String)] {
        guard case .object(let members) = value else {
            fail(pointer, "an object belongs here")
            return []
        }
        var pairs: [(String, String)] = []
        for member in members {
            guard let text = string(member.value, pointer + pointerToken(member.name)) else { continue }
            pairs.append((member.name, text))
        }
        return pairs
    }
}

/// A member's name as one token of a JSON pointer (RFC 6901 §3), with its slash; a long one is cut.
func pointerToken(_ name: String) -> String {
    "/"
        + name.prefix(64).map { character in
            switch character {
            case "~": "~0"
            case "/": "~1"
            default: String(character)
            }
        }.joined()
}

/// Reads base 64 with padding (RFC 4648 §4); nil for anything else.
func decodedBase64(_ text: String) -> [UInt8]? {
    let input = Array(text.utf8)
    guard input.count % 4 == 0 else { return nil }
    let padding = input.suffix(2).count { $0 == UInt8(ascii: "=") }
    var output: [UInt8] = []
    output.reserveCapacity(input.count / 4 * 3)
    var group: UInt32 = 0
    for (index, byte) in input.enumerated() {
        let value: UInt32
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = UInt32(byte) + 4
        case UInt8(ascii: "+"): value = 62
        case UInt8(ascii: "/"): value = 63
        case UInt8(ascii: "=") where index >= input.count - padding: value = 0
        default: return nil
        }
        group = group << 6 | value
        if index % 4 == 3 {
            output += [
                UInt8(truncatingIfNeeded: group >> 16), UInt8(truncatingIfNeeded: group >> 8),
                UInt8(truncatingIfNeeded: group),
            ]
            group = 0
        }
    }
    output.removeLast(padding)
    return output
}
