import RelayJSON

/// The field table's entry for one key, for a user who asks by name.
package struct ConfigurationKey: Sendable {
    /// Where it stands, with `*` for names of the operator's: `routes.*.timeouts.attempt`.
    package let path: String
    /// The values that may stand there: `a time such as "250ms"`.
    package let what: String
    /// Effect and reason.
    package let doc: String
    /// As it would be written; nil when the key then means nothing, or has to be there.
    package let defaultText: String?
    package let isRequired: Bool

    /// The keys whose path ends in `name`, such as `timeouts.attempt`, at most `limit` of them.
    package static func named(_ name: String, limit: Int = 8) -> [ConfigurationKey] {
        let wanted = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard wanted.allSatisfy({ !$0.isEmpty }) else { return [] }
        var found: [ConfigurationKey] = []
        walk(ConfigurationTable.root.objectShape.fields, at: [], inside: []) { path, field in
            // Nobody writes the names that are the operator's.
            guard found.count < limit, path.filter({ $0 != "*" }).suffix(wanted.count).elementsEqual(wanted)
            else {
                return
            }
            found.append(ConfigurationKey(field, path))
        }
        return found
    }

    /// The last `count` words of every key's path, without the names that are the operator's: `timeouts.attempt`.
    package static func endings(of count: Int) -> [String] {
        var endings: Set<String> = []
        walk(ConfigurationTable.root.objectShape.fields, at: [], inside: []) { path, _ in
            let words = path.filter { $0 != "*" }
            if words.count >= count { endings.insert(words.suffix(count).joined(separator: ".")) }
        }
        return endings.sorted()
    }

    private init(_ field: FieldShape, _ path: [String]) {
        self.path = path.joined(separator: ".")
        what = field.shape.what
        doc = field.doc
        isRequired = field.isRequired
        defaultText = field.defaultValue.flatMap { value in
            field.shape.isLeaf ? String(decoding: value.encoded(), as: UTF8.self) : nil
        }
    }

    /// Shows every key once; an object that stands in itself is entered once.
    private static func walk(
        _ fields: [FieldShape],
        at path: [String],
        inside objects: [String],
        show: ([String], FieldShape) -> Void
    ) {
        for field in fields where !field.isReserved {
            let here = path + [field.key]
            show(here, field)
            enter(field.shape, at: here, inside: objects, show: show)
        }
    }

    private static func enter(
        _ shape: Shape,
        at path: [String],
        inside objects: [String],
        show: ([String], FieldShape) -> Void
    ) {
        switch shape {
        case .list(let element, _): enter(element, at: path, inside: objects, show: show)
        case .map(let element, _): enter(element, at: path + ["*"], inside: objects, show: show)
        case .either(let one, let other):
            enter(one, at: path, inside: objects, show: show)
            enter(other, at: path, inside: objects, show: show)
        case .object(let object):
            guard !objects.contains(object.name) else { return }
            walk(object.fields, at: path, inside: objects + [object.name], show: show)
        case .tagged(let tagged):
            for variant in tagged.variants {
                enter(.object(variant), at: path, inside: objects, show: show)
            }
        default: break
        }
    }
}
