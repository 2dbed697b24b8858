package import RelayBase
import RelayJSON

/// The values of an option, and their property of `SubmissionOptions`.
package enum OptionValue: Sendable {
    package typealias Storage<Value> = any WritableKeyPath<SubmissionOptions, Value?> & Sendable

    case duration(Storage<Duration>, ClosedRange<Duration>)
    case integer(Storage<Int>, ClosedRange<Int>)
    /// A whole number, which a field writes as `u=3`.
    case urgency(Storage<Int>)
    case onOff(Storage<Bool>)
    /// `send`, `wait` or `refuse`.
    case constrained(Storage<ConstrainedUse>)
    case moment(Storage<WallTime>)
    case key(Storage<String>)
    case labels

    /// Bytes of a key.
    package static let keyLengths = 1...256
    /// Bytes of a label with its name.
    package static let labelLengths = 2...256
    package static let mostLabels = 16
    /// 0 first, 7 last (RFC 9218 §4.1).
    package static let urgencies = 0...7

    /// The words for a constrained network.
    package static let constrainedWords = ConstrainedUse.allCases.compactMap(\.word)

    /// Whether it may stand more than once.
    package var repeats: Bool {
        if case .labels = self { true } else { false }
    }

    /// The end of a sentence that begins with the option's name.
    package var demand: String {
        switch self {
        case .duration(_, let range):
            "must be a duration with a unit, such as 250ms, 20s or 1h30m, from "
                + "\(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        case .integer(_, let range):
            "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .urgency:
            "must be a whole number from \(OptionValue.urgencies.lowerBound) to \(OptionValue.urgencies.upperBound)"
        case .onOff: "must be on or off"
        case .constrained: "must be send, wait or refuse"
        case .moment: "must be a date and time of RFC 3339, such as 2027-01-31T08:00:00Z"
        case .key: "must have 1 to 256 bytes, no control characters, and no blanks around it"
        case .labels: "must be name=value without control characters, at most 256 bytes, at most 16 times"
        }
    }

    /// Takes up a value as a field or the command writes it.
    ///
    /// - Returns: false where `demand` is not met.
    package func read(_ text: String, into options: inout SubmissionOptions) -> Bool {
        switch self {
        case .duration(let property, let range):
            guard let duration = DurationText.parse(text), range.contains(duration) else { return false }
            options[keyPath: property] = duration
        case .integer(let property, let range):
            return OptionValue.read(text, range, &options[keyPath: property])
        case .urgency(let property):
            return OptionValue.read(text, OptionValue.urgencies, &options[keyPath: property])
        case .onOff(let property):
            guard text == "on" || text == "off" else { return false }
            options[keyPath: property] = text == "on"
        case .constrained(let property):
            guard let use = ConstrainedUse(word: text) else { return false }
            options[keyPath: property] = use
        case .moment(let property):
            guard let moment = WallTime(text), moment.milliseconds >= 0 else { return false }
            options[keyPath: property] = moment
        case .key(let property):
            guard OptionValue.keyLengths.contains(text.utf8.count), text.trimmingBlanks == text,
                text.utf8.allSatisfy(isFieldValueByte)
            else { return false }
            options[keyPath: property] = text
        case .labels:
            guard options.writtenLabels.count < OptionValue.mostLabels,
                OptionValue.labelLengths.contains(text.utf8.count), text.contains("="),
                !text.hasPrefix("="), text.utf8.allSatisfy(isFieldValueByte)
            else { return false }
            options.writtenLabels.append(text)
        }
        return true
    }

    private static func read(_ text: String, _ range: ClosedRange<Int>, _ property: inout Int?) -> Bool {
        guard text.utf8.allSatisfy(\.isDigit), let number = Int(text), range.contains(number) else {
            return false
        }
        property = number
        return true
    }

    /// The values that `options` has, as `read` takes them; nil for one that no text can say.
    package func texts(_ options: SubmissionOptions) -> [String]? {
        switch self {
        case .duration(let property, let range):
            guard let duration = options[keyPath: property] else { return [] }
            // Only what is in the range has a text.
            return range.contains(duration) ? [DurationText.text(duration)] : nil
        case .integer(let property, _), .urgency(let property):
            return options[keyPath: property].map { ["\($0)"] } ?? []
        case .onOff(let property): return options[keyPath: property].map { [$0 ? "on" : "off"] } ?? []
        case .constrained(let property):
            guard let use = options[keyPath: property] else { return [] }
            // A lighter form is the route's to say.
            return use.word.map { [$0] }
        case .moment(let property): return options[keyPath: property].map { [$0.description] } ?? []
        case .key(let property): return options[keyPath: property].map { [$0] } ?? []
        case .labels:
            return OptionValue.labels(options.labels.sorted { $0.key < $1.key }).map {
                $0 + options.writtenLabels
            }
        }
    }

    /// Labels with names and values as `name=value`; nil where a name would end early.
    package static func labels(_ pairs: [(String, String)]) -> [String]? {
        guard pairs.allSatisfy({ !$0.0.isEmpty && !$0.0.contains("=") }) else { return nil }
        return pairs.map { "\($0)=\($1)" }
    }

    /// The value of the field.
    package func fieldText(_ text: String) -> String {
        if case .urgency = self { "u=\(text)" } else { text }
    }
}
