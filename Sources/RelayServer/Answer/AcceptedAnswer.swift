import RelayBase
import RelayEngine
import RelayHTTP
import RelayJSON
import RelayJobs
import RelayRoute

/// The answer to a caller whose job is kept.
struct AcceptedAnswer {
    let accepted: Acceptance.Accepted
    let preferences: Preferences

    /// Where the job stands from now on and how it was taken, as lines of the head.
    func append(to output: inout OutputBuffer) {
        let id = accepted.id.text
        output.append("Location: /v1/jobs/")
        output.append(id.span)
        output.append("\r\nWaystation-Job: ")
        output.append(id.span)
        HeadWriter.appendLineEnd(to: &output)
        eachField { HeadWriter.appendField($0, $1, to: &output) }
    }

    /// Whether it is an earlier job, and what was done as the caller would like it.
    ///
    /// An answer of the upstream names its job already, and its `Location` is the upstream's.
    var fields: [(name: StaticString, value: String)] {
        var fields: [(name: StaticString, value: String)] = []
        eachField { fields.append(($0, $1)) }
        return fields
    }

    private func eachField(_ take: (StaticString, String) -> Void) {
        if accepted.isReplayed { take("Waystation-Replayed", "true") }
        if let applied = preferences.applied { take("Preference-Applied", applied) }
    }

    /// 202, or 200 for a key that was known.
    func answer(_ document: [UInt8]) -> Answer { Answer(head: .own(own), body: .bytes(document)) }

    /// The head of that.
    var own: Answer.Own { Answer.Own(status: accepted.isReplayed ? 200 : 202, accepted: self) }

    func answer(_ status: Status, _ document: [UInt8]) -> Answer {
        Answer(head: .own(Answer.Own(status: status, accepted: self)), body: .bytes(document))
    }

    /// The job in a few words, without asking the store: it has just said that it is there.
    func document(_ admission: Admission) -> [UInt8] {
        var json = OutputBuffer(capacity: 512)
        append(admission, to: &json)
        return json.bytes
    }

    /// The same, behind what is there; of an earlier job that was dropped since there is nothing to say but that.
    func append(_ admission: Admission, to json: inout OutputBuffer) {
        begin(admission, &json)
        if accepted.isReplayed { return json.append(",\"dropped\":true}") }
        switch admission.keeping.due {
        case .now, .after(.zero): json.append(",\"state\":\"queued\",\"repeatable\":")
        case .after, .date: json.append(",\"state\":\"scheduled\",\"repeatable\":")
        }
        json.append(accepted.mayRepeat ? "true" : "false")
        let id = accepted.id.text
        json.append(",\"links\":{\"self\":\"/v1/jobs/")
        json.append(id.span)
        json.append("\",\"response\":\"/v1/jobs/")
        json.append(id.span)
        json.append("/response\"}}")
    }

    /// Which job it is, and nothing about it.
    func receipt(_ admission: Admission) -> [UInt8] {
        var json = OutputBuffer(capacity: 512)
        begin(admission, &json)
        json.append(UInt8(ascii: "}"))
        return json.bytes
    }

    /// As bytes: nearly all of it is the same for every job, and this is what most who keep jobs ever hear.
    private func begin(_ admission: Admission, _ json: inout OutputBuffer) {
        json.append("{\"id\":\"")
        accepted.id.append(to: &json)
        json.append("\",\"route\":")
        json.append(string: admission.route.name)
        json.append(",\"durable\":true")
    }
}

extension OutputBuffer {
    /// A string of JSON.
    fileprivate mutating func append(string text: String) {
        append(UInt8(ascii: "\""))
        if JSONText.escapedLength(of: text.utf8.span) == text.utf8.count {
            append(text: text)
        } else {
            var escaped: [UInt8] = []
            JSONText.append(escaping: text.utf8.span, to: &escaped)
            append(escaped)
        }
        append(UInt8(ascii: "\""))
    }
}
