/// A JSON value (RFC 8259); objects keep the order of their members.
public enum JSONValue: Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, as it was written.
    case number(JSONNumber)
    /// A string, unescaped.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Members in the order of the text; their names are unique.
    case object([Member])

    /// One name of an object with its value.
    public struct Member: Sendable, Equatable {
        /// The name, unescaped.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// Pairs a name with a value.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

extension JSONValue {
    /// Reads all of `text` as one value.
    public init(parsing text: Span<UInt8>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var sink = ValueSink()
        try JSONScanner.scan(text, limits: limits, into: &sink)
        self = sink.value
    }

    /// Reads all of `text` as one value.
    ///
    /// - Parameters:
    ///   - text: JSON in UTF-8 (RFC 8259), nothing more lenient.
    ///   - limits: how deep it may be.
    /// - Throws: what is wrong with the text, and at which byte.
    public init(parsing text: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        try self.init(parsing: text.span, limits: limits)
    }

    /// The member of that name; nil when there is none or this is no object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The value the pointer leads to; nil when there is none.
    public func value(at pointer: JSONPointer) -> JSONValue? {
        var value = self
        for step in pointer.steps {
            switch value {
            case .object(let members):
                guard let member = members.first(where: { $0.name.utf8.elementsEqual(step.name) }) else {
                    return nil
                }
                value = member.value
            case .array(let elements):
                guard let index = step.index, index < elements.count else { return nil }
                value = elements[index]
            default: return nil
            }
        }
        return value
    }

    /// Whether both mean the same: numbers by value (`1`, `1.0`, `1e0`), strings by code points, objects in any
    /// order.
    public func isEquivalent(to other: JSONValue) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.bool(let one), .bool(let other)): return one == other
        case (.number(let one), .number(let other)): return one.isEquivalent(to: other)
        case (.string(let one), .string(let other)): return one.utf8.elementsEqual(other.utf8)
        case (.array(let one), .array(let other)):
            return one.count == other.count && zip(one, other).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let one), .object(let other)):
            // Names are unique, so that as many members, each found again, are the same members.
            guard one.count == other.count else { return false }
            var values: [[UInt8]: JSONValue] = [:]
            for member in other { values[Array(member.name.utf8)] = member.value }
            return one.allSatisfy { member in
                values[Array(member.name.utf8)].map { member.value.isEquivalent(to: $0) } ?? false
            }
        default: return false
        }
    }
}

/// Builds a `JSONValue`.
private struct ValueSink: JSONSink {
    private enum Container {
        case array([JSONValue])
        case object([JSONValue.Member])
    }

    private var open: [Container] = []
    private var names: [String] = []
    private(set) var value = JSONValue.null

    mutating func beginObject(at offset: Int) { open.append(.object([])) }
    mutating func beginArray(at offset: Int) { open.append(.array([])) }

    mutating func name(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        names.append(JSONString.string(range, isEscaped: isEscaped, in: text))
    }

    mutating func string(_ range: Range<Int>, isEscaped: Bool, in text: Span<UInt8>) {
        add(.string(JSONString.string(range, isEscaped: isEscaped, in: text)))
    }

    mutating func number(_ range: Range<Int>, in text: Span<UInt8>) {
        add(.number(JSONNumber(text: JSONString.string(range, isEscaped: false, in: text))))
    }

    mutating func literal(_ literal: JSONLiteral, _ range: Range<Int>) {
        switch literal {
        case .null: add(.null)
        case .true: add(.bool(true))
        case .false: add(.bool(false))
        }
    }

    mutating func endContainer(at end: Int) {
        switch open.removeLast() {
        case .array(let elements): add(.array(elements))
        case .object(let members): add(.object(members))
        }
    }

    private mutating func add(_ value: JSONValue) {
        // Taken out and put back, so that the array inside is changed in place.
        switch open.popLast() {
        case .array(var elements):
            elements.append(value)
            open.append(.array(elements))
        case .object(var members):
            members.append(JSONValue.Member(names.removeLast(), value))
            open.append(.object(members))
        case nil: self.value = value
        }
    }
}
