import RelayJSON

/// The JSON Schema of a configuration (draft 2020-12), for editors; the reader's own checks go further.
package enum Schema {
    /// The schema, indented, ending in a line feed.
    package static var json: [UInt8] {
        var definitions: [JSONValue.Member] = []
        let root = ConfigurationTable.root.objectShape
        let body = object(root, &definitions)
        let members: [JSONValue.Member] =
            [
                JSONValue.Member("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
                JSONValue.Member("title", .string("Waystation configuration")),
            ] + body + [
                JSONValue.Member("$defs", .object(definitions.sorted { $0.name < $1.name }))
            ]
        return JSONValue.object(members).encodedPretty() + [UInt8(ascii: "\n")]
    }

    private static func object(
        _ shape: ObjectShape,
        _ definitions: inout [JSONValue.Member]
    ) -> [JSONValue.Member] {
        var properties: [JSONValue.Member] = [JSONValue.Member("$comment", .bool(true))]
        for field in shape.fields {
            properties.append(JSONValue.Member(field.key, property(field, &definitions)))
        }
        var members = [
            JSONValue.Member("description", .string(shape.doc)),
            JSONValue.Member("type", .string("object")),
            JSONValue.Member("properties", .object(properties)),
            JSONValue.Member("additionalProperties", .bool(false)),
        ]
        let required = shape.fields.filter(\.isRequired).map { JSONValue.string($0.key) }
        if !required.isEmpty { members.append(JSONValue.Member("required", .array(required))) }
        if !shape.choices.isEmpty {
            let reserved = Set(shape.fields.filter(\.isReserved).map(\.key))
            let choices = shape.choices.map { choice($0, keys: $0.keys.filter { !reserved.contains($0) }) }
            members.append(JSONValue.Member("allOf", .array(choices)))
        }
        return members
    }

    /// One of the keys, or also none of them.
    private static func choice(_ choice: KeyChoice, keys: [String]) -> JSONValue {
        let present = keys.map { key in
            JSONValue.object([JSONValue.Member("required", .array([.string(key)]))])
        }
        let none = JSONValue.object([
            JSONValue.Member("not", .object([JSONValue.Member("anyOf", .array(present))]))
        ])
        return .object([JSONValue.Member("oneOf", .array(choice.isRequired ? present : present + [none]))])
    }

    private static func property(_ field: FieldShape, _ definitions: inout [JSONValue.Member]) -> JSONValue {
        if field.isReserved {
            return .object([
                JSONValue.Member("not", .object([])), JSONValue.Member("description", .string(field.doc)),
            ])
        }
        var members = schema(field.shape, &definitions)
        members.removeAll { $0.name == "description" }
        members.insert(JSONValue.Member("description", .string(field.doc)), at: 0)
        if let value = field.defaultValue { members.append(JSONValue.Member("default", value)) }
        return .object(members)
    }

    private static func schema(_ shape: Shape, _ definitions: inout [JSONValue.Member]) -> [JSONValue.Member]
    {
        let type = { (name: String) in JSONValue.Member("type", .string(name)) }
        switch shape {
        case .anything: return []
        case .boolean: return [type("boolean")]
        case .integer(let range):
            return [
                type("integer"), JSONValue.Member("minimum", .number(JSONNumber(range.lowerBound))),
                JSONValue.Member("maximum", .number(JSONNumber(range.upperBound))),
            ]
        case .number(let range):
            return [
                type("number"), JSONValue.Member("minimum", .number(JSONNumber(text: "\(range.lowerBound)"))),
                JSONValue.Member("maximum", .number(JSONNumber(text: "\(range.upperBound)"))),
            ]
        case .text(let text):
            return [type("string")] + (text.pattern.map { [JSONValue.Member("pattern", .string($0))] } ?? [])
        case .word(let words): return [JSONValue.Member("enum", .array(words.map { .string($0) }))]
        case .list(let element, let minimum):
            let count = minimum > 0 ? [JSONValue.Member("minItems", .number(JSONNumber(minimum)))] : []
            return [type("array"), JSONValue.Member("items", .object(schema(element, &definitions)))] + count
        case .map(let element, let name):
            // A comment may stand among names of any form.
            let comment = JSONValue.object([JSONValue.Member("const", .string("$comment"))])
            let names = name.pattern.map { pattern in
                let matching = JSONValue.object([JSONValue.Member("pattern", .string(pattern))])
                let either = JSONValue.object([JSONValue.Member("anyOf", .array([matching, comment]))])
                return [JSONValue.Member("propertyNames", either)]
            }
            let properties = JSONValue.object([JSONValue.Member("$comment", .bool(true))])
            let values = JSONValue.Member("additionalProperties", .object(schema(element, &definitions)))
            return [type("object"), JSONValue.Member("properties", properties)] + (names ?? []) + [values]
        case .either(let one, let other):
            let choices = [one, other].map { JSONValue.object(schema($0, &definitions)) }
            return [JSONValue.Member("anyOf", .array(choices))]
        case .object(let shape): return [reference(shape.name, &definitions) { object(shape, &$0) }]
        case .tagged(let shape):
            return [
                reference(shape.name, &definitions) { definitions in
                    let variants = shape.variants.map { variant in
                        JSONValue.object([reference(variant.name, &definitions) { object(variant, &$0) }])
                    }
                    return [
                        JSONValue.Member("description", .string(shape.doc)),
                        JSONValue.Member("oneOf", .array(variants)),
                    ]
                }
            ]
        }
    }

    /// Refers to a definition, and makes it when it is not there yet.
    private static func reference(
        _ name: String,
        _ definitions: inout [JSONValue.Member],
        _ make: (inout [JSONValue.Member]) -> [JSONValue.Member]
    ) -> JSONValue.Member {
        if !definitions.contains(where: { $0.name == name }) {
            let body = make(&definitions)
            definitions.append(JSONValue.Member(name, .object(body)))
        }
        return JSONValue.Member("$ref", .string("#/$defs/\(name)"))
    }
}
