import RelayBase
import RelayEngine
import RelayJSON

extension Submission {
    private static let longest: Duration = .seconds(365 * 86_400)
    /// The ranges of the options with these names.
    static let timeouts: ClosedRange<Duration> = .milliseconds(1)...longest
    static let delays: ClosedRange<Duration> = .zero...longest
    static let expiries: ClosedRange<Duration> = .seconds(1)...longest

    /// The options become the fields of the drop-in way: one reader for both.
    mutating func readOptions(_ value: JSONValue, _ reader: inout SubmissionReader) {
        var dates = 0
        let hints = SubmissionHints.inOptions
        reader.members(value, "/options", SubmissionHints.optionMembers, hints: hints) {
            reader,
            name,
            value in
            let pointer = "/options/\(name)"
            if SubmissionHints.keepingOptions.contains(name) { keepingOption = name }
            switch name {
            case "timeout", "attempt_timeout", "delay", "expires_after":
                let bounds =
                    name == "delay"
                    ? Submission.delays : name == "expires_after" ? Submission.expiries : Submission.timeouts
                guard let duration = reader.duration(value, pointer, bounds) else { break }
                append(name, DurationText.text(duration))
                if name == "delay" { dates += 1 }
            case "max_attempts":
                let message = "max_attempts is a whole number from 1 to 100"
                if let count = reader.number(value, pointer, RequestTerms.attempts, message) {
                    append(name, String(count))
                }
            case "fallback":
                if let isOn = reader.bool(value, pointer) { append(name, isOn ? "on" : "off") }
            case "labels": readLabels(value, pointer, &reader)
            case "priority":
                let message = "priority is a whole number from 0, first, to 7, last"
                guard let urgency = reader.number(value, pointer, RequestTerms.urgencies, message) else {
                    break
                }
                fields.set("Priority", "u=\(urgency)")
            case "ordering_key", "supersede_key":
                guard let key = reader.text(value, pointer) else { break }
                guard key.trimmingBlanks == key, append(name, key) else {
                    return reader.fail(pointer, "a key has no control characters, nor blanks around it")
                }
            default:
                guard reader.moment(value, pointer) != nil, case .string(let text) = value else { break }
                append(name, text)
                dates += 1
            }
        }
        if dates > 1 { reader.fail("/options/delay", "delay and not_before exclude each other") }
    }

    /// Adds the field that stands for an option.
    @discardableResult
    private mutating func append(_ option: String, _ value: String) -> Bool {
        fields.append("waystation-" + String(option.map { $0 == "_" ? "-" : $0 }), value)
    }

    private mutating func readLabels(
        _ value: JSONValue,
        _ pointer: String,
        _ reader: inout SubmissionReader
    ) {
        let labels = reader.strings(value, pointer)
        if labels.count > RequestTerms.mostLabels { reader.fail(pointer, "a job has at most 16 labels") }
        for (name, text) in labels {
            let label = "\(name)=\(text)"
            let place = pointer + pointerToken(name)
            if name.isEmpty || name.contains("=") || label.utf8.count > 256 {
                reader.fail(place, "a label has a name without =, and at most 256 bytes with its value")
            } else if !fields.append("Waystation-Label", label) {
                reader.fail(place, "a label has no control characters")
            }
        }
    }
}
