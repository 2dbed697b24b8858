package import RelayJSON
package import RelayJobs

/// A document of the API, or a part of one: its writer and its schema walk one list of members.
package protocol Document: MemberValue {
    static var members: [Member<Self>] { get }
}

extension Document {
    package static var schema: Schema { .object(of: members) }

    /// The document by itself.
    package var bytes: [UInt8] { Self.members.bytes(of: self) }

    package func write(_ name: String, into json: inout JSONObjectWriter) {
        json.object(name) { $0.members(of: self) }
    }

    package func write(into list: inout JSONArrayWriter) { list.object { $0.members(of: self) } }
}

/// A document that is read by the same list.
package protocol ReadableDocument: Document, ReadableValue {
    init()

    /// The member without which it says nothing; nil where every part says something by itself.
    static var key: String? { get }
}

extension ReadableDocument {
    package static var key: String? { nil }

    /// Reads what is there; a member that is absent or of another type leaves its property as it is.
    package init?(_ json: JSONValue) {
        guard case .object = json else { return nil }
        self.init()
        for member in Self.members where !member.read(&self, json) && member.name == Self.key { return nil }
    }
}

extension Array {
    /// The document that these members make of a value.
    package func bytes<Root>(of root: Root) -> [UInt8] where Element == Member<Root> {
        var json = JSONObjectWriter()
        json.members(self, of: root)
        return json.bytes
    }
}

extension JSONObjectWriter {
    /// Writes the members of a document into this one.
    package mutating func members<Part: Document>(of document: Part) { members(Part.members, of: document) }

    package mutating func members<Root>(_ members: [Member<Root>], of root: Root) {
        for member in members { member.write(root, &self) }
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
    /// Takes its value from the record of a kept job; nil where the record has none.
    package var fill: (@Sendable (inout Root, StoredJob) -> Void)?
}

extension Member {
    package typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// The value of a property in the record of a kept job.
    package typealias Kept<Value> = @Sendable (StoredJob) -> Value

    /// One that is a property.
    private init<Value>(
        _ property: Property,
        _ path: Path<Value>,
        _ kept: Kept<Value>?,
        read: @escaping @Sendable (JSONValue) -> Value?,
        write: @escaping @Sendable (Value, inout JSONObjectWriter) -> Void
    ) {
        let name = property.name
        self.init(name: name, property: property) { root, json in
            write(root[keyPath: path], &json)
        } read: { root, json in
            guard let value = json[name].flatMap(read) else { return false }
            root[keyPath: path] = value
            return true
        }
        if let kept { fill = { root, job in root[keyPath: path] = kept(job) } }
    }

    /// One that is always there.
    package static func always<Value: ReadableValue>(
        _ name: String,
        _ path: Path<Value>,
        _ schema: Schema = Value.schema,
        _ sentence: String? = nil,
        kept: Kept<Value>? = nil
    ) -> Member {
        Member(Property(name, schema, sentence), path, kept, read: Value.init) { $0.write(name, into: &$1) }
    }

    /// The same, of which the schema says that it is always there.
    package var required: Member {
        var member = Member(name: name, property: Property(name, property.schema), write: write, read: read)
        member.fill = fill
        return member
    }

    /// One that is left out where it has no value.
    package static func maybe<Value: ReadableValue>(
        _ name: String,
        _ path: Path<Value?>,
        _ schema: Schema = Value.schema,
        _ sentence: String? = nil,
        kept: Kept<Value?>? = nil
    ) -> Member {
        Member(.maybe(name, schema, sentence), path, kept) {
            Value($0).map(Optional.some)
        } write: {
            $0?.write(name, into: &$1)
        }
    }

    /// One that is true, or left out.
    package static func flag(
        _ name: String,
        _ path: Path<Bool>,
        _ sentence: String? = nil,
        kept: Kept<Bool>? = nil
    ) -> Member {
        Member(.maybe(name, .yes, sentence), path, kept, read: Bool.init) { if $0 { $1.member(name, true) } }
    }

    /// A list that is left out where it is empty.
    package static func list<Value: ReadableValue>(
        _ name: String,
        _ path: Path<[Value]>,
        _ element: Schema = Value.schema,
        _ sentence: String? = nil,
        kept: Kept<[Value]>? = nil
    ) -> Member {
        Member(.maybe(name, .list(element), sentence), path, kept, read: [Value].init) {
            if !$0.isEmpty { $0.write(name, into: &$1) }
        }
    }

    /// One that its owner writes by hand, since its content is too large for a value.
    package static func written(
        _ name: String,
        _ schema: Schema,
        _ sentence: String? = nil,
        _ write: @escaping @Sendable (Root, inout JSONObjectWriter) -> Void = { _, _ in }
    ) -> Member {
        Member(.maybe(name, schema, sentence), write)
    }
}

// The members that are written and never read: each has its value as a closure.
extension Member {
    private init(
        _ property: Property,
        _ write: @escaping @Sendable (Root, inout JSONObjectWriter) -> Void
    ) {
        self.init(name: property.name, property: property, write: write) { _, _ in false }
    }

    /// One that is always there.
    package static func required<Value: MemberValue>(
        _ name: String,
        _ schema: Schema = Value.schema,
        _ sentence: String? = nil,
        _ value: @escaping @Sendable (Root) -> Value
    ) -> Member {
        Member(Property(name, schema, sentence)) { value($0).write(name, into: &$1) }
    }

    /// One that is left out where it has no value.
    package static func optional<Value: MemberValue>(
        _ name: String,
        _ schema: Schema = Value.schema,
        _ sentence: String? = nil,
        _ value: @escaping @Sendable (Root) -> Value?
    ) -> Member {
        Member(.maybe(name, schema, sentence)) { value($0)?.write(name, into: &$1) }
    }

    /// An object with other members of the same value.
    package static func group(_ name: String, _ members: [Member], _ sentence: String? = nil) -> Member {
        part(name, of: members, sentence) { $0 }
    }

    /// A part with a table of its own; nil leaves it out.
    package static func part<Part>(
        _ name: String,
        of members: [Member<Part>],
        _ sentence: String? = nil,
        maybe isOptional: Bool = false,
        _ part: @escaping @Sendable (Root) -> Part?
    ) -> Member {
        Member(Property(name, .object(of: members), sentence, maybe: isOptional)) { root, json in
            guard let part = part(root) else { return }
            json.object(name) { $0.members(members, of: part) }
        }
    }

    /// A list of parts with a table of their own; nil leaves it out.
    package static func list<Part>(
        _ name: String,
        of members: [Member<Part>],
        _ sentence: String? = nil,
        maybe isOptional: Bool = false,
        _ parts: @escaping @Sendable (Root) -> [Part]?
    ) -> Member {
        Member(Property(name, .list(.object(of: members)), sentence, maybe: isOptional)) { root, json in
            guard let parts = parts(root) else { return }
            json.array(name) { list in
                for part in parts { list.object { $0.members(members, of: part) } }
            }
        }
    }
}
