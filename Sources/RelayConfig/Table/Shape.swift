import RelayJSON

/// The form of a value: the part of the field table that the schema and the manual page are made from.
indirect enum Shape {
    case boolean
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case text(TextShape)
    case word([String])
    case list(Shape, minimum: Int)
    /// An object whose names are the operator's.
    case map(Shape, name: TextShape)
    case object(ObjectShape)
    case tagged(TaggedShape)
    case either(Shape, Shape)
    case anything

    /// Completes "expected …".
    var what: String {
        switch self {
        case .boolean: "true or false"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .text(let text): text.what
        case .word(let words): words.map { "\"\($0)\"" }.joined(separator: " or ")
        case .list(let element, _): "a list, each \(element.what)"
        case .map(let element, let name): "an object of \(name.what) to \(element.what)"
        case .object, .tagged: "an object"
        case .either(let one, let other): "\(one.what), or \(other.what)"
        case .anything: "any JSON"
        }
    }

    /// The advice to write an object in the place of a word that one of its keys takes: `{"type": "exponential"}`; for any
    /// other the keys that the object must have.
    func meant(by node: JSONNode) -> String? {
        guard case .object(let object) = self else { return nil }
        // A switch is true; an action without settings of its own is an empty object.
        if case .bool(true) = node.content, !object.fields.contains(where: \.isRequired) { return "write {}" }
        guard let text = node.text else { return nil }
        let key = object.fields.first { field in
            if case .word(let words) = field.shape { words.contains(text) } else { false }
        }?.key
        if let key { return "write {\"\(key)\": \"\(text)\"}" }
        let wanted = object.fields.filter { field in
            field.isRequired || object.choices.contains { $0.isRequired && $0.keys.first == field.key }
        }
        let keys = wanted.map { "\"\($0.key)\": …" }.joined(separator: ", ")
        return keys.isEmpty ? nil : "write {\(keys)}"
    }

    /// Whether the value is shown on one line of the effective configuration.
    var isLeaf: Bool {
        switch self {
        case .object, .tagged: false
        case .list(let element, _), .map(let element, _): element.isLeaf
        case .boolean, .integer, .number, .text, .word, .either, .anything: true
        }
    }
}

/// A string with rules of its own.
struct TextShape {
    /// Completes "expected …", with an example.
    var what: String
    /// ECMA-262 pattern for editors; the reader's own check is stricter.
    var pattern: String?

    init(_ what: String, pattern: String? = nil) {
        self.what = what
        self.pattern = pattern
    }
}

/// An object with known keys.
struct ObjectShape {
    /// Names its definition in the schema and its part of the manual page.
    var name: String
    var doc: String
    var fields: [FieldShape]
    var choices: [KeyChoice]
}

/// One of several objects, told apart by the word at `key`.
struct TaggedShape {
    var name: String
    var doc: String
    var key: String
    var variants: [ObjectShape]
}

/// One key of an object.
struct FieldShape {
    var key: String
    var shape: Shape
    var isRequired: Bool
    /// The value that the key has when it is absent, as it would be written; nil when it then means nothing.
    var defaultValue: JSONValue?
    /// One sentence or more: effect and reason.
    var doc: String
    /// Belongs to a later version or to other objects: named, so that it is refused with the reason.
    var isReserved: Bool
}

/// Keys of which an object may have only one.
struct KeyChoice {
    var keys: [String]
    var isRequired: Bool

    static func exactlyOne(_ keys: String...) -> KeyChoice { KeyChoice(keys: keys, isRequired: true) }
    static func atMostOne(_ keys: String...) -> KeyChoice { KeyChoice(keys: keys, isRequired: false) }
}
