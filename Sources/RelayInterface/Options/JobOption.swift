package import RelayBase

/// An option of a job, which a field of the request, a member of a document, a program in Swift and the command name.
///
/// A class, so that looking one up copies none of its texts.
package final class JobOption: Sendable {
    /// The field of a request.
    package let field: StaticString
    package let value: OptionValue
    /// A sentence for the manual, the schema and, without its full stop, the command's help.
    package let sentence: String
    /// Further sentences of the manual.
    package let details: String
    /// Whether it asks for a job that is kept on disk.
    package let isForKeeping: Bool
    /// The field in lower case, as problems name it.
    package let lowercasedField: String
    /// The option of the command, without its dashes: `ordering-key`.
    package let flag: String
    /// The member of `options`: `ordering_key`.
    package let member: String
    /// The property of `SubmissionOptions`: `orderingKey`.
    package let property: String

    private init(
        _ field: StaticString,
        _ value: OptionValue,
        keeps isForKeeping: Bool = false,
        _ sentence: String,
        _ details: String = ""
    ) {
        self.field = field
        self.value = value
        self.sentence = sentence
        self.details = details
        self.isForKeeping = isForKeeping
        lowercasedField = field.description.lowercased()
        let words = lowercasedField.split(separator: "-").filter { $0 != "waystation" }
        flag = words.joined(separator: "-")
        let plural = value.repeats ? "s" : ""
        member = words.joined(separator: "_") + plural
        let others = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        property = words[0] + others.joined() + plural
    }

    /// Every option, in the order of the documents.
    package static let all: [JobOption] = [
        JobOption(
            "Waystation-Timeout",
            .duration(\.timeout, .milliseconds(1)...longest),
            "Give up after this long, all attempts and waits included.",
            "It covers the request's body and a collected answer, whose time timeouts.total does not count, and ends at "
                + "the head of a streamed answer, whose rest timeouts.idle and timeouts.min_rate alone bound. A kept "
                + "job expires then. This option and the next two only tighten what the route says."
        ),
        JobOption(
            "Waystation-Attempt-Timeout",
            .duration(\.attemptTimeout, .milliseconds(1)...longest),
            "Give one attempt up after this long.",
            "The time in which bodies move does not count."
        ),
        JobOption(
            "Waystation-Max-Attempts",
            .integer(\.maxAttempts, 1...100),
            "Let at most so many attempts reach the wire, the first one included.",
            "Where the route allows fewer, the answer has a field of this name with that number, and so has a kept job's "
                + "document, as max_attempts. A kept connection that closes unanswered is made anew within one attempt "
                + "(max_attempts of waystation.json(5))."
        ),
        JobOption(
            "Waystation-Fallback",
            .onOff(\.fallback),
            "Whether failover, placeholders, fallbacks and stale answers may act.",
            "They may without it."
        ),
        JobOption(
            "Waystation-Constrained",
            .constrained(\.constrained),
            "The treatment of the request while the network is constrained.",
            "send sends it, wait has it wait, and refuse refuses it with 503 network_constrained. It counts where it sends "
                + "less than the route's constrained. A request waits until its time is over and is then refused; a kept job "
                + "is held until the network is not constrained any more, and one that is refused then is dead."
        ),
        JobOption(
            "Waystation-Delay",
            .duration(\.delay, .zero...longest),
            keeps: true,
            "Keep the job, and put it off for this long.",
            "It is shorter than the job lives, and goes without a date."
        ),
        JobOption(
            "Waystation-Not-Before",
            .moment(\.notBefore),
            keeps: true,
            "Keep the job, and do not send it before this date.",
            "The date is within 365 days and the job's life; it goes without a delay."
        ),
        JobOption(
            "Waystation-Expires-After",
            .duration(\.expiresAfter, .seconds(1)...longest),
            keeps: true,
            "Keep the job, and give it up when it is not delivered in this time.",
            "The route's delivery.expires_after bounds it."
        ),
        JobOption(
            "Priority",
            .urgency(\.priority),
            "The urgency: 0 first, 7 last; 3 without it (RFC 9218).",
            "It gives a kept job, and a request that waits for a full route, twice the turns of its user's of the next "
                + "urgency, where users have their turns one after the other; decides what is refused first while memory "
                + "is short (limits.shedding); and goes on to the upstream."
        ),
        JobOption(
            "Waystation-Ordering-Key",
            .key(\.orderingKey),
            keeps: true,
            "Keep the job, and deliver those of one key one at a time.",
            "They go in the order of their acceptance; the same key of another user or route is another."
        ),
        JobOption(
            "Waystation-Supersede-Key",
            .key(\.supersedeKey),
            keeps: true,
            "Keep the job, and cancel those of the same key that still wait.",
            "The same key of another user or route is another."
        ),
        JobOption(
            "Waystation-Label",
            .labels,
            "A label that stands in the job's document and finds it; up to 16 times."
        ),
    ]

    package static let longest: Duration = .seconds(365 * 86_400)
}

extension JobOption {
    /// Adds the field; one that stands once takes the place of another.
    ///
    /// - Returns: false, adding nothing, when the text has a control byte.
    package func write(_ text: String, to fields: inout HeaderFields) -> Bool {
        let (name, text) = (field.description, value.fieldText(text))
        return value.repeats ? fields.append(name, text) : fields.set(name, text)
    }

    package static func named(_ member: String) -> JobOption? { byMember[member] }

    private static let byMember = Dictionary(uniqueKeysWithValues: all.map { ($0.member, $0) })

    /// The two that exclude each other, where both stand.
    package static func conflict(in options: SubmissionOptions) -> (JobOption, JobOption)? {
        guard options.delay != nil, options.notBefore != nil, let delay = named("delay"),
            let date = named("not_before")
        else { return nil }
        return (delay, date)
    }

    /// A text about fields, in which those of `options` have the name that they were written with.
    package static func renamed(
        _ text: String,
        _ options: [JobOption],
        _ name: (JobOption) -> String
    ) -> String {
        options.filter { $0.lowercasedField != $0.flag }.reduce(text) { text, option in
            text.parts(between: option.lowercasedField).reduce(nil as String?) { told, part in
                guard let told else { return part }
                // A longer word is another field.
                let isWhole = part.utf8.first.map { !isTokenByte($0) } ?? true
                return told + (isWhole ? name(option) : option.lowercasedField) + part
            } ?? text
        }
    }
}
