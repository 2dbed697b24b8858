import RelayCore
import RelayEngine
import RelayJSON

/// What a caller is told whose job is kept.
struct AcceptedAnswer {
    let accepted: Acceptance.Accepted
    let preferences: Preferences

    /// Where the job stands from now on, as lines of the head.
    func append(to output: inout OutputBuffer) {
        output.append("Location: /v1/jobs/")
        accepted.id.append(to: &output)
        output.append("\r\nWaystation-Job: ")
        accepted.id.append(to: &output)
        output.append("\r\n")
    }

    /// Whether it is an earlier job, and what was done as the caller would like it.
    ///
    /// An answer of the upstream names its job already, and its `Location` is the upstream's.
    var fields: [(name: StaticString, value: String)] {
        var fields: [(name: StaticString, value: String)] = []
        if accepted.isReplayed { fields.append(("Waystation-Replayed", "true")) }
        if let applied = preferences.applied { fields.append(("Preference-Applied", applied)) }
        return fields
    }

    /// 202, or 200 for a key that was known.
    func answer(_ document: [UInt8]) -> Answer { answer(accepted.isReplayed ? 200 : 202, document) }

    func answer(_ status: Status, _ document: [UInt8]) -> Answer {
        let own = Answer.Own(status: status, accepted: self, fields: fields)
        return Answer(head: .own(own), body: .bytes(document))
    }

    /// The job in a few words, without asking the store: it has just said that it is there.
    ///
    /// Of an earlier job that was dropped since there is nothing to say but that.
    func document(_ admission: Admission, _ durable: DurableOptions) -> [UInt8] {
        var json = begin(admission)
        if accepted.isReplayed {
            json.append(text: ",\"dropped\":true}")
            return json
        }
        switch durable.due {
        case .now, .after(.zero): json.append(text: ",\"state\":\"queued\",\"repeatable\":")
        case .after, .date: json.append(text: ",\"state\":\"scheduled\",\"repeatable\":")
        }
        json.append(text: accepted.mayRepeat ? "true" : "false")
        json.append(text: ",\"links\":{\"self\":\"/v1/jobs/")
        json.append(id: accepted.id)
        json.append(text: "\",\"response\":\"/v1/jobs/")
        json.append(id: accepted.id)
        json.append(text: "/response\"}}")
        return json
    }

    /// Which job it is, and nothing about it.
    func receipt(_ admission: Admission) -> [UInt8] { begin(admission) + [UInt8(ascii: "}")] }

    /// As bytes: nearly all of it is the same for every job, and this is what most who keep jobs ever hear.
    private func begin(_ admission: Admission) -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(256)
        json.append(text: "{\"id\":\"")
        json.append(id: accepted.id)
        json.append(text: "\",\"route\":")
        JSONText.append(string: admission.route.name, to: &json)
        json.append(text: ",\"durable\":true")
        return json
    }
}

extension [UInt8] {
    fileprivate mutating func append(text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    fileprivate mutating func append(id: JobID) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 26) { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe id.write(to: start)
            unsafe append(contentsOf: buffer)
        }
    }
}
