import RelayBase
import RelayEngine
import RelayJSON
import RelayJobs

/// Walks a submitted document and collects every error with its pointer.
struct SubmissionReader {
    private(set) var errors: [(pointer: String, message: String, hint: String?)] = []

    /// - Throws: the errors, if there are any; `what` has them.
    func check(_ what: String, or code: Problem.Code) throws(Problem) {
        guard !errors.isEmpty else { return }
        let count = errors.count == 1 ? "1 error" : "\(errors.count) errors"
        throw Problem(code, "\(what) has \(count); see errors", errors: errors)
    }

    mutating func fail(_ pointer: String, _ message: String, hint: String? = nil) {
        guard errors.count < 32 else { return }
        errors.append((pointer, message, hint))
    }

    /// Visits the members of an object; an unknown one is an error with the nearest name, or with what `hints` says.
    mutating func members(
        _ value: JSONValue,
        _ pointer: String,
        _ known: [String],
        hints: [String: String] = [:],
        _ visit: (inout SubmissionReader, String, JSONValue) -> Void
    ) {
        guard case .object(let members) = value else {
            return fail(pointer, "an object belongs here")
        }
        for member in members {
            guard known.contains(member.name) else {
                let hint =
                    hints[member.name]
                    ?? nearestWord(to: member.name, among: known).map { "did you mean \"\($0)\"?" }
                fail(pointer + pointerToken(member.name), "there is no such member", hint: hint)
                continue
            }
            visit(&self, member.name, member.value)
        }
    }

    mutating func string(_ value: JSONValue, _ pointer: String) -> String? {
        guard case .string(let text) = value else {
            fail(pointer, "a string belongs here")
            return nil
        }
        return text
    }

    /// True or false, as the member of that name.
    mutating func bool(_ value: JSONValue, _ pointer: String) -> Bool? {
        if case .bool(let isOn) = value { return isOn }
        fail(pointer, "\(pointer.split(separator: "/").last ?? "it") is true or false")
        return nil
    }

    /// A whole number, or an error in these words.
    mutating func number(
        _ value: JSONValue,
        _ pointer: String,
        _ bounds: ClosedRange<Int>,
        _ message: String
    ) -> Int? {
        if case .number(let number) = value, let count = number.int64.map({ Int($0) }), bounds.contains(count)
        {
            return count
        }
        fail(pointer, message)
        return nil
    }

    /// A string of 1 to 256 bytes.
    mutating func text(_ value: JSONValue, _ pointer: String) -> String? {
        guard let text = string(value, pointer) else { return nil }
        guard JobFilter.textLengths.contains(text.utf8.count) else {
            fail(pointer, "it has 1 to 256 bytes")
            return nil
        }
        return text
    }

    /// One of a few words, as what it stands for.
    mutating func word<Value>(
        _ value: JSONValue,
        _ pointer: String,
        _ values: [(word: String, value: Value)]
    ) -> Value? {
        guard let text = string(value, pointer) else { return nil }
        if let found = values.first(where: { $0.word == text }) { return found.value }
        let words = values.map(\.word)
        fail(
            pointer,
            "it is one of \(words.joined(separator: ", "))",
            hint: nearestWord(to: text, among: words).map { "did you mean \"\($0)\"?" }
        )
        return nil
    }

    /// A date and time in milliseconds since 1970 UTC.
    mutating func moment(_ value: JSONValue, _ pointer: String) -> Int64? {
        guard let text = string(value, pointer) else { return nil }
        guard let moment = UTCTime.milliseconds(parsing: text), moment >= 0 else {
            fail(pointer, "it is a date and time of RFC 3339, such as 2027-01-31T08:00:00Z")
            return nil
        }
        return moment
    }

    /// A duration with its unit.
    mutating func duration(
        _ value: JSONValue,
        _ pointer: String,
        _ bounds: ClosedRange<Duration>
    ) -> Duration? {
        guard let text = string(value, pointer) else { return nil }
        guard let duration = DurationText.parse(text) else {
            fail(
                pointer,
                "a duration is written as 20s or 1h30m: d, h, m, s and ms, each once and in that order, 10000d at most"
            )
            return nil
        }
        guard bounds.contains(duration) else {
            let (least, most) = (DurationText.text(bounds.lowerBound), DurationText.text(bounds.upperBound))
            fail(pointer, "it is at least \(least) and at most \(most)")
            return nil
        }
        return duration
    }

    /// The elements of an array, of which there is at least one; none once an error is noted.
    mutating func elements(_ value: JSONValue, _ pointer: String, atMost limit: Int) -> [JSONValue] {
        guard case .array(let elements) = value, (1...limit).contains(elements.count) else {
            fail(pointer, "an array of 1 to \(limit) elements belongs here; leave it out to mean all")
            return []
        }
        return elements
    }

    /// The members of an object of strings.
    mutating func strings(_ value: JSONValue, _ pointer: String) -> [(name: String, text: String)] {
        guard case .object(let members) = value else {
            fail(pointer, "an object belongs here")
            return []
        }
        var pairs: [(String, String)] = []
        for member in members {
            guard let text = string(member.value, pointer + pointerToken(member.name)) else { continue }
            pairs.append((member.name, text))
        }
        return pairs
    }
}

/// A member's name as one token of a JSON pointer (RFC 6901 §3), with its slash; a long one is cut.
func pointerToken(_ name: String) -> String {
    "/"
        + name.prefix(64).map { character in
            switch character {
            case "~": "~0"
            case "/": "~1"
            default: String(character)
            }
        }.joined()
}

extension JSONValue {
    /// Reads a document that was submitted as `what`.
    init(_ document: [UInt8], as what: String, or code: Problem.Code) throws(Problem) {
        do throws(JSONError) {
            try self.init(parsing: document)
        } catch {
            throw Problem(code, "\(what) is not JSON: \(error.message) at byte \(error.offset)")
        }
    }
}
