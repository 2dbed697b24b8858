import RelayBase
import RelayCore
import RelayEngine
import RelayHTTP
import RelayJobs

@testable import RelayServer

/// The strings of the API: the first byte says which, the rest is the string.
///
/// Nothing crashes, what is accepted is read the same again from what it is written as, and every time is bounded.
@c(LLVMFuzzerTestOneInput)
public func fuzzAPI(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    let text = String(decoding: rest, as: UTF8.self)
    switch kind {
    case UInt8(ascii: "b"): checkBulk(rest)
    case UInt8(ascii: "c"): checkCursor(text)
    case UInt8(ascii: "d"): checkDuration(text)
    case UInt8(ascii: "e"): checkTags(text)
    case UInt8(ascii: "i"): checkID(text)
    case UInt8(ascii: "k"): checkKey(text)
    case UInt8(ascii: "l"): checkLabel(text)
    case UInt8(ascii: "o"): checkBreaker(rest)
    case UInt8(ascii: "p"): checkPreferences(text)
    case UInt8(ascii: "q"): checkQuery(rest)
    case UInt8(ascii: "s"): checkSubmission(rest)
    case UInt8(ascii: "t"): checkTime(text)
    default: break
    }
    return 0
}

/// The last millisecond of the year 9999, the last that has a text.
let lastMoment: Int64 = 253_402_300_799_999

/// A field by its value; nil for a value that no field has, as the parser takes blanks around it away.
func field(_ name: String, _ value: String) -> HeaderFields? {
    guard value.first != " ", value.first != "\t", value.last != " ", value.last != "\t" else { return nil }
    var fields = HeaderFields()
    return fields.append(name, value) ? fields : nil
}

private func checkCursor(_ text: String) {
    guard let cursor = JobCursor(text: text) else { return }
    precondition(cursor.position >= 0, "a place before the first")
    precondition(JobCursor(text: cursor.text) == cursor, "a cursor written and read again is another")
}

private func checkDuration(_ text: String) {
    guard let duration = DurationText.parse(text) else { return }
    precondition(duration >= .zero && duration <= .seconds(10_000 * 86_400), "a duration out of bounds")
    precondition(DurationText.parse(DurationText.text(duration)) == duration, "a duration changes")
}

private func checkTags(_ text: String) {
    for name in [FieldName.ifMatch, .ifNoneMatch] {
        guard let fields = field(name.lowercasedText, text) else { continue }
        let tags = EntityTags(fields, name)
        precondition(!tags.isEmpty, "a field that is there counts as none")
        for version in [0, 1, 7, UInt64.max] where tags.has(version: version) {
            precondition(text.contains("*") || text.contains("v\(version)"), "a version nobody named")
        }
        precondition(EntityTags(HeaderFields(), name).isEmpty)
    }
    if let fields = field("If-Match", "\"v7\", " + text) {
        precondition(EntityTags(fields, .ifMatch).has(version: 7), "a tag is lost beside another")
    }
}

private func checkID(_ text: String) {
    guard let id = JobID(text: text) else { return }
    precondition(id.description == text.uppercased(), "an id is written as another")
    precondition(JobID(text: id.description) == id && id.milliseconds >= 0)
}

private func checkTime(_ text: String) {
    guard let moment = UTCTime.milliseconds(parsing: text) else { return }
    precondition(moment <= lastMoment, "a moment after the year 9999")
    guard moment >= 0 else { return }
    precondition(UTCTime.milliseconds(parsing: UTCTime.format(milliseconds: moment)) == moment)
}

private func checkKey(_ text: String) {
    guard let fields = field("Idempotency-Key", text), let read = try? RequestTerms(fields) else { return }
    guard let key = read.durable.idempotencyKey else { preconditionFailure("a key is lost") }
    precondition((1...256).contains(key.utf8.count) && key.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    let escaped = key.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    guard let again = field("Idempotency-Key", "\"\(escaped)\"").flatMap({ try? RequestTerms($0) }) else {
        preconditionFailure("a key that was read is refused in quotes")
    }
    precondition(again.durable.idempotencyKey == key, "a key in quotes is another")
}

private func checkLabel(_ text: String) {
    guard let fields = field("Waystation-Label", text), let read = try? RequestTerms(fields) else { return }
    precondition(read.options.labels == [text], "a label changes")
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    precondition(parts.count == 2 && !parts[0].isEmpty && text.utf8.count <= 256, "no label")
}

/// The gate and the answer read the same field.
private func checkPreferences(_ text: String) {
    guard let fields = field("Prefer", text), let read = try? RequestTerms(fields) else { return }
    let preferences = Preferences(fields)
    precondition(read.wantsDurable == preferences.isAsynchronous, "kept, and not said so")
    precondition(read.durable.wait == preferences.waitDuration, "waited for another time than was said")
    precondition((preferences.waitDuration ?? .zero) <= Preferences.longestWait)
    guard let applied = preferences.applied else { return }
    guard let again = field("Prefer", applied) else { preconditionFailure("what is applied is no field") }
    precondition(Preferences(again).applied == applied, "what is applied reads otherwise")
}
