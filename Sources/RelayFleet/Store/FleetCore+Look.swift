import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

/// The looks for work of a node that hears no hints; the beat looks as well, and for more.
extension FleetCore {
    /// Milliseconds for which an entry may be committed later than one that is due after it.
    private static let late: Int64 = 400
    /// Milliseconds before which whatever is due is the beat's.
    private static let old: Int64 = 3_000

    func lookOften() async {
        var random = FastRandom()
        // The time before which all was taken at the last look.
        var floor = Int64.min
        while !isClosing {
            try? await loop.sleep(until: loop.currentTime() + pace.next(&random))
            guard refusal == nil, lease.maySend(at: options.clock()) else { continue }
            // The beat tells of a database that is away.
            guard let found = try? await lookForFresh(&floor) else { continue }
            pace.looked(found: found)
        }
    }

    /// Looks for what has come to wait lately in the slots that take it.
    private func lookForFresh(_ floor: inout Int64) async throws(StoreError) -> Bool {
        let (asked, heads) = (now, heads)
        let result = try await round(
            "look for work",
            [PostgresStatement(statements.fresh(heads), [.int64(max(floor, asked - Self.old))])]
        )[0]
        floor = asked - Self.late
        var fresh: [String: FreshWork] = [:]
        for row in 0..<result.count {
            guard let route = result.int64(row, 0).map({ Int32(clamping: $0) }),
                let party = result.int64(row, 1), let urgency = result.int64(row, 2),
                let low = result.int64(row, 3)
            else { continue }
            floor = min(floor, low - Self.late)
            let line = FleetLines.Line(party: party, urgency: Int16(clamping: urgency))
            let isFar = heads != self.heads || steady < headsSettleAt
            lines[route, default: FleetLines()].wake(line, from: low, to: now, isFar: isFar)
            // Not how many: the same ones are found until they are taken.
            if let name = routeNames[route] { fresh[name] = FreshWork(hasDates: true) }
        }
        if !fresh.isEmpty { events.ready(fresh) }
        return result.count > 0
    }
}
