import RelayCore
import RelayEngine
import RelayJSON

/// What a caller is told whose job is kept.
struct AcceptedAnswer {
    let accepted: Acceptance.Accepted
    let preferences: Preferences
    /// Of the job, as text.
    private let id: String
    private let path: String

    init(accepted: Acceptance.Accepted, preferences: Preferences) {
        self.accepted = accepted
        self.preferences = preferences
        id = accepted.id.description
        path = "/v1/jobs/" + id
    }

    /// Where the job stands from now on, and whether it is an earlier one.
    ///
    /// An answer of the upstream names its job already, and its `Location` is the upstream's.
    func fields(withJob: Bool = true) -> [(name: StaticString, value: String)] {
        var fields: [(name: StaticString, value: String)] = []
        if withJob {
            fields.append(("Location", path))
            fields.append(("Waystation-Job", id))
        }
        if accepted.isReplayed { fields.append(("Waystation-Replayed", "true")) }
        if let applied = preferences.applied { fields.append(("Preference-Applied", applied)) }
        return fields
    }

    /// 202, or 200 for a key that was known.
    func answer(_ document: [UInt8]) -> Answer {
        Answer(accepted.isReplayed ? 200 : 202, document, fields: fields())
    }

    /// The job in a few words, without asking the store: it has just said that it is there.
    ///
    /// Of an earlier job that was dropped since there is nothing to say but that.
    func document(_ admission: Admission, _ durable: DurableOptions) -> [UInt8] {
        var json = begin(admission)
        if accepted.isReplayed {
            json.member("dropped", true)
            return json.bytes
        }
        switch durable.due {
        case .now, .after(.zero): json.member("state", "queued")
        case .after, .date: json.member("state", "scheduled")
        }
        json.member("repeatable", accepted.mayRepeat)
        json.object("links") { links in
            links.member("self", path)
            links.member("response", path + "/response")
        }
        return json.bytes
    }

    /// Which job it is, and nothing about it.
    func receipt(_ admission: Admission) -> [UInt8] { begin(admission).bytes }

    private func begin(_ admission: Admission) -> JSONObjectWriter {
        var json = JSONObjectWriter()
        json.member("id", id)
        json.member("route", admission.route.name)
        json.member("durable", true)
        return json
    }
}
