import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

/// Events that daemons tell each other of, as long as somebody reads them.
extension FleetCore {
    /// Events of a daemon that stay, and that are read at once.
    private static let (kept, page): (Int64, Int64) = (8_192, 1_000)
    /// Milliseconds after which a daemon says again what is read there, and for which that holds.
    private static let (renewal, validity): (Int64, Int64) = (10_000, 30_000)
    /// Milliseconds after which events of a daemon that is gone are removed.
    private static let remembered: Int64 = 600_000

    /// Puts what happened here where others find it, and takes what they have put there.
    ///
    /// Each daemon numbers its own, one batch after the other, so that whoever goes on after a number misses none. Where
    /// `kinds` names none that somebody reads here, none is asked for.
    func exchange(_ events: [SharedEvent], reading kinds: String) async throws(StoreError) -> [SharedEvent] {
        // Also where the store is not open: who tells them does not tell them again.
        untold += events
        try checkOpen()
        let s = statements.s
        var batch: [PostgresStatement] = []
        let first = toldEvents + 1
        if !untold.isEmpty {
            batch += [
                PostgresStatement(
                    """
                    INSERT INTO \(s).event(generation, n, stored, at, kind, teller, uid, node, route, job, data)
                    SELECT $1, $2 + i - 1, \(statements.now), at, kind, $3, uid, node, route, job, data FROM
                    unnest($4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::bytea[], $10::bytea[])
                    WITH ORDINALITY AS a(at, kind, uid, node, route, job, data, i) ON CONFLICT DO NOTHING
                    """,
                    [
                        .int64(generation), .int64(first), .text(options.node), .int64s(untold.map(\.at)),
                        .texts(untold.map(\.kind.type)),
                        .optionalInt64s(untold.map { $0.user.map(Int64.init) }),
                        .optionalTexts(untold.map(\.node.text)), .optionalTexts(untold.map(\.route)),
                        .optionalBytesArray(untold.map { $0.job?.bytes }), .bytesArray(untold.map(\.data)),
                    ]
                ),
                PostgresStatement(
                    // Not again those before them, whose entries stay while somebody holds a snapshot.
                    "DELETE FROM \(s).event WHERE generation = $1 AND n > $2 AND n <= $3",
                    [
                        .int64(generation), .int64(toldEvents - Self.kept),
                        .int64(toldEvents + Int64(untold.count) - Self.kept),
                    ]
                ),
            ]
        }
        let isRenewed = !kinds.isEmpty && (kinds != readKinds.kinds || steady >= readKinds.until)
        if isRenewed {
            batch += [
                PostgresStatement(
                    """
                    INSERT INTO \(s).reader(node, kinds, until) VALUES ($1, $2, \(statements.now) + \(Self.validity))
                    ON CONFLICT (node) DO UPDATE SET kinds = excluded.kinds, until = excluded.until
                    """,
                    [.text(options.node), .text(kinds)]
                ),
                PostgresStatement(
                    "DELETE FROM \(s).event WHERE stored < \(statements.now) - \(Self.remembered)"
                ),
            ]
        }
        if !kinds.isEmpty {
            batch.append(
                PostgresStatement(
                    statements.events(Self.page),
                    [
                        .int64s(Array(heardEvents.keys)), .int64s(Array(heardEvents.values)),
                        .int64(generation),
                    ]
                )
            )
        }
        guard !batch.isEmpty else { return [] }
        let results = try await round("exchange events", batch)
        toldEvents += Int64(untold.count)
        untold = []
        if isRenewed { readKinds = (kinds, steady + Self.renewal) }
        return kinds.isEmpty ? [] : heard(results[results.count - 1])
    }

    private func heard(_ result: PostgresResult) -> [SharedEvent] {
        var events: [SharedEvent] = []
        for row in 0..<result.count {
            guard let generation = result.int64(row, 0), let number = result.int64(row, 1),
                let at = result.int64(row, 2)
            else { continue }
            if let known = heardEvents[generation], number - 1 > known {
                events.append(.lost(UInt64(number - known - 1), at: at))
            }
            heardEvents[generation] = number
            // A later version may tell of kinds that this one does not know.
            guard let kind = EventKind.allCases.first(where: { $0.type == result.text(row, 3) }) else {
                continue
            }
            var event = SharedEvent(kind, at: at, data: result.bytes(row, 9) ?? [])
            guard event.isSound else {
                events.append(.lost(1, at: at))
                continue
            }
            event.teller = NodeName(result.text(row, 4))
            event.user = result.int64(row, 5).map(UInt32.init(clamping:))
            event.node = NodeName(result.text(row, 6))
            event.route = result.text(row, 7)
            event.job = result.bytes(row, 8).flatMap(JobID.init(bytes:))
            events.append(event)
        }
        return events
    }
}

extension FleetStatements {
    /// The first events of each daemon behind the last that was heard of: $1 generations, $2 their numbers, $3 the own one.
    ///
    /// Each is looked for from its number on: those before it stay while somebody holds a snapshot.
    func events(_ most: Int64) -> String {
        """
        SELECT e.* FROM (SELECT generation, max(n) AS n FROM (
        SELECT * FROM unnest($1::bigint[], $2::bigint[]) k(generation, n) UNION ALL
        SELECT unnest(former || generation), 0 FROM \(s).node) k WHERE generation <> $3 GROUP BY generation) k,
        LATERAL (SELECT e.generation, e.n, e.at, e.kind, e.teller, e.uid, e.node, e.route, e.job, e.data
        FROM \(s).event e WHERE e.generation = k.generation AND e.n > k.n ORDER BY e.n LIMIT \(most)) e
        ORDER BY e.generation, e.n LIMIT \(most)
        """
    }
}
