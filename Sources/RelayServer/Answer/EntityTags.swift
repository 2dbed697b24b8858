import RelayBase
import RelayEngine

/// The versions a caller names in `If-Match` or `If-None-Match` (RFC 9110 §13.1).
struct EntityTags {
    private let tags: [String]
    /// Whether the caller named none.
    let isEmpty: Bool

    init(_ fields: HeaderFields, _ field: FieldName) {
        let values = fields.values(field)
        isEmpty = values.isEmpty
        let named = values.flatMap(EntityTags.list)
        // A change is made to what the caller has seen byte for byte (§13.1.1); what it has at hand is compared weakly (§13.1.2).
        tags =
            field == .ifMatch
            ? named.filter { !$0.hasPrefix("W/") }
            : named.map { $0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0 }
    }

    /// Whether every version will do.
    var hasAny: Bool { tags.contains("*") }

    func has(version: UInt64) -> Bool { has("\"v\(version)\"") }

    /// Whether that one will do; a tag has its quotes.
    func has(_ tag: String) -> Bool { tags.contains { $0 == "*" || $0 == tag } }

    /// The tags of one value, between which commas stand; one in quotes is part of its tag.
    private static func list(_ value: String) -> [String] {
        var isQuoted = false
        return value.split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }.map { String($0).trimmingBlanks }
    }
}
