/// The header fields of a message: ordered, repeatable, names compared without case.
///
/// All names and values live in one byte array, with an entry of offsets per field: a parsed head is two
/// allocations whatever the number of fields, and a field is copied on as bytes without becoming a `String`.
public struct HeaderFields: Sendable {
    /// Where one field's name and value stand in `storage`.
    package struct Entry: Sendable {
        package var nameStart: UInt32
        package var nameCount: UInt16
        package var valueStart: UInt32
        package var valueCount: UInt32

        package init(nameStart: Int, nameCount: Int, valueStart: Int, valueCount: Int) {
            self.nameStart = UInt32(nameStart)
            self.nameCount = UInt16(nameCount)
            self.valueStart = UInt32(valueStart)
            self.valueCount = UInt32(valueCount)
        }
    }

    package private(set) var storage: [UInt8]
    package private(set) var entries: [Entry]
    /// One bit for each name there is or was, by its mark: most questions are about names that are not there.
    private var marks: UInt64 = 0

    /// An empty list.
    public init() {
        storage = []
        entries = []
    }

    /// Takes over what a parser has found and already checked: token names, values without controls.
    package init(storage: [UInt8], entries: [Entry]) {
        self.storage = storage
        self.entries = entries
        let bytes = storage.span
        for entry in entries where entry.nameCount > 0 {
            let start = Int(entry.nameStart)
            let last = start &+ Int(entry.nameCount) &- 1
            marks |= FieldName.mark(bytes[start], bytes[last], Int(entry.nameCount))
        }
    }

    /// How many fields there are, repeated ones counted each.
    public var count: Int { entries.count }
    /// Whether there is no field.
    public var isEmpty: Bool { entries.isEmpty }

    /// Adds a field after the others.
    ///
    /// - Returns: false, adding nothing, when the name is no token or the value has a control byte.
    @discardableResult
    public mutating func append(_ name: String, _ value: String) -> Bool {
        let nameBytes = name.utf8
        let valueBytes = value.utf8
        guard !nameBytes.isEmpty, nameBytes.count <= Int(UInt16.max), name.consists(of: isTokenByte),
            value.consists(of: isFieldValueByte)
        else { return false }
        let start = storage.count
        storage.append(contentsOf: nameBytes)
        marks |= FieldName.mark(storage[start], storage[storage.count - 1], nameBytes.count)
        storage.append(contentsOf: valueBytes)
        entries.append(
            Entry(
                nameStart: start,
                nameCount: nameBytes.count,
                valueStart: start + nameBytes.count,
                valueCount: valueBytes.count
            )
        )
        return true
    }

    /// Puts one field in the place of every field of that name.
    ///
    /// - Returns: false, changing nothing, when the name is no token or the value has a control byte.
    @discardableResult
    public mutating func set(_ name: String, _ value: String) -> Bool {
        guard let key = FieldName(name), value.utf8.allSatisfy(isFieldValueByte) else { return false }
        remove(key)
        return append(name, value)
    }

    /// Adds a field after the others, its name in lower case.
    ///
    /// - Returns: false, adding nothing, when the value has a control byte.
    @discardableResult
    public mutating func append(_ name: FieldName, _ value: String) -> Bool {
        append(name.lowercasedText, value)
    }

    /// Puts one field, its name in lower case, in the place of every field of that name.
    ///
    /// - Returns: false, changing nothing, when the value has a control byte.
    @discardableResult
    public mutating func set(_ name: FieldName, _ value: String) -> Bool {
        set(name.lowercasedText, value)
    }

    /// Takes away every field of that name.
    public mutating func remove(_ name: FieldName) {
        guard let index = firstIndex(of: name) else { return }
        entries.remove(at: index)
        // More than one is rare.
        if firstIndex(of: name) != nil { self = keeping { !matches($0, name) } }
    }

    /// Those fields only; the bytes of the others stay in the storage.
    package func keeping<E: Error>(_ isKept: (Entry) throws(E) -> Bool) throws(E) -> HeaderFields {
        var kept = HeaderFields()
        kept.storage = storage
        kept.marks = marks
        kept.entries.reserveCapacity(entries.count)
        for entry in entries where try isKept(entry) { kept.entries.append(entry) }
        return kept
    }

    /// Whether there may be a field of one of those names.
    package func mayContain(_ names: FieldName.Marks) -> Bool { marks & names.bits != 0 }

    /// Whether there is a field of that name.
    public func contains(_ name: FieldName) -> Bool { firstIndex(of: name) != nil }

    /// Whether a field of that name says anything.
    package func hasValue(_ name: FieldName) -> Bool {
        guard contains(name) else { return false }
        return entries.contains { entry in
            guard matches(entry, name) else { return false }
            let start = Int(entry.valueStart)
            return storage[start..<start + Int(entry.valueCount)].contains {
                !isBlankByte($0) && $0 != UInt8(ascii: "\"")
            }
        }
    }

    /// How many fields have that name.
    public func count(of name: FieldName) -> Int {
        entries.count { matches($0, name) }
    }

    /// The first field's value; nil when there is no such field.
    public subscript(name: FieldName) -> String? {
        firstIndex(of: name).map { valueText(entries[$0]) }
    }

    /// Every value of the field, in order.
    public func values(_ name: FieldName) -> [String] {
        guard contains(name) else { return [] }
        return entries.compactMap { matches($0, name) ? valueText($0) : nil }
    }

    /// All fields as text, in order; for messages and tests, not for the path of a request.
    public var pairs: [(name: String, value: String)] {
        entries.map { (nameText($0), valueText($0)) }
    }
}

extension HeaderFields {
    /// Where the first field of that name stands; each request asks for several names.
    private func firstIndex(of name: FieldName) -> Int? {
        guard marks & name.mark != 0 else { return nil }
        let (own, wanted, all) = (storage.span, name.bytes.span, entries.span)
        for place in all.indices where Int(all[place].nameCount) == wanted.count {
            let start = Int(all[place].nameStart)
            var index = 0
            while index < wanted.count, lowercased(own[start &+ index]) == wanted[index] { index &+= 1 }
            if index == wanted.count { return place }
        }
        return nil
    }

    package func matches(_ entry: Entry, _ name: FieldName) -> Bool {
        let count = Int(entry.nameCount)
        guard count == name.bytes.count else { return false }
        let (own, other) = (storage.span, name.bytes.span)
        let start = Int(entry.nameStart)
        for index in 0..<count where lowercased(own[start &+ index]) != other[index] { return false }
        return true
    }

    /// The same, in whatever case the name is written.
    package func matches(_ entry: Entry, _ name: StaticString) -> Bool {
        let count = Int(entry.nameCount)
        guard count == name.utf8CodeUnitCount else { return false }
        let own = storage.span
        let start = Int(entry.nameStart)
        for index in 0..<count
        where unsafe lowercased(own[start &+ index]) != lowercased(name.utf8Start[index]) {
            return false
        }
        return true
    }

    /// Whether the name of the field begins with that text, which is in lower case.
    package func isName(of entry: Entry, below prefix: StaticString) -> Bool {
        let count = prefix.utf8CodeUnitCount
        guard entry.nameCount > count else { return false }
        let own = storage.span
        let start = Int(entry.nameStart)
        for index in 0..<count
        where unsafe lowercased(own[start &+ index]) != prefix.utf8Start[index] {
            return false
        }
        return true
    }

    /// Lends a field's value where it stands.
    @inline(__always)
    package func withValue<R, E: Error>(
        _ entry: Entry,
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let start = Int(entry.valueStart)
        return try body(storage.span.extracting(start..<start + Int(entry.valueCount)))
    }

    package func nameText(_ entry: Entry) -> String {
        let start = Int(entry.nameStart)
        return String(decoding: storage[start..<start + Int(entry.nameCount)], as: UTF8.self)
    }

    package func valueText(_ entry: Entry) -> String {
        let start = Int(entry.valueStart)
        return String(decoding: storage[start..<start + Int(entry.valueCount)], as: UTF8.self)
    }
}

extension HeaderFields: CustomStringConvertible, CustomReflectable {
    /// Names and the lengths of values, for messages of tests; a value may be a credential.
    public var description: String {
        let list = entries.map { "\(nameText($0)): \($0.valueCount) bytes" }
        return "[" + list.joined(separator: ", ") + "]"
    }

    /// Names and the lengths of values, as in the description.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: entries.map { (label: nameText($0), value: "\($0.valueCount) bytes" as Any) },
            displayStyle: .struct
        )
    }
}

extension Span<UInt8> {
    /// Whether the bytes are those of that text.
    package func isSame(as text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in indices where unsafe self[index] != text.utf8Start[index] { return false }
        return true
    }
}
