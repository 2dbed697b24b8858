import PostgresTestSupport
import RelayFleet
import RelayFleetBench
import RelayPosix

/// By turns, the store and pgbench with the statements that the store has sent, on as many connections and with as many jobs
/// a statement.
func besidePgbench(seconds: Int64, rounds: Int) async throws -> Bool {
    let server = try await PostgresServer.make()
    let (nodes, bare) = (try await Nodes(server), try await Nodes(server))
    let store = try await nodes.open("one")
    var isMissed = false
    for submitters in [64, 256] {
        _ = try await lives(store, submitters: submitters, seconds: 2)
        let sent = try await Sent(nodes) { _ = try await lives(store, submitters: submitters, seconds: 1) }
        let script = sent.script(from: nodes.schema, to: bare.schema)
        var ratios: [Double] = []
        for round in 0..<rounds {
            var rates = [0.0, 0.0]
            for index in round % 2 == 0 ? [0, 1] : [1, 0] {
                if index == 0 {
                    rates[0] =
                        Double(try await lives(store, submitters: submitters, seconds: seconds))
                        / Double(seconds)
                } else {
                    rates[1] = try Double(sent.jobs) * pgbench(script, on: server, seconds: seconds)
                }
            }
            ratios.append(rates[0] / rates[1])
            print(
                "\(submitters) in flight: store \(Int(rates[0])) lives/s, pgbench \(Int(rates[1])) by \(sent.jobs) a statement"
            )
        }
        isMissed = isMissed || median(ratios) < 0.6
        print("\(submitters) in flight: \(median(ratios)) × pgbench (aim 0.6 ×)")
    }
    await store.close()
    return isMissed
}

/// Transactions a second, of sessions whose plans are made as the store's are.
private func pgbench(_ script: String, on server: PostgresServer, seconds: Int64) throws -> Double {
    let words = [
        "-n", "-h", server.folder, "-p", "\(server.port)", "-U", "relay", "-M", "prepared", "-f", "-",
    ]
    let options = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off"
    let said = try server.call(
        "pgbench",
        words + ["-c", "3", "-D", "low=0", "-T", "\(seconds)", "dbname=postgres options='\(options)'"],
        input: script
    )
    guard let rate = said.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
        let value = Double(rate.dropFirst(6).prefix { $0 != " " }), !said.contains("aborted")
    else { fatalError(said) }
    return value
}

/// Statements of the store with their values, from the server's log.
struct Sent {
    struct Statement {
        var text: String
        var values: [String]

        /// The words with each value in its place; of arrays the first of theirs, `count` times.
        func filled(_ own: [Int: String], count: String) -> String {
            var filled = ""
            var rest = text[...]
            while let mark = rest.firstIndex(of: "$") {
                filled += rest[..<mark]
                rest = rest[mark...].dropFirst()
                let digits = rest.prefix { $0.isNumber }
                rest = rest.dropFirst(digits.count)
                let number = Int(digits) ?? 0
                let type: Substring =
                    rest.hasPrefix("::") ? rest.dropFirst(2).prefix { $0.isLetter || $0.isNumber } : ""
                if let value = own[number] {
                    filled += value
                } else if rest.dropFirst(2 + type.count).hasPrefix("[]") {
                    filled += "array_fill((\(values[number - 1])::\(type)[])[1], ARRAY[\(count)])"
                } else {
                    filled += values[number - 1]
                }
            }
            return filled + rest
        }

        /// The words until the last SELECT, which becomes a table of its own, and what is selected from that.
        func selecting(_ what: String) -> String {
            let parts = text.components(before: "\nSELECT ")
            return "\(parts.0),\nz AS (SELECT \(parts.1)) SELECT \(what) FROM z"
        }
    }

    let accept, claim, change: Statement
    let jobs: Int
    /// The places of those jobs of an acceptance that run.
    private let runs: [Int]

    init(_ nodes: Nodes, _ body: () async throws -> Void) async throws {
        try nodes.server.sql("ALTER SYSTEM SET log_min_duration_statement = 0")
        try nodes.server.sql("SELECT pg_reload_conf()")
        try await body()
        try nodes.server.sql("ALTER SYSTEM RESET log_min_duration_statement")
        try nodes.server.sql("SELECT pg_reload_conf()")
        let all = Self.statements(try nodes.server.log())
        let accepts = all.filter {
            $0.text.hasPrefix("WITH a AS (SELECT * FROM unnest($1::uuid[]") && $0.text.contains(".ready_")
        }
        let sizes = accepts.map { $0.values[0].split(separator: ",").count }
        guard !sizes.isEmpty,
            let claim = all.last(where: { $0.text.hasPrefix("WITH p AS") && $0.text.contains(".ready_") }),
            let change = all.last(where: {
                $0.text.contains("AS slot, a.* FROM unnest($1::bigint[]") && !$0.text.contains(".ready_")
            })
        else { fatalError("the log tells of no statements") }
        // Half of the jobs went in larger ones.
        let half = sizes.reduce(0, +) / 2
        let size = sizes.sorted().reduce((0, 0)) { $0.1 < half ? ($1, $0.1 + $1) : $0 }.0
        accept = accepts[sizes.firstIndex(of: size) ?? 0]
        (self.claim, self.change, jobs) = (claim, change, size)
        let states = accept.values[3].split(separator: ",")
        runs = states.indices.filter { states[$0].contains("2") }.map { $0 + 1 }
    }

    /// Statements that were executed, each with its values as they stand in an SQL text.
    private static func statements(_ log: String) -> [Statement] {
        var found: [Statement] = []
        var text: String?
        for line in log.replacing("\n\t", with: "\u{1}").split(separator: "\n") {
            if line.contains("LOG:  duration: "), let place = line.firstRange(of: "execute ") {
                text = line[place.upperBound...].firstRange(of: ": ").map {
                    String(line[$0.upperBound...]).replacing("\u{1}", with: "\n")
                }
            } else if let known = text, let place = line.firstRange(of: "DETAIL:  parameters: $1 = ") {
                found.append(Statement(text: known, values: values(line[place.upperBound...])))
                text = nil
            }
        }
        return found
    }

    /// The values of `'a', $2 = NULL, $3 = 'b'`, quoted as they are.
    private static func values(_ text: Substring) -> [String] {
        var (values, value, isQuoted) = ([String](), "", false)
        var rest = text
        while let letter = rest.popFirst() {
            if letter == "'" { isQuoted.toggle() }
            if letter == ",", !isQuoted, rest.hasPrefix(" $"), let place = rest.firstRange(of: " = ") {
                values.append(value)
                value = ""
                rest = rest[place.upperBound...]
            } else {
                value.append(letter)
            }
        }
        return values + [value]
    }

    /// One turn of a client: it accepts as many jobs as the store does at once, claims those that wait, and settles all.
    func script(from schema: String, to bare: String) -> String {
        var (accept, claim) = (accept, claim)
        accept.text = accept.selecting(
            "coalesce(array_agg(seq ORDER BY seq) FILTER (WHERE id IS NOT NULL), '{}')::text AS born"
        )
        claim.text = claim.selecting(
            "coalesce(array_agg(seq), '{}')::text AS claimed, coalesce(max(due), :low) AS low"
        )
        var values: [Int: String] = [:]
        for (index, value) in accept.values.enumerated() { values[index + 1] = value }
        values[1] = "(SELECT array_agg(gen_random_uuid()) FROM generate_series(1, \(jobs)))"
        let running = "ARRAY[\(runs.map { "(:born::bigint[])[\($0)]" }.joined(separator: ", "))]::bigint[]"
        let all = "(\(running) || :claimed::bigint[])"
        let numbers =
            "(array_fill(1, ARRAY[\(runs.count)]) || array_fill(2, ARRAY[cardinality(:claimed::bigint[])]))"
        let count = "\(runs.count) + cardinality(:claimed::bigint[])"
        let texts = [
            accept.filled(values, count: "1") + " \\gset",
            claim.filled([7: "'{\(jobs - runs.count)}'", 8: "ARRAY[:low::bigint]"], count: "1") + " \\gset",
            change.filled([1: all, 2: numbers], count: count) + ";",
        ]
        return texts.joined(separator: "\n").replacing("\"\(schema)\"", with: "\"\(bare)\"") + "\n"
    }
}

extension String {
    /// The words before and after the last place of `mark`.
    fileprivate func components(before mark: String) -> (String, String) {
        guard let place = ranges(of: mark).last else { return (self, "") }
        return (String(self[..<place.lowerBound]), String(self[place.upperBound...]))
    }
}
