import RelayJSON

/// Objects of several kinds in one place, told apart by a word of their own.
struct TaggedSection<Value> {
    struct Variant {
        struct Parts {
            let shape: () -> ObjectShape
            let read: (JSONNode, inout ReadContext) -> Value?
        }

        let word: String
        private let parts: Deferred<Parts>

        var shape: ObjectShape { parts.value.shape() }

        /// `section` begins with the tag's own field.
        init<Target>(
            _ word: String,
            _ section: @autoclosure @escaping () -> Section<Target>,
            _ make: @escaping (Target) -> Value?
        ) {
            self.word = word
            parts = Deferred {
                let section = section()
                return Parts(
                    shape: { section.objectShape },
                    read: { node, reading in
                        section.read(node, over: section.prototype, &reading).flatMap(make)
                    }
                )
            }
        }

        func read(_ node: JSONNode, _ reading: inout ReadContext) -> Value? {
            parts.value.read(node, &reading)
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
        var shape: Shape {
            .tagged(TaggedShape(name: name, doc: doc, key: key, variants: variants.map(\.shape)))
        }
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
            return variant.read(node, &reading)
        }
    }
}
