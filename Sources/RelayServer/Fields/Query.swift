import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayJSON

/// The parameters of a call, read strictly: one that is unknown, stands twice or is malformed is refused by name.
struct Query {
    private let path: String
    private let pairs: [(name: String, value: String)]

    /// - Throws: `bad_target` for a parameter that is none of these or stands twice.
    init(_ target: String, _ parameters: [any QueryParameter]) throws(Problem) {
        let known = parameters.map(\.name)
        path = String(target.prefix { $0 != "?" })
        var pairs: [(name: String, value: String)] = []
        guard let mark = target.firstIndex(of: "?") else {
            self.pairs = []
            return
        }
        for item in target[target.index(after: mark)...].split(separator: "&") {
            let name = try Query.decoded(item.prefix { $0 != "=" })
            guard known.contains(name) else {
                let list =
                    known.isEmpty ? "it has none" : "it reads \(known.joined(separator: ", "))"
                throw Problem(
                    .badTarget,
                    "\(path.prefix(128)) has no parameter \"\(name.prefix(64))\"; \(list)",
                    didYouMean: nearestWord(to: name, among: known)
                )
            }
            guard !pairs.contains(where: { $0.name == name }) else {
                throw Problem(.badTarget, "\(name) may stand once, and stands twice")
            }
            pairs.append((name, try Query.decoded(item.drop { $0 != "=" }.dropFirst())))
        }
        self.pairs = pairs
    }

    subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    subscript(parameter: TextParameter) -> String? { self[parameter.name] }

    /// The same call with another value of one parameter, as a target.
    func target(replacing name: String, with value: String) -> String {
        let kept = pairs.filter { $0.name != name } + [(name, value)]
        return path + "?"
            + kept.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
    }

    func number(_ parameter: NumberParameter) throws(Problem) -> Int? {
        try number(parameter.name, parameter.range)
    }

    func number(_ parameter: CountParameter) throws(Problem) -> Int {
        try number(parameter.name, parameter.range) ?? parameter.standard
    }

    private func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = self[name] else { return nil }
        guard text.utf8.count <= 10, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(text), range.contains(number)
        else {
            throw Problem(
                .badTarget,
                "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    /// A moment in milliseconds since 1970 UTC.
    func moment(_ parameter: MomentParameter) throws(Problem) -> Int64? {
        let name = parameter.name
        guard let text = self[name] else { return nil }
        guard let moment = UTCTime.milliseconds(parsing: text), moment >= 0 else {
            throw Problem(.badTarget, "\(name) is a date and time of RFC 3339, such as 2027-01-31T08:00:00Z")
        }
        return moment
    }

    func duration(_ parameter: DurationParameter) throws(Problem) -> Duration? {
        let (name, limit) = (parameter.name, parameter.limit)
        guard let text = self[name] else { return nil }
        guard let duration = DurationText.parse(text), duration <= limit else {
            throw Problem(
                .badTarget,
                "\(name) is a duration with a unit, such as 30s, and at most \(DurationText.text(limit))"
            )
        }
        return duration
    }

    func word<Value>(_ parameter: WordParameter<Value>) throws(Problem) -> Value? {
        guard let text = self[parameter.name] else { return nil }
        return try Query.choose(parameter.name, text, parameter.values)
    }

    func word<Value>(_ parameter: ChoiceParameter<Value>) throws(Problem) -> Value {
        guard let text = self[parameter.name] else { return parameter.values[0].value }
        return try Query.choose(parameter.name, text, parameter.values)
    }

    func words<Value>(_ parameter: WordsParameter<Value>) throws(Problem) -> [Value] {
        guard let text = self[parameter.name] else { return [] }
        var chosen: [Value] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            chosen.append(try Query.choose(parameter.name, String(part), parameter.values))
        }
        return chosen
    }

    private static func choose<Value>(
        _ name: String,
        _ text: String,
        _ values: [(word: String, value: Value)]
    ) throws(Problem) -> Value {
        if let found = values.first(where: { $0.word == text }) { return found.value }
        let words = values.map(\.word)
        throw Problem(
            .badTarget,
            "\(name) knows no \"\(text.prefix(64))\"; it is one of \(words.joined(separator: ", "))",
            didYouMean: nearestWord(to: text, among: words)
        )
    }

    /// Undoes percent-encoding, and `+` for a blank.
    private static func decoded(_ text: Substring) throws(Problem) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalValue,
                    let low = rest.popFirst()?.hexadecimalValue
                else {
                    throw Problem(.badTarget, "a parameter is not percent-encoded as it should be")
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Problem(.badTarget, "a parameter is not UTF-8")
        }
        return text
    }
}
