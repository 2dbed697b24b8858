import RelayBase
import RelayJobs
import RelayPostgres
import RelayRecords

/// Settlements whose claim was over before they came.
extension FleetCore {
    /// Puts the attempt of a node that was cut off in the place of the account that a takeover has made up for it; nothing
    /// else changes.
    func keepLate(_ settlement: Settlement) async {
        guard let first = settlement.attempts.first, var attempt = settlement.attempts.last else { return }
        let (s, id) = (statements.s, settlement.token.id)
        do throws(StoreError) {
            let result = try await round(
                "read a job's history",
                [
                    PostgresStatement(
                        """
                        SELECT c.slot, c.seq, c.n, c.attempts FROM \(s).job j JOIN \(s).change c ON c.slot = j.slot
                        AND c.seq = j.seq WHERE j.id = $1 AND c.attempts IS NOT NULL AND c.token IS NULL
                        """,
                        [.uuid(id.bytes)]
                    )
                ]
            )[0]
            for index in 0..<result.count {
                guard let old = result.bytes(index, 3),
                    let made = (try? FleetContent.attempts(sealed: old, for: id))?.first,
                    made.number == first.number, let failure = made.failure, failure.kind == .interrupted,
                    failure.sent == .unknown,
                    let slot = result.int64(index, 0), let seq = result.int64(index, 1),
                    let n = result.int64(index, 2)
                else { continue }
                attempt.failure =
                    attempt.failure
                    ?? Failure(
                        .interrupted,
                        sent: .answered,
                        "the node was cut off from the database while the attempt was under way, and its answer came too late"
                    )
                guard
                    let kept = FleetContent.sealed(
                        [attempt],
                        after: UInt32(clamping: made.number - 1),
                        for: id,
                        by: node
                    )
                else { return }
                _ = try await round(
                    "keep an attempt",
                    [
                        PostgresStatement(
                            """
                            UPDATE \(s).change SET attempts = $4 WHERE slot = $1 AND seq = $2 AND n = $3
                            AND attempts = $5
                            """,
                            [
                                .int16(Int16(clamping: slot)), .int64(seq), .int32(Int32(clamping: n)),
                                .bytes(kept), .bytes(old),
                            ]
                        )
                    ]
                )
                return
            }
        } catch { events.notice(error.message) }
    }
}
