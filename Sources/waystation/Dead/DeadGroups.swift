import RelayJSON
import RelayJobs

/// Dead jobs by what they have in common; as large as there are groups, not jobs.
struct DeadGroups {
    enum Key: String {
        /// The last attempt's kind of failure and its answer's status; for a job that never failed, why it is over.
        case kind
        case route
        /// The upstream of the last attempt, with its route as `billing/eu`; the route where there was no attempt.
        case upstream
    }

    /// The marks that tell one group from another; jobs that may have been carried out stand apart from the others.
    private struct Identity: Hashable {
        var name: String
        var upstream: String?
        var status: Int64?
        var doubt: String?
    }

    struct Group {
        /// The kind, the end or the route.
        var key: String
        var upstream: String?
        /// Of the last answer, in a group of a kind.
        var status: Int64?
        /// The end that says that the jobs may have been carried out.
        var doubt: String?
        /// The other word of each: routes of a kind, kinds of a route.
        var others: [String: Int] = [:]
        /// Why they are over.
        var ends: [String: Int] = [:]
        var count = 0
        var oldest: String
        var newest: String
        /// The newest job.
        var sample: String
        /// Whether the key is a kind that a filter of the API knows.
        var isKind: Bool
    }

    private let by: Key
    private var groups: [Identity: Group] = [:]

    init(by: Key) { self.by = by }

    mutating func add(_ job: JSONValue) {
        let end = job["end"]?.text ?? "dead"
        let kind = job["last_failure"]?["kind"]?.text
        let route = job["route"]?.text ?? "?"
        let answered = job["last_failure"]?["status"]?.integer
        let status = by == .kind ? answered : nil
        let key = Identity(
            name: by == .kind ? kind ?? end : route,
            upstream: by == .upstream ? job["last_failure"]?["upstream"]?.text : nil,
            status: status,
            doubt: EndReason(rawValue: end).mayHaveActed ? end : nil
        )
        let created = job["created_at"]?.text ?? ""
        var group =
            groups[key]
            ?? Group(
                key: key.name,
                upstream: key.upstream,
                status: status,
                doubt: key.doubt,
                oldest: created,
                newest: created,
                sample: job["id"]?.text ?? "?",
                isKind: by == .kind && kind != nil
            )
        group.count += 1
        group.others[
            by == .kind ? route : kind.map { $0 + (answered.map { " \($0)" } ?? "") } ?? end,
            default: 0
        ] += 1
        group.ends[end, default: 0] += 1
        // Moments of one form and zone sort as text.
        group.oldest = min(group.oldest, created)
        if created > group.newest {
            group.newest = created
            group.sample = job["id"]?.text ?? "?"
        }
        groups[key] = group
    }

    /// The largest first.
    var sorted: [Group] { groups.values.sorted { ($1.count, $0.title) < ($0.count, $1.title) } }

    func text(_ style: ListStyle, route: String?, _ advice: Advice = Advice()) -> String {
        guard !groups.isEmpty else { return "There are no dead jobs.\n" }
        var table = TextTable([
            (by.rawValue.uppercased(), .left), ("COUNT", .right), ("OLDEST", .right),
            ("NEWEST", .right),
            (by == .kind ? "ROUTES" : "KINDS", .left), ("ENDED AS", .left), ("SAMPLE", .left),
        ])
        for group in sorted {
            table.add([
                group.title, String(group.count), style.moments.age(group.oldest),
                style.moments.age(group.newest), mostFrequent(group.others), mostFrequent(group.ends),
                safe(group.sample),
            ])
        }
        return style.text(of: table) + sorted.prefix(5).map { commands($0, route, advice) }.joined()
    }

    /// The three most frequent words.
    private func mostFrequent(_ counts: [String: Int]) -> String {
        let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { safe($0.key) }
        return most.prefix(3).joined(separator: ", ") + (most.count > 3 ? ", …" : "")
    }

    private func commands(_ group: Group, _ route: String?, _ advice: Advice) -> String {
        var clauses = ["state=dead"]
        if by != .kind {
            clauses.append("route=\(group.key)")
            if let upstream = group.upstream { clauses.append("upstream=\(upstream)") }
        } else if let route {
            clauses.append("route=\(route)")
        }
        if group.isKind { clauses.append("kind=\(group.key)") }
        if let status = group.status { clauses.append("status=\(status)") }
        let sample = safe(group.sample)
        var text = "\n\(group.title)\(group.doubt.map { ", \($0)" } ?? ""):\n"
        if group.doubt != nil { text += "  They may have been carried out: ask the upstream first.\n" }
        text += "  Why:    \(advice("explain \(sample)", isOwn: true))\n"
        // Named by what they ended as, so that nobody retries or drops those in doubt among others.
        for end in group.ends.keys.sorted() {
            let filter = safe((clauses + ["end=\(end)"]).joined(separator: ","))
            let retry =
                "jobs retry --where \(filter)" + (group.doubt == nil ? "" : " --unknown") + " --rate 50/s"
            text += "  Retry:  \(advice(retry))\n  Drop:   \(advice("jobs drop --where \(filter)"))\n"
        }
        return text
    }

    var document: JSONValue {
        .object([
            JSONValue.Member("by", .string(by.rawValue)),
            JSONValue.Member("groups", .array(sorted.map(document))),
        ])
    }

    func document(_ group: Group) -> JSONValue {
        .object([
            JSONValue.Member(by.rawValue, .string(group.name)),
            JSONValue.Member("status", group.status.map { .number(JSONNumber(Int($0))) } ?? .null),
            JSONValue.Member("ends", counts(group.ends)),
            JSONValue.Member("count", .number(JSONNumber(group.count))),
            JSONValue.Member("oldest", .string(group.oldest)),
            JSONValue.Member("newest", .string(group.newest)),
            JSONValue.Member(by == .kind ? "routes" : "kinds", counts(group.others)),
            JSONValue.Member("sample", .string(group.sample)),
        ])
    }

    private func counts(_ words: [String: Int]) -> JSONValue {
        .object(
            words.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .number(JSONNumber($0.value))) }
        )
    }
}

extension DeadGroups.Group {
    /// `billing/eu`, or what else it is known by.
    var name: String { key + (upstream.map { "/\($0)" } ?? "") }
    /// `http_status 401`.
    var title: String { safe(name) + (status.map { " \($0)" } ?? "") }
}
