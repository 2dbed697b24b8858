package import RelayBase
import RelayEngine
import RelayJSON

/// The wishes of a caller (RFC 7240); one that is unknown or malformed counts as not said.
package struct Preferences: Sendable {
    /// Accepted now, answered later.
    package private(set) var isAsynchronous = false
    /// Seconds the caller waits, at most `longestWait`.
    package private(set) var wait: Int?

    /// Nobody waits for longer; they ask again.
    package static let longestWait: Duration = .seconds(300)

    package init() {}

    package init(_ fields: HeaderFields) {
        for entry in fields.entries where fields.matches(entry, .prefer) { take(entry, of: fields) }
    }

    /// Those of a job, which have been read.
    init(_ admission: Admission) {
        isAsynchronous = admission.keeping.isAsynchronous
        wait = admission.keeping.wait.map { Int($0.components.seconds) }
    }

    /// Takes up one more `Prefer` field; the first of several waits counts.
    mutating func take(_ entry: HeaderFields.Entry, of fields: HeaderFields) {
        // Nearly all say just this, and taking it apart costs more than all else in the head.
        if fields.withValue(entry, { $0.isSame(as: "respond-async") }) {
            isAsynchronous = true
        } else {
            take(fields.valueText(entry))
        }
    }

    private mutating func take(_ value: String) {
        for preference in value.split(separator: ",") {
            let parts = preference.prefix { $0 != ";" }.split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            ).map { String($0).trimmingBlanks }
            switch parts[0].lowercased() {
            case "respond-async" where parts.count == 1: isAsynchronous = true
            case "wait" where parts.count == 2 && wait == nil: wait = Preferences.seconds(parts[1])
            default: continue
            }
        }
    }

    /// A number of seconds, as a token or in quotes.
    private static func seconds(_ text: String) -> Int? {
        var digits = text.utf8[...]
        if digits.count >= 2, digits.first == UInt8(ascii: "\""), digits.last == UInt8(ascii: "\"") {
            digits = digits.dropFirst().dropLast()
        }
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), 300) }
    }

    package var waitDuration: Duration? { wait.map { .seconds($0) } }

    /// The preferences taken into account where a job is kept, for `Preference-Applied`; nil for nothing.
    ///
    /// A wait that ended without the answer has been honoured as well (RFC 7240 §4.3).
    package var applied: String? {
        guard wait != nil else { return isAsynchronous ? "respond-async" : nil }
        let words = (isAsynchronous ? ["respond-async"] : []) + (wait.map { ["wait=\($0)"] } ?? [])
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
