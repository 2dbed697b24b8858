import RelayInterface
import RelayJSON

/// A parameter of a call: whoever reads it and whoever tells of it go by the same.
protocol QueryParameter: Sendable {
    var name: String { get }
    /// Its effect, as a sentence for callers.
    var doc: String { get }
    var schema: Schema { get }
}

/// A whole number.
struct NumberParameter: QueryParameter {
    let name: String
    let range: ClosedRange<Int>
    let doc: String

    var schema: Schema { .integer(range) }
}

/// A whole number that is `standard` where nothing is said.
struct CountParameter: QueryParameter {
    let name: String
    let range: ClosedRange<Int>
    let standard: Int
    let doc: String

    var schema: Schema { .integer(range).standard(.number(JSONNumber(standard))) }
}

/// One of a few words.
struct WordParameter<Value: Sendable>: QueryParameter {
    let name: String
    let values: [(word: String, value: Value)]
    let doc: String

    var schema: Schema { .word(values.map(\.word)) }
}

/// One of a few words, the first where nothing is said.
struct ChoiceParameter<Value: Sendable>: QueryParameter {
    let name: String
    let values: [(word: String, value: Value)]
    let doc: String

    var schema: Schema { .word(values.map(\.word)).standard(.string(values[0].word)) }
}

/// Several of a few words, with commas between them.
struct WordsParameter<Value: Sendable>: QueryParameter {
    let name: String
    let values: [(word: String, value: Value)]
    let doc: String

    var schema: Schema { .list(.word(values.map(\.word)), 1...) }
}

/// A date and time of RFC 3339.
struct MomentParameter: QueryParameter {
    let name: String
    let doc: String

    var schema: Schema { .askedMoment }
}

/// A time with its unit.
struct DurationParameter: QueryParameter {
    let name: String
    let limit: Duration
    let doc: String

    var schema: Schema { .duration(.zero...limit) }
}

/// A text that whoever reads it takes apart.
struct TextParameter: QueryParameter {
    let name: String
    let schema: Schema
    let doc: String
}

/// A field of a request as a parameter of the document.
struct RequestField: Sendable {
    let name: String
    let schema: Schema
    let doc: String
}
