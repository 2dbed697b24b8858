import RelayBase
import RelayInterface
import RelayJSON

extension Submission {
    /// The options become the fields of the drop-in way: one reader for both.
    mutating func readOptions(_ value: JSONValue, _ reader: inout SubmissionReader) {
        var options = SubmissionOptions()
        let hints = SubmissionHints.inOptions
        reader.members(value, "/options", SubmissionHints.optionMembers, hints: hints) {
            reader,
            name,
            value in
            guard let option = JobOption.named(name) else { return }
            if option.isForKeeping { keepingOption = name }
            let pointer = "/options/\(name)"
            guard case .object(let labels) = value, option.value.repeats,
                labels.count <= OptionValue.mostLabels
            else { return take(option, option.value.text(value), pointer, &options, &reader) }
            for label in labels {
                var text: String?
                if case .string(let value) = label.value {
                    text = OptionValue.labels([(label.name, value)])?.first
                }
                take(option, text, pointer + pointerToken(label.name), &options, &reader)
            }
        }
        if let (first, second) = JobOption.conflict(in: options) {
            reader.fail("/options/\(first.member)", "\(first.member) and \(second.member) exclude each other")
        }
    }

    private mutating func take(
        _ option: JobOption,
        _ text: String?,
        _ pointer: String,
        _ options: inout SubmissionOptions,
        _ reader: inout SubmissionReader
    ) {
        guard let text, option.value.read(text, into: &options), option.write(text, to: &fields) else {
            return reader.fail(pointer, "\(option.member) \(option.value.memberDemand)")
        }
    }
}

extension OptionValue {
    /// The text of a member; nil for one of another type.
    fileprivate func text(_ value: JSONValue) -> String? {
        switch (self, value) {
        case (.integer, .number(let number)), (.urgency, .number(let number)):
            number.int64.map { String($0) }
        case (.onOff, .bool(let isOn)): isOn ? "on" : "off"
        case (.duration, .string(let text)), (.moment, .string(let text)), (.key, .string(let text)),
            (.constrained, .string(let text)):
            text
        default: nil
        }
    }

    /// The demand in the words of JSON.
    fileprivate var memberDemand: String {
        switch self {
        case .onOff: "must be true or false"
        case .labels:
            "must be at most 16 texts, each of at most 256 bytes with its name, which has no =, and without control "
                + "characters"
        case .duration, .integer, .urgency, .constrained, .moment, .key: demand
        }
    }
}
