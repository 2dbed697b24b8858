import RelayJSON

/// Dead jobs by what they have in common; as large as there are groups, not jobs.
struct DeadGroups {
    enum Key: String {
        /// What the last attempt failed of; for a job that never failed, why it is over.
        case kind
        case route
    }

    struct Group {
        var key: String
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
    private var groups: [String: Group] = [:]

    init(by: Key) { self.by = by }

    mutating func add(_ job: JSONValue) {
        let end = job["end"]?.text ?? "dead"
        let kind = job["last_failure"]?["kind"]?.text
        let route = job["route"]?.text ?? "?"
        let key = by == .kind ? kind ?? end : route
        let created = job["created_at"]?.text ?? ""
        var group =
            groups[key]
            ?? Group(
                key: key,
                oldest: created,
                newest: created,
                sample: job["id"]?.text ?? "?",
                isKind: by == .kind && kind != nil
            )
        group.count += 1
        group.others[by == .kind ? route : kind ?? end, default: 0] += 1
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
    var sorted: [Group] { groups.values.sorted { ($1.count, $0.key) < ($0.count, $1.key) } }

    func text(_ style: ListStyle, route: String?) -> String {
        guard !groups.isEmpty else { return "There are no dead jobs.\n" }
        var table = TextTable([
            (by == .kind ? "KIND" : "ROUTE", .left), ("COUNT", .right), ("OLDEST", .right),
            ("NEWEST", .right),
            (by == .kind ? "ROUTES" : "KINDS", .left), ("ENDED AS", .left), ("SAMPLE", .left),
        ])
        for group in sorted {
            table.add([
                safe(group.key), String(group.count), style.moments.age(group.oldest),
                style.moments.age(group.newest), words(group.others), words(group.ends), safe(group.sample),
            ])
        }
        return style.text(of: table) + sorted.prefix(5).map { advice($0, route) }.joined()
    }

    /// The three most frequent words.
    private func words(_ counts: [String: Int]) -> String {
        let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { safe($0.key) }
        return most.prefix(3).joined(separator: ", ") + (most.count > 3 ? ", …" : "")
    }

    private func advice(_ group: Group, _ route: String?) -> String {
        var clauses = ["state=dead"]
        if by == .route {
            clauses.append("route=\(group.key)")
        } else if let route {
            clauses.append("route=\(route)")
        }
        if group.isKind { clauses.append("kind=\(group.key)") }
        let unknown =
            group.ends["outcome_unknown"] != nil
            ? "  Some may have been carried out (outcome_unknown): look before you retry them.\n" : ""
        // A group without a kind has no filter of its own: its jobs are named one by one.
        guard by == .route || group.isKind else {
            return "\n\(safe(group.key)):\n\(unknown)  Why:    waystation explain \(safe(group.sample))\n"
                + "  Retry:  waystation jobs retry \(safe(group.sample))\n"
        }
        let filter = safe(clauses.joined(separator: ","))
        return "\n\(safe(group.key)):\n\(unknown)  Why:    waystation explain \(safe(group.sample))\n"
            + "  Retry:  waystation jobs retry --where \(filter) --rate 50/s\n"
            + "  Drop:   waystation jobs drop --where \(filter)\n"
    }

    var document: JSONValue {
        .object([
            JSONValue.Member("by", .string(by.rawValue)),
            JSONValue.Member("groups", .array(sorted.map(document))),
        ])
    }

    func document(_ group: Group) -> JSONValue {
        .object([
            JSONValue.Member(by.rawValue, .string(group.key)),
            JSONValue.Member("count", .number(JSONNumber(group.count))),
            JSONValue.Member("oldest", .string(group.oldest)),
            JSONValue.Member("newest", .string(group.newest)),
            JSONValue.Member(
                by == .kind ? "routes" : "kinds",
                .object(
                    group.others.sorted { $0.key < $1.key }.map {
                        JSONValue.Member($0.key, .number(JSONNumber($0.value)))
                    }
                )
            ),
            JSONValue.Member("sample", .string(group.sample)),
        ])
    }
}
