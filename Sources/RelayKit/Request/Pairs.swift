/// Names with values, in order: a query, header fields, the fields of a form.
///
/// Written as a dictionary literal, in which a name may stand more than once, or made of any sequence of pairs:
///
/// ```swift
/// ["tag": "red", "tag": "blue"]
/// Pairs(tags.map { ("tag", $0) })
/// Pairs(dictionary)
/// ```
///
/// A dictionary has no order, so that what is made of one may have another in every run.
public struct Pairs<Value: Sendable>: Sendable, Sequence, ExpressibleByDictionaryLiteral {
    // Every request is made with two that have none, which cost little where the compiler sees their types.
    @usableFromInline let elements: [(key: String, value: Value)]

    /// The pairs as they are written.
    @inlinable
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.elements = elements.map { (key: $0.0, value: $0.1) }
    }

    /// The pairs of a sequence.
    public init(_ pairs: some Sequence<(String, Value)>) {
        elements = pairs.map { (key: $0.0, value: $0.1) }
    }

    /// The pairs of a dictionary, or of `KeyValuePairs`.
    public init(_ pairs: some Sequence<(key: String, value: Value)>) { elements = Array(pairs) }

    /// Whether there is none.
    public var isEmpty: Bool { elements.isEmpty }

    /// Gives the pairs in order.
    public func makeIterator() -> IndexingIterator<[(key: String, value: Value)]> { elements.makeIterator() }
}

extension Pairs where Value == String? {
    /// The pairs of a sequence, each with a value.
    public init(_ pairs: some Sequence<(String, String)>) {
        elements = pairs.map { (key: $0.0, value: $0.1) }
    }

    /// The pairs of a dictionary, or of `KeyValuePairs`, each with a value.
    public init(_ pairs: some Sequence<(key: String, value: String)>) {
        elements = pairs.map { (key: $0.key, value: $0.value) }
    }
}
