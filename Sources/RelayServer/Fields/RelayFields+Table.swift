import RelayEngine
import RelayInterface
import RelayJSON

extension JobOption {
    /// The field as a parameter of the document.
    fileprivate var parameter: RequestField {
        RequestField(name: field.description, schema: value.fieldSchema, doc: sentence)
    }

    /// The member of `options` in the document.
    var memberProperty: Property { .maybe(member, value.memberSchema, sentence) }
}

extension OptionValue {
    fileprivate var fieldSchema: Schema {
        switch self {
        case .onOff: .word(["on", "off"])
        case .constrained: .word(OptionValue.constrainedWords)
        case .moment: .momentText
        case .key: .visible(OptionValue.keyLengths)
        case .labels:
            .visible(OptionValue.labelLengths).with("pattern", .string("^[!-<>-~][ -~]*=[ -~]*$"))
        case .urgency: .pattern("^u=[0-7]$")
        case .duration, .integer: memberSchema
        }
    }

    fileprivate var memberSchema: Schema {
        switch self {
        case .duration(_, let range): .duration(range)
        case .integer(_, let range): .integer(range)
        case .urgency: .integer(OptionValue.urgencies).standard(.number(JSONNumber(3)))
        case .onOff: .boolean.standard(.bool(true))
        case .constrained: .word(OptionValue.constrainedWords)
        case .moment: .askedMoment
        case .key: .key
        case .labels: .labels
        }
    }
}

extension Schema {
    fileprivate static let key = text(OptionValue.keyLengths).with(
        "pattern",
        .string(
            "^[^\\u0000-\\u0020\\u007f]([^\\u0000-\\u0008\\u000a-\\u001f\\u007f]*[^\\u0000-\\u0020\\u007f])?$"
        )
    )

    /// Names and values of labels.
    fileprivate static let labels = map(.fieldText)
        .with("propertyNames", pattern("^[^=\\u0000-\\u0008\\u000a-\\u001f\\u007f]+$").json)
        .with("maxProperties", .number(JSONNumber(OptionValue.mostLabels)))

    /// The value of a field.
    static let fieldText = pattern("^[^\\u0000-\\u0008\\u000a-\\u001f\\u007f]*$")
}

extension RelayFields {
    /// Every field a caller may send, with what it may say.
    static let all = JobOption.all.map(\.parameter).filter { $0.name != priority.name }

    /// The fields of other standards that say how a job is treated.
    static let standards = [prefer, idempotencyKey, priority]

    static let prefer = RequestField(
        name: "Prefer",
        schema: .text.with(
            "examples",
            .array([.string("respond-async"), .string("respond-async, wait=30")])
        ),
        doc:
            "respond-async keeps the job, and wait=SECONDS, at most 300, waits for its end (RFC 7240); what else it says "
            + "is ignored."
    )
    static let idempotencyKey = RequestField(
        name: "Idempotency-Key",
        schema: .pattern("^\"[ !#-\\[\\]-~]{1,256}\"$"),
        doc: "A string in quotes, by which the same request is known again."
    )
    static let priority = RequestField(
        name: "Priority",
        schema: .pattern("^u=[0-7]$"),
        doc: "The urgency, u=0 first and u=7 last (RFC 9218)."
    )
}
