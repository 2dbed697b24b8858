import RelayCore
import RelayEngine
import RelayJSON

extension Submission {
    /// Delay and expiry at most.
    private static let longest: Duration = .seconds(365 * 86_400)

    /// The options become the fields of the drop-in way: one reader for both.
    mutating func readOptions(_ value: JSONValue, _ reader: inout SubmissionReader) {
        var dates = 0
        let hints = SubmissionHints.inOptions
        reader.members(value, "/options", SubmissionHints.optionMembers, hints: hints) {
            reader,
            name,
            value in
            let pointer = "/options/\(name)"
            switch name {
            case "timeout", "attempt_timeout":
                guard let duration = reader.duration(value, pointer, .milliseconds(1)...Submission.longest)
                else { break }
                fields.append(
                    name == "timeout" ? "Waystation-Timeout" : "Waystation-Attempt-Timeout",
                    DurationText.text(duration)
                )
            case "max_attempts":
                guard case .number(let number) = value, let count = number.int64, (1...100).contains(count)
                else {
                    return reader.fail(pointer, "max_attempts is a whole number from 1 to 100")
                }
                fields.append("Waystation-Max-Attempts", String(count))
            case "fallback":
                guard case .bool(let isOn) = value else {
                    return reader.fail(pointer, "fallback is true or false")
                }
                fields.append("Waystation-Fallback", isOn ? "on" : "off")
            case "labels": readLabels(value, pointer, &reader)
            case "priority":
                guard case .number(let number) = value, let urgency = number.int64, (0...7).contains(urgency)
                else {
                    return reader.fail(pointer, "priority is a whole number from 0, first, to 7, last")
                }
                fields.set("Priority", "u=\(urgency)")
            case "ordering_key", "supersede_key":
                guard let key = reader.text(value, pointer) else { break }
                let field = name == "ordering_key" ? "Waystation-Ordering-Key" : "Waystation-Supersede-Key"
                guard key.trimmingBlanks == key, fields.append(field, key) else {
                    return reader.fail(pointer, "a key has no control characters, nor blanks around it")
                }
                keepingOption = name
            case "delay", "expires_after":
                let least: Duration = name == "delay" ? .zero : .seconds(1)
                guard let duration = reader.duration(value, pointer, least...Submission.longest) else {
                    break
                }
                fields.append(
                    name == "delay" ? "Waystation-Delay" : "Waystation-Expires-After",
                    DurationText.text(duration)
                )
                dates += name == "delay" ? 1 : 0
                keepingOption = name
            default:
                guard reader.moment(value, pointer) != nil, case .string(let text) = value else { break }
                fields.append("Waystation-Not-Before", text)
                dates += 1
                keepingOption = name
            }
        }
        if dates > 1 { reader.fail("/options/delay", "delay and not_before exclude each other") }
    }

    private mutating func readLabels(
        _ value: JSONValue,
        _ pointer: String,
        _ reader: inout SubmissionReader
    ) {
        let labels = reader.strings(value, pointer)
        if labels.count > 16 { reader.fail(pointer, "a job has at most 16 labels") }
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
