package import RelayJSON

/// A document of the API, or a part of one: its writer, its reader and its schema walk one list of members.
package protocol Document: MemberValue {
    init()

    static var members: [Member<Self>] { get }

    /// The member without which it says nothing; nil where every part says something by itself.
    static var key: String? { get }
}

extension Document {
    package static var schema: Schema { .object(members.map(\.property)) }

    package static var key: String? { nil }

    /// Reads what is there; a member that is absent or of another type leaves its property as it is.
    package init?(_ json: JSONValue) {
        guard case .object = json else { return nil }
        self.init()
        for member in Self.members where !member.read(&self, json) && member.name == Self.key { return nil }
    }

    package func write(_ name: String, into json: inout JSONObjectWriter) {
        json.object(name) { $0.members(of: self) }
    }

    package func write(into list: inout JSONArrayWriter) { list.object { $0.members(of: self) } }
}

extension JSONObjectWriter {
    /// Writes the members of a document into this one.
    package mutating func members<Part: Document>(of document: Part) {
        for member in Part.members { member.write(document, &self) }
    }
}

/// A member of a document.
package struct Member<Root: Sendable>: Sendable {
    package let name: String
    /// As the schema has it.
    package let property: Property
    package let write: @Sendable (Root, inout JSONObjectWriter) -> Void
    /// Whether there was a value of its type.
    package let read: @Sendable (inout Root, JSONValue) -> Bool
}

extension Member {
    package typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// One that is always there.
    package static func always<Value: MemberValue>(
        _ name: String,
        _ path: Path<Value>,
        _ schema: Schema = Value.schema,
        _ sentence: String? = nil
    ) -> Member {
        Member(name: name, property: Property(name, schema, sentence)) { root, json in
            root[keyPath: path].write(name, into: &json)
        } read: { root, json in
            guard let value = json[name].flatMap(Value.init) else { return false }
            root[keyPath: path] = value
            return true
        }
    }

    /// The same, of which the schema says that it is always there.
    package var required: Member {
        Member(name: name, property: Property(name, property.schema), write: write, read: read)
    }

    /// One that is left out where it has no value.
    package static func maybe<Value: MemberValue>(
        _ name: String,
        _ path: Path<Value?>,
        _ schema: Schema = Value.schema,
        _ sentence: String? = nil
    ) -> Member {
        Member(name: name, property: .maybe(name, schema, sentence)) { root, json in
            root[keyPath: path]?.write(name, into: &json)
        } read: { root, json in
            guard let value = json[name].flatMap(Value.init) else { return false }
            root[keyPath: path] = value
            return true
        }
    }

    /// One that is true, or left out.
    package static func flag(_ name: String, _ path: Path<Bool>, _ sentence: String? = nil) -> Member {
        Member(name: name, property: .maybe(name, .yes, sentence)) { root, json in
            if root[keyPath: path] { json.member(name, true) }
        } read: { root, json in
            guard let isTrue = json[name].flatMap(Bool.init) else { return false }
            root[keyPath: path] = isTrue
            return true
        }
    }

    /// A list that is left out where it is empty.
    package static func list<Value: MemberValue>(
        _ name: String,
        _ path: Path<[Value]>,
        _ element: Schema = Value.schema,
        _ sentence: String? = nil
    ) -> Member {
        Member(name: name, property: .maybe(name, .list(element), sentence)) { root, json in
            if !root[keyPath: path].isEmpty { root[keyPath: path].write(name, into: &json) }
        } read: { root, json in
            guard let values = json[name].flatMap([Value].init) else { return false }
            root[keyPath: path] = values
            return true
        }
    }

    /// One that its owner writes by hand, since its content is too large for a value.
    package static func written(
        _ name: String,
        _ schema: Schema,
        _ sentence: String? = nil,
        _ write: @escaping @Sendable (Root, inout JSONObjectWriter) -> Void = { _, _ in }
    ) -> Member {
        Member(name: name, property: .maybe(name, schema, sentence), write: write) { _, _ in false }
    }
}
