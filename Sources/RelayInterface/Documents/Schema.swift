import RelayBase
package import RelayJSON

/// A schema of JSON Schema 2020-12, as OpenAPI 3.1 has them.
package struct Schema: Sendable {
    private var members: [JSONValue.Member]

    private init(_ members: [JSONValue.Member]) { self.members = members }

    private init(type: String) { members = [.init("type", .string(type))] }

    package var json: JSONValue { .object(members) }

    /// The same with another keyword; nil leaves it out.
    package func with(_ keyword: String, _ value: JSONValue?) -> Schema {
        guard let value else { return self }
        return Schema(members.filter { $0.name != keyword } + [.init(keyword, value)])
    }

    package func doc(_ text: String) -> Schema { with("description", .string(text)) }

    /// Adds the value that holds where none is given.
    package func standard(_ value: JSONValue?) -> Schema { with("default", value) }

    package static let anything = Schema([])
    package static let boolean = Schema(type: "boolean")
    /// True, of a member that is left out where it would be false; generated clients stumble over a constant.
    package static let yes = boolean
    package static let text = Schema(type: "string")
    package static let integer = Schema(type: "integer")
    /// A count, or another whole number that is never negative.
    package static let count = integer(0...)
    package static let null = Schema(type: "null")
    /// Milliseconds, with what is finer behind the point.
    package static let milliseconds = Schema(type: "number").with("minimum", .number(JSONNumber(0)))

    package static func integer(_ range: ClosedRange<Int>) -> Schema {
        integer(range.lowerBound...).with("maximum", .number(JSONNumber(range.upperBound)))
    }

    package static func integer(_ range: PartialRangeFrom<Int>) -> Schema {
        Schema(type: "integer").with("minimum", .number(JSONNumber(range.lowerBound)))
    }

    /// A text of so many characters at most; what counts in bytes says so itself.
    package static func text(_ lengths: ClosedRange<Int>) -> Schema {
        text.with("minLength", .number(JSONNumber(lengths.lowerBound)))
            .with("maxLength", .number(JSONNumber(lengths.upperBound)))
    }

    /// A text of a query, which may have anything but the character that ends strings elsewhere.
    package static let queryText = pattern("^[^\\u0000]*$")
    /// A text that is looked for, in a query.
    package static let sought = text(OptionValue.keyLengths).with("pattern", .string("^[^\\u0000]*$"))

    /// A text of visible characters, with blanks only inside, as a field's value has them.
    package static func visible(_ lengths: ClosedRange<Int>) -> Schema {
        text(lengths).with("pattern", .string("^[!-~]([ -~]*[!-~])?$"))
    }

    package static func pattern(_ pattern: String) -> Schema { text.with("pattern", .string(pattern)) }

    package static func constant(_ value: JSONValue) -> Schema { Schema([.init("const", value)]) }

    package static func word(_ words: [String]) -> Schema {
        text.with("enum", .array(words.map { JSONValue.string($0) }))
    }

    /// A word that is mostly one of these; there may be others.
    package static func openWord(_ words: [String]) -> Schema {
        text.with("examples", .array(words.map { .string($0) }))
    }

    package static func list(_ element: Schema, _ counts: PartialRangeFrom<Int> = 0...) -> Schema {
        let list = Schema(type: "array").with("items", element.json)
        return counts.lowerBound == 0 ? list : list.with("minItems", .number(JSONNumber(counts.lowerBound)))
    }

    package static func list(_ element: Schema, _ counts: ClosedRange<Int>) -> Schema {
        list(element, counts.lowerBound...).with("maxItems", .number(JSONNumber(counts.upperBound)))
    }

    /// An object whose names are not known before.
    package static func map(_ value: Schema) -> Schema {
        Schema(type: "object").with("additionalProperties", value.json)
    }

    /// An object; whoever reads one leaves alone what they do not know.
    package static func object(_ properties: [Property]) -> Schema {
        let required = properties.filter(\.isRequired).map { JSONValue.string($0.name) }
        let members = properties.map { JSONValue.Member($0.name, $0.schema.json) }
        return Schema(type: "object").with("properties", .object(members))
            .with("required", required.isEmpty ? nil : .array(required))
    }

    package static func object<Root>(of members: [Member<Root>]) -> Schema { object(members.map(\.property)) }

    /// An object in which nothing else may stand, as the relay reads documents.
    package static func strict(_ properties: [Property]) -> Schema {
        object(properties).with("additionalProperties", .bool(false))
    }

    package static func anyOf(_ schemas: [Schema]) -> Schema {
        Schema([.init("anyOf", .array(schemas.map(\.json)))])
    }

    package static func not(_ schema: Schema) -> Schema { Schema([.init("not", schema.json)]) }

    /// Says of an object which members it has to have.
    package static func requires(_ names: [String]) -> Schema {
        Schema([.init("required", .array(names.map { .string($0) }))])
    }

    package static func orNull(_ schema: Schema) -> Schema { anyOf([schema, .null]) }

    package var isList: Bool { members.contains { $0.name == "items" } }

    /// One of the document's own schemas.
    package static func named(_ name: String) -> Schema {
        Schema([.init("$ref", .string("#/components/schemas/\(name)"))])
    }
}

/// A member of an object.
package struct Property: Sendable {
    package let name: String
    package let schema: Schema
    package let isRequired: Bool

    package init(_ name: String, _ schema: Schema, _ doc: String? = nil, maybe isOptional: Bool = false) {
        self.name = name
        self.schema = doc.map { schema.doc($0) } ?? schema
        isRequired = !isOptional
    }

    /// One that is not always there.
    package static func maybe(_ name: String, _ schema: Schema, _ doc: String? = nil) -> Property {
        Property(name, schema, doc, maybe: true)
    }
}

// The schemas that stand in many places.
extension Schema {
    /// A job's id.
    package static let job = pattern("^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$")
    /// A route's name.
    package static let route = pattern("^[A-Za-z0-9._-]{1,128}$")
    /// A date and time of RFC 3339.
    package static let moment = text.with("format", .string("date-time"))
    /// A time with its units, the larger first; the pattern does not tell how long it may be.
    package static func duration(_ range: ClosedRange<Duration>) -> Schema {
        pattern(durationPattern)
            .with("x-minimum", .string(DurationText.text(range.lowerBound)))
            .with("x-maximum", .string(DurationText.text(range.upperBound)))
    }

    private static let durationPattern =
        "^(?=[0-9])([0-9]{1,12}d)?([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$"
    /// The same of a request, which may have no year before 1970.
    package static let askedMoment = momentText.with("format", .string("date-time"))
    /// The same where clients write no dates, as in a field.
    package static let momentText = text.with(
        "pattern",
        .string(
            "^(19[7-9][0-9]|[2-9][0-9]{3})-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,14})?"
                + "([Zz]|[+-][0-9]{2}:[0-9]{2})$"
        )
    )
    package static let status = integer(100...999)
    package static let failureKind = openWord(FailureKind.known.map(\.rawValue))
}
