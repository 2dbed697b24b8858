import RelayBase
import RelayJSON

/// Tells texts that can be no secret: what stands under an unknown key is shown only when it is one of these.
enum HarmlessText {
    static func isHarmless(_ text: String) -> Bool {
        words.contains(text) || isAmount(text) || isPlainURL(text)
    }

    /// The words of the configuration's own language.
    private static let words: Set<String> = {
        var words: Set<String> = ["any", "exhausted", "1xx", "2xx", "3xx", "4xx", "5xx", "http", "https"]
        words.formUnion(FailureKind.known.map(\.rawValue))
        words.formUnion(FailureGroup.allCases.map(\.rawValue))
        collect(.object(ConfigurationTable.root.objectShape), &words)
        return words
    }()

    private static func collect(_ shape: Shape, _ words: inout Set<String>) {
        switch shape {
        case .word(let choices): words.formUnion(choices)
        case .list(let element, _), .map(let element, _): collect(element, &words)
        case .either(let one, let other):
            collect(one, &words)
            collect(other, &words)
        case .object(let object): for field in object.fields { collect(field.shape, &words) }
        case .tagged(let tagged):
            for field in tagged.variants.flatMap(\.fields) { collect(field.shape, &words) }
        case .boolean, .integer, .number, .text, .anything: break
        }
    }

    /// A duration or a size; a text as long as a passphrase is none that anybody writes.
    private static func isAmount(_ text: String) -> Bool {
        text.utf8.count <= 12 && (DurationText.parse(text) != nil || SizeText.parse(text) != nil)
    }

    /// An HTTP address without userinfo, query and fragment, and without a part that may be a key: the addresses of
    /// some hooks are secrets as a whole.
    private static func isPlainURL(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let parts = text.dropFirst(scheme.count).split(separator: "/", omittingEmptySubsequences: false)
        guard let authority = parts.first, !authority.isEmpty else { return false }
        return isPlainAuthority(authority) && parts.dropFirst().allSatisfy(isPlainSegment)
    }

    private static func isPlainAuthority(_ text: Substring) -> Bool {
        let halves = text.split(separator: ":", omittingEmptySubsequences: false)
        guard halves.count <= 2, halves.count < 2 || (1...5).contains(halves[1].utf8.count) else {
            return false
        }
        guard halves.dropFirst().allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else { return false }
        return halves[0].split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...20).contains(label.utf8.count)
                && label.utf8.allSatisfy { $0.isSmallLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
        }
    }

    /// A word such as `charges`, a version such as `v2`, or nothing.
    private static func isPlainSegment(_ text: Substring) -> Bool {
        if text.first == "v", (2...4).contains(text.utf8.count), text.utf8.dropFirst().allSatisfy(\.isDigit) {
            return true
        }
        return text.utf8.count <= 16
            && text.utf8.allSatisfy {
                $0.isSmallLetter || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}
