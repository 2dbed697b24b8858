import RelayBase
import RelayEngine
import RelayInterface
import RelayJSON

/// A parameter of a call, as the document of the interface describes it.
protocol QueryParameter: Sendable {
    var name: String { get }
    var schema: Schema { get }
    /// Its effect, as a sentence for callers.
    var doc: String { get }
}

/// A parameter with the one way in which it is read.
struct Parameter<Value: Sendable>: QueryParameter {
    let name: String
    let schema: Schema
    let doc: String
    /// The value of its text, or of its absence.
    let read: @Sendable (String?) throws(Problem) -> Value
}

extension Parameter {
    typealias Words<Word> = [(word: String, value: Word)]

    /// A parameter that has no value where it is absent, and is refused where it is not what `demand` says.
    private init<Known>(
        _ name: String,
        _ schema: Schema,
        _ doc: String,
        _ demand: String,
        _ known: @escaping @Sendable (String) -> Known?
    ) where Value == Known? {
        self.init(name: name, schema: schema, doc: doc) { text throws(Problem) in
            guard let text else { return nil }
            guard let value = known(text) else { throw Problem(.badTarget, "\(name) is \(demand)") }
            return value
        }
    }

    /// The same parameter with a value where nothing is said.
    private func or<Known>(_ value: Known, _ json: JSONValue) -> Parameter<Known> where Value == Known? {
        Parameter<Known>(name: name, schema: schema.standard(json), doc: doc) { [read] text throws(Problem) in
            try read(text) ?? value
        }
    }

    /// A text that whoever reads it takes apart.
    static func text(_ name: String, _ schema: Schema, _ doc: String) -> Parameter where Value == String? {
        Parameter(name: name, schema: schema, doc: doc) { text in text }
    }

    static func number(
        _ name: String,
        _ range: ClosedRange<Int>,
        _ doc: String
    ) -> Parameter where Value == Int? {
        let demand = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return Parameter(name, .integer(range), doc, demand) { text in
            guard text.utf8.count <= 10, text.utf8.allSatisfy(\.isDigit) else { return nil }
            return Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    static func number(
        _ name: String,
        _ range: ClosedRange<Int>,
        or standard: Int,
        _ doc: String
    ) -> Parameter where Value == Int {
        Parameter<Int?>.number(name, range, doc).or(standard, .number(JSONNumber(standard)))
    }

    /// A date and time of RFC 3339, in milliseconds since 1970 UTC.
    static func moment(_ name: String, _ doc: String) -> Parameter where Value == Int64? {
        let demand = "a date and time of RFC 3339, such as 2027-01-31T08:00:00Z"
        return Parameter(name, .askedMoment, doc, demand) { text in
            UTCTime.milliseconds(parsing: text).flatMap { $0 >= 0 ? $0 : nil }
        }
    }

    /// A time with its unit.
    static func duration(
        _ name: String,
        atMost limit: Duration,
        _ doc: String
    ) -> Parameter where Value == Duration? {
        let demand = "a duration with a unit, such as 30s, and at most \(DurationText.text(limit))"
        return Parameter(name, .duration(.zero...limit), doc, demand) { text in
            DurationText.parse(text).flatMap { $0 <= limit ? $0 : nil }
        }
    }

    /// One of a few words.
    static func word<Word>(
        _ name: String,
        _ values: Words<Word>,
        _ doc: String
    ) -> Parameter where Value == Word? {
        Parameter(name: name, schema: .word(values.map(\.word)), doc: doc) { text throws(Problem) in
            guard let text else { return nil }
            if let found = values.first(where: { $0.word == text }) { return found.value }
            let words = values.map(\.word)
            throw Problem(
                .badTarget,
                "\(name) knows no \"\(text.prefix(64))\"; it is one of \(words.joined(separator: ", "))",
                didYouMean: nearestWord(to: text, among: words)
            )
        }
    }

    /// One of a few words, the first where nothing is said.
    static func choice(_ name: String, _ values: Words<Value>, _ doc: String) -> Parameter {
        Parameter<Value?>.word(name, values, doc).or(values[0].value, .string(values[0].word))
    }

    /// Several of a few words, with commas between them.
    static func words<Word>(
        _ name: String,
        _ values: Words<Word>,
        _ doc: String
    ) -> Parameter where Value == [Word] {
        let one = Parameter<Word?>.word(name, values, doc)
        return Parameter(name: name, schema: .list(one.schema, 1...), doc: doc) { text throws(Problem) in
            var chosen: [Word] = []
            for part in text?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
                if let word = try one.read(String(part)) { chosen.append(word) }
            }
            return chosen
        }
    }
}

/// A field of a request as a parameter of the document.
struct RequestField: Sendable {
    let name: String
    let schema: Schema
    let doc: String
}
