import RelayBase
import RelayInterface
import RelayJSON

/// Jobs as they are on record, with what became of each attempt.
struct JobRecords {
    /// All of them, each once.
    private(set) var jobs: [Job] = []
    private var known: Set<String> = []
    /// Sentences on all that was left out.
    private(set) var notes: [String] = []

    mutating func add(_ job: Job) {
        guard known.insert(job.id).inserted else { return }
        jobs.append(job)
    }

    func has(_ id: String) -> Bool { known.contains(id) }

    mutating func note(_ sentence: String) { notes.append(sentence) }

    /// Reads documents of jobs: a list, an object with a list as `jobs`, one document, or one in each line.
    init(parsing bytes: [UInt8], from file: String) throws(CommandFailure) {
        if let json = try? JSONValue(parsing: bytes) {
            var elements = [json]
            if case .array(let list) = json["jobs"] ?? json { elements = list }
            for element in elements { try add(element, file) }
        } else {
            for line in bytes.split(separator: UInt8(ascii: "\n")) where !line.allSatisfy({ $0 <= 0x20 }) {
                guard let json = try? JSONValue(parsing: Array(line)) else {
                    throw CommandFailure(
                        .failed,
                        "\(file) has no documents of jobs in JSON",
                        advice: "rehearse --save FILE writes some; so does jobs show ID -o json"
                    )
                }
                try add(json, file)
            }
        }
        guard !jobs.isEmpty else { throw CommandFailure(.notFound, "there is no job in \(file)") }
    }

    init() {}

    private mutating func add(_ json: JSONValue, _ file: String) throws(CommandFailure) {
        guard let job = Job(json), !job.id.isEmpty, !job.route.isEmpty else {
            throw CommandFailure(.failed, "\(file) has something that is no document of a job")
        }
        add(job)
    }

    /// The documents, one in each line, without what a rehearsal does not need.
    var lines: [UInt8] {
        var bytes: [UInt8] = []
        for job in jobs {
            bytes += Job.members.bytes(of: job.record)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}

extension Job {
    /// All of it that a rehearsal needs.
    fileprivate var record: Job {
        var rest = Job()
        (rest.id, rest.route, rest.stateWord, rest.end) = (id, route, stateWord, end)
        (rest.createdAt, rest.finishedAt, rest.status) = (createdAt, finishedAt, status)
        rest.request.method = request.method
        (rest.countedAttempts, rest.isKeyed, rest.isDurable, rest.labels) = (
            countedAttempts, isKeyed, isDurable, labels
        )
        rest.lastFailure = lastFailure
        rest.lastFailure?.text = nil
        rest.lastFailure?.apiTitle = nil
        rest.version = version
        rest.listedAttempts = listedAttempts?.map { attempt in
            var rest = attempt
            (rest.address, rest.detail, rest.apiTitle, rest.timing) = (nil, nil, nil, nil)
            return rest
        }
        return rest
    }
}

extension WhereClause {
    /// Whether a job is one of those that are meant.
    func matches(_ job: Job) -> Bool {
        filter.allSatisfy { member in
            let text = member.value.text
            switch member.name {
            case "state": return member.value.elements.contains { $0.text == job.stateWord }
            case "route": return job.route == text
            case "reason": return job.reason == text
            case "end": return job.end == text
            case "upstream": return job.lastFailure?.upstream == text
            case "label": return text.map { job.labels.contains($0) } ?? false
            case "failure_kind": return job.lastFailure?.kind == text
            case "status": return job.lastFailure?.status.map { Int64($0.rawValue) } == member.value.integer
            case "created_after":
                return job.createdAt.flatMap { at in text.flatMap { WallTime($0) }.map { at >= $0 } } ?? false
            case "created_before":
                return job.createdAt.flatMap { at in text.flatMap { WallTime($0) }.map { at < $0 } } ?? false
            default: return false
            }
        }
    }
}
