import RelayBase
import RelayJSON

/// One kind of value: how it looks, how it is read, how it would be written.
struct ValueKind<Value> {
    private let makeShape: () -> Shape
    /// Reads a node over what the value is without it; nil when a finding says why it is refused.
    let read: (JSONNode, Value?, inout ReadContext) -> Value?
    /// The value as it would be written; nil for what has no short form.
    let write: (Value) -> JSONValue?
    /// Notes every value an object has by default; nil when the value is one line.
    var noteDefaults: ((Value, inout ReadContext) -> Void)?

    /// The form of the value, for those who tell of the configuration, and where something is refused.
    var shape: Shape { makeShape() }

    init(
        _ shape: @autoclosure @escaping () -> Shape,
        read: @escaping (JSONNode, Value?, inout ReadContext) -> Value?
    ) {
        self.init(makeShape: shape, read: read, write: { _ in nil })
    }

    private init(
        makeShape: @escaping () -> Shape,
        read: @escaping (JSONNode, Value?, inout ReadContext) -> Value?,
        write: @escaping (Value) -> JSONValue?
    ) {
        self.makeShape = makeShape
        self.read = read
        self.write = write
    }

    /// The same values, held in another type.
    func map<Other>(
        _ convert: @escaping (Value) -> Other,
        back: @escaping (Other) -> Value
    ) -> ValueKind<Other> {
        let kind = ValueKind<Other>(shape) { node, current, reading in
            read(node, current.map(back), &reading).map(convert)
        }
        return kind.writing { write(back($0)) }
    }
}

extension ValueKind {
    /// The same values as another type; nil from `convert` follows a finding that is noted already.
    func compactMap<Other>(_ convert: @escaping (Value) -> Other?) -> ValueKind<Other> {
        ValueKind<Other>(shape) { node, _, reading in read(node, nil, &reading).flatMap(convert) }
    }

    /// The same kind with another way to be written.
    func writing(_ write: @escaping (Value) -> JSONValue?) -> ValueKind {
        ValueKind(makeShape: makeShape, read: read, write: write)
    }
}

/// The advice to quote a number that would be right in quotes.
private func quoted<Value>(_ node: JSONNode, _ parse: (String) throws(Refusal) -> Value) -> String? {
    guard case .number(let number) = node.content, (try? parse(number.text)) != nil else { return nil }
    return "write \"\(number.text)\""
}

extension ValueKind {
    /// A string that `parse` understands.
    static func text(
        _ what: String,
        pattern: String? = nil,
        parse: @escaping (String) throws(Refusal) -> Value
    ) -> ValueKind {
        let shape = Shape.text(TextShape(what, pattern: pattern))
        return ValueKind(shape) { node, _, reading in
            guard case .string(let text) = node.content else {
                reading.refuse(node, expected: shape, hint: quoted(node, parse))
                return nil
            }
            do throws(Refusal) {
                return try parse(text)
            } catch {
                reading.error(error.message, at: node.range, hint: error.hint)
                return nil
            }
        }
    }
}
