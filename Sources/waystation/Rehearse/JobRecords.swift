import RelayBase
import RelayInterface
import RelayJSON

/// Jobs as they are on record, with what became of each attempt.
struct JobRecords {
    /// All of them, each once.
    private(set) var jobs: [Job] = []
    private var known: Set<String> = []
    private(set) var attemptCount = 0
    /// Jobs and attempts of a rehearsal at most, and attempts that are counted of one job.
    static let mostJobs = 20_000
    static let mostAttempts = 300_000
    private static let mostOfJob = 1_000_000
    /// Sentences on all that was left out.
    private(set) var notes: [String] = []
    /// Whether no job of the routes was left out.
    private(set) var isWhole = true

    mutating func add(_ job: Job) {
        guard known.insert(job.id).inserted else { return }
        var job = job
        job.countedAttempts = job.countedAttempts.map { min(max($0, 0), Self.mostOfJob) }
        attemptCount += job.attempts.count
        jobs.append(job)
    }

    /// Leaves out the oldest jobs where there are more than a rehearsal takes.
    mutating func bound(jobs most: Int = mostJobs, attempts limit: Int = mostAttempts) {
        guard jobs.count > most || attemptCount > limit else { return }
        let count = jobs.count
        jobs.sort {
            ($0.createdAt?.milliseconds ?? .min, $0.id) > ($1.createdAt?.milliseconds ?? .min, $1.id)
        }
        var sum = 0
        let end = jobs.indices.first { at in
            sum += jobs[at].attempts.count
            return at >= most || sum > limit
        }
        jobs.removeSubrange((end ?? count)...)
        noteCut(
            "Of \(count) jobs on record the newest \(jobs.count) were read, as many as a rehearsal takes."
        )
    }

    func has(_ id: String) -> Bool { known.contains(id) }

    mutating func note(_ sentence: String) { notes.append(sentence) }

    /// Says that jobs were left out.
    mutating func noteCut(_ sentence: String) {
        isWhole = false
        notes.append(sentence)
    }

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
        bound()
    }

    init() {}

    private mutating func add(_ json: JSONValue, _ file: String) throws(CommandFailure) {
        if json["left_out"] == .bool(true) {
            noteCut("\(file) does not have all jobs of its routes.")
            return
        }
        guard let job = Job(json), !job.id.isEmpty, !job.route.isEmpty else {
            throw CommandFailure(.failed, "\(file) has something that is no document of a job")
        }
        add(job)
    }

    /// The documents, one in each line, without what a rehearsal does not need.
    var lines: [UInt8] {
        var bytes: [UInt8] = []
        var paths: [RecordedClass: String] = [:]
        for job in jobs {
            let kind = RecordedClass(job)
            let path = paths[kind] ?? RecordedClass.path(paths.count)
            paths[kind] = path
            bytes += Job.members.bytes(of: job.record(path: path))
            bytes.append(UInt8(ascii: "\n"))
        }
        if !isWhole { bytes += Array("{\"left_out\":true}\n".utf8) }
        return bytes
    }
}

extension Job {
    /// All of it that a rehearsal needs; the path stands for the class of its request.
    fileprivate func record(path: String) -> Job {
        var rest = Job()
        (rest.id, rest.route, rest.stateWord, rest.end) = (id, route, stateWord, end)
        (rest.createdAt, rest.finishedAt, rest.status) = (createdAt, finishedAt, status)
        (rest.request.method, rest.request.path) = (request.method, path)
        (rest.countedAttempts, rest.isKeyed, rest.isDurable, rest.labels) = (
            countedAttempts, isKeyed, isDurable, labels
        )
        rest.lastFailure = lastFailure
        rest.lastFailure?.text = nil
        rest.lastFailure?.apiCode = nil
        rest.lastFailure?.apiTitle = nil
        (rest.expiresAt, rest.maxAttempts) = (expiresAt, maxAttempts)
        rest.version = version
        rest.listedAttempts = listedAttempts?.map { attempt in
            var rest = attempt
            (rest.detail, rest.apiCode, rest.apiTitle, rest.timing) = (nil, nil, nil, nil)
            // The port alone tells whether it is that of another configuration.
            rest.address = attempt.address.flatMap { address in
                address.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(address[$0...]) }
            }
            return rest
        }
        return rest
    }
}

extension Job {
    /// Whether it is over without success, or put aside: all others only tell what upstreams did.
    var isLost: Bool { [State.dead, .held, .expired].map(\.rawValue).contains(stateWord) }
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
