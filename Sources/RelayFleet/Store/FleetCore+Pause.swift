import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

extension FleetCore {
    func readPauses() async throws(StoreError) -> [String: RoutePause] {
        let result = try await round(
            "read the pauses",
            [PostgresStatement("SELECT route, record FROM \(statements.s).pause")]
        )[0]
        var pauses: [String: RoutePause] = [:]
        for row in 0..<result.count {
            guard let route = result.text(row, 0), let record = result.bytes(row, 1) else { continue }
            // To send nothing is safe, and the operator can end it.
            pauses[route] = (try? RoutePause.read(record))?.pause ?? .unreadable
        }
        return pauses
    }

    func pause(_ route: String, _ pause: RoutePause?) async throws(StoreError) {
        let statement =
            if let pause {
                PostgresStatement(
                    """
                    INSERT INTO \(statements.s).pause(route, record) VALUES ($1, $2)
                    ON CONFLICT (route) DO UPDATE SET record = excluded.record
                    """,
                    [.text(route), .bytes(pause.sealed(route))]
                )
            } else {
                PostgresStatement("DELETE FROM \(statements.s).pause WHERE route = $1", [.text(route)])
            }
        pauseChanges += 1
        defer { pauseChanges += 1 }
        _ = try await write("pause a route", [statement])
        pauses[route] = pause
        events.changed()
    }
}
