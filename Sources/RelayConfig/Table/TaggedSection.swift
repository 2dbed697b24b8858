import RelayJSON

/// Objects of several kinds in one place, told apart by a word of their own.
struct TaggedSection<Value> {
    struct Variant {
        let word: String
        let shape: ObjectShape
        let read: (JSONNode, inout Reading) -> Value?

        /// `section` begins with the tag's own field.
        init<Target>(_ word: String, _ section: Section<Target>, _ make: @escaping (Target) -> Value?) {
            self.word = word
            shape = section.objectShape
            read = { node, reading in
                section.read(node, over: section.prototype, &reading).flatMap(make)
            }
        }
    }

    let name: String
    let doc: String
    let key: String
    let variants: [Variant]

    init(_ name: String, _ doc: String, key: String, _ variants: [Variant]) {
        self.name = name
        self.doc = doc
        self.key = key
        self.variants = variants
    }

    var kind: ValueKind<Value> {
        let shape = Shape.tagged(
            TaggedShape(name: name, doc: doc, key: key, variants: variants.map(\.shape))
        )
        return ValueKind(shape) { node, _, reading in
            guard case .object = node.content else {
                reading.refuse(node, expected: shape)
                return nil
            }
            guard let tag = node[key] else {
                reading.mask(node)
                reading.error("\"\(key)\" is missing", at: node.range.lowerBound..<node.range.lowerBound + 1)
                return nil
            }
            let words = variants.map(\.word)
            guard case .string(let word) = tag.value.content,
                let variant = variants.first(where: { $0.word == word })
            else {
                // Without the kind nobody knows which of the other values are secret.
                if case .object(let members) = node.content {
                    for member in members where member.name != key { reading.mask(member.value) }
                }
                reading.within(key) { reading in reading.refuse(tag.value, words: words, reserved: []) }
                return nil
            }
            reading.within(key) { reading in reading.note(tag.value) }
            return variant.read(node, &reading)
        }
    }
}
