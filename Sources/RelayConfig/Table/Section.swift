import RelayBase
import RelayJSON

/// An object of the configuration: its keys, and what must hold between them.
struct Section<Target> {
    let name: String
    let doc: String
    /// The target before anything is read: every default of the section.
    let prototype: Target
    let fields: [Field<Target>]
    let choices: [KeyChoice]
    /// The words of other programs, with the key that is missing where such a word stands, and what to write.
    let others: [String: (key: String?, hint: String)]
    /// Looks at the values together; runs also when some of them were refused and stand at their defaults.
    let check: (Target, JSONNode, inout ReadContext) -> Void

    init(
        _ name: String,
        _ doc: String,
        of prototype: Target,
        choices: [KeyChoice] = [],
        others: [String: (key: String?, hint: String)] = [:],
        @FieldList<Target> fields: () -> [Field<Target>],
        check: @escaping (Target, JSONNode, inout ReadContext) -> Void = { _, _, _ in }
    ) {
        self.name = name
        self.doc = doc
        self.prototype = prototype
        self.choices = choices
        self.others = others
        self.fields = fields()
        self.check = check
    }

    var objectShape: ObjectShape {
        let shapes = fields.map { field in
            FieldShape(
                key: field.key,
                shape: field.shape,
                isRequired: field.isRequired,
                defaultValue: field.defaultValue(prototype),
                doc: field.doc,
                isReserved: field.isReserved
            )
        }
        return ObjectShape(name: name, doc: doc, fields: shapes, choices: choices)
    }

    var kind: ValueKind<Target> {
        var kind = ValueKind<Target>(.object(objectShape)) { node, current, reading in
            read(node, over: current ?? prototype, &reading)
        }
        kind.noteDefaults = { target, reading in
            for field in fields where !field.isReserved {
                reading.within(field.key) { reading in field.noteDefault(target, &reading) }
            }
        }
        return kind
    }

    /// Reads an object whose absent keys mean what `base` says.
    ///
    /// - Returns: nil when it is no object or a required key is missing.
    func read(_ node: JSONNode, over base: Target, _ reading: inout ReadContext) -> Target? {
        guard case .object(let members) = node.content else {
            reading.refuse(node, expected: .object(objectShape))
            return nil
        }
        let meant = refuseUnknown(members, &reading)
        var target = base
        var isComplete = true
        for field in fields where !field.isReserved {
            if let member = node[field.key] {
                reading.within(field.key) { reading in
                    field.read(member.value, &target, &reading)
                    if reading.notesValues, field.shape.isLeaf { reading.note(member.value) }
                }
            } else if field.isRequired {
                isComplete = false
                if meant.contains(field.key) { continue }
                reading.error(
                    "\"\(field.key)\" is missing",
                    at: node.range.lowerBound..<node.range.lowerBound + 1
                )
            } else if reading.notesValues {
                reading.within(field.key) { reading in field.noteDefault(target, &reading) }
            }
        }
        for choice in choices where meant.isDisjoint(with: choice.keys) {
            checkChoice(choice, node, &reading)
        }
        check(target, node, &reading)
        return isComplete ? target : nil
    }

    /// - Returns: the keys that unknown ones were most likely meant to be; those should not be called missing.
    private func refuseUnknown(_ members: [JSONNode.Member], _ reading: inout ReadContext) -> Set<String> {
        var meant: Set<String> = []
        for member in members where member.name != "$comment" && !reading.isFull {
            let field = fields.first { $0.key == member.name }
            if let field, !field.isReserved { continue }
            reading.maskUnknown(member.value)
            if let refusal = field?.refusal {
                reading.error(
                    "\"\(member.name)\" \(refusal): remove it",
                    at: member.nameRange
                )
                continue
            }
            if let other = others[member.name] {
                reading.error(
                    "unknown key \"\(printable(member.name))\"",
                    at: member.nameRange,
                    hint: other.hint
                )
                if let key = other.key { meant.insert(key) }
                continue
            }
            let keys = fields.filter { !$0.isReserved }.map(\.key)
            let nearest = nearestWord(to: member.name, among: keys) ?? keyWith(member.name, among: keys)
            reading.error(
                "unknown key \"\(printable(member.name))\"",
                at: member.nameRange,
                hint: nearest.map { "did you mean \"\($0)\"?" } ?? among(keys)
            )
            if let nearest { meant.insert(nearest) }
        }
        return meant
    }

    /// A hint that lists the keys that may stand here, where they fit a line.
    private func among(_ keys: [String]) -> String? {
        let text = keys.sorted().joined(separator: ", ")
        if keys.isEmpty { return "no key may stand here: remove it" }
        if text.utf8.count > 120 { return "waystation.json(5) lists the keys that may stand here" }
        return "what may stand here: \(text)"
    }

    /// The one key of which `word` is a part: `max_attempts` for `attempts`.
    private func keyWith(_ word: String, among keys: [String]) -> String? {
        let found = keys.filter { $0.split(separator: "_").contains { $0 == word } }
        return found.count == 1 ? found[0] : nil
    }

    private func checkChoice(_ choice: KeyChoice, _ node: JSONNode, _ reading: inout ReadContext) {
        let present = choice.keys.compactMap { node[$0] }
            .sorted { $0.nameRange.lowerBound < $1.nameRange.lowerBound }
        let list = choice.keys.filter { key in !fields.contains { $0.key == key && $0.isReserved } }
            .map { "\"\($0)\"" }.joined(separator: ", ")
        if present.count > 1 {
            reading.error("only one of \(list) may stand here", at: present[1].nameRange)
        } else if present.isEmpty, choice.isRequired {
            reading.error("one of \(list) is missing", at: node.range.lowerBound..<node.range.lowerBound + 1)
        }
    }
}

/// The keys of a section, one after the other.
@resultBuilder enum FieldList<Target> {
    static func buildExpression(_ field: Field<Target>) -> [Field<Target>] { [field] }
    static func buildExpression(_ fields: [Field<Target>]) -> [Field<Target>] { fields }
    static func buildBlock(_ parts: [Field<Target>]...) -> [Field<Target>] { parts.flatMap(\.self) }
    static func buildOptional(_ fields: [Field<Target>]?) -> [Field<Target>] { fields ?? [] }
    static func buildEither(first fields: [Field<Target>]) -> [Field<Target>] { fields }
    static func buildEither(second fields: [Field<Target>]) -> [Field<Target>] { fields }
}
