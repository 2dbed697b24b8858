import RelayBase
import RelayEngine
import RelayHTTP
import RelayInterface
import RelayJSON

/// The parameters of a call, read strictly: one that is unknown, stands twice or is malformed is refused by name.
struct Query {
    private let path: String
    private let pairs: [(name: String, value: String)]

    /// - Throws: `bad_target` for a parameter that is not in `known` or stands twice.
    init(_ target: String, _ known: [String]) throws(Problem) {
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

    /// The same call with another value of one parameter, as a target.
    func target(replacing name: String, with value: String) -> String {
        let kept = pairs.filter { $0.name != name } + [(name, value)]
        return path + "?"
            + kept.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
    }

    func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
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
    func moment(_ name: String) throws(Problem) -> Int64? {
        guard let text = self[name] else { return nil }
        guard let moment = UTCTime.milliseconds(parsing: text), moment >= 0 else {
            throw Problem(.badTarget, "\(name) is a date and time of RFC 3339, such as 2027-01-31T08:00:00Z")
        }
        return moment
    }

    func duration(_ name: String, upTo limit: Duration) throws(Problem) -> Duration? {
        guard let text = self[name] else { return nil }
        guard let duration = DurationText.parse(text), duration <= limit else {
            throw Problem(
                .badTarget,
                "\(name) is a duration with a unit, such as 30s, and at most \(DurationText.text(limit))"
            )
        }
        return duration
    }

    /// One of a few words, as what it stands for.
    func word<Value>(_ name: String, _ values: [(word: String, value: Value)]) throws(Problem) -> Value? {
        guard let text = self[name] else { return nil }
        return try Query.choose(name, text, values)
    }

    /// Several of a few words, separated by commas.
    func words<Value>(_ name: String, _ values: [(word: String, value: Value)]) throws(Problem) -> [Value] {
        guard let text = self[name] else { return [] }
        var chosen: [Value] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            chosen.append(try Query.choose(name, String(part), values))
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
