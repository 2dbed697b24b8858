import RelayCore
import RelayEngine

/// The versions a caller names in `If-Match` or `If-None-Match` (RFC 9110 §13.1).
struct EntityTags {
    private let tags: [String]
    /// Whether the caller named none.
    let isEmpty: Bool

    init(_ fields: HeaderFields, _ field: FieldName) {
        let values = fields.values(field)
        isEmpty = values.isEmpty
        tags = values.flatMap(EntityTags.list)
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
        }.map { part in
            let tag = String(part).trimmingBlanks
            // Versions are compared weakly: the document of one version is one document.
            return tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
        }
    }
}
