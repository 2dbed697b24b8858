import RelayBase
import RelayJobs
import RelayPostgres

extension FleetCore {
    /// Hands back what is claimed, ends the lease and the connections; nobody calls after that.
    func close() async {
        guard !isClosing else { return }
        isClosing = true
        let left = Array(running.values)
        do throws(StoreError) {
            if generation > 0 {
                _ = try await change(left) { row, _ in
                    var after = row.standing
                    let token = after.machine.token
                    // One that may have been sent is taken through a crash by the next start.
                    guard after.machine.begun == nil,
                        after.machine.giveUp(token: token, stays: true, now: self.now)
                    else { return nil }
                    return FleetChange(row, after)
                }
                _ = try await round(
                    "end the lease",
                    [
                        PostgresStatement(
                            "UPDATE \(statements.s).node SET until = \(statements.now) WHERE name = $1 AND generation = $2",
                            [.text(options.node), .int64(generation)]
                        )
                    ]
                )
            }
        } catch { events.notice(error.message) }
        breakOff()
    }

    /// Ends at once, and says so to whoever waits.
    func breakOff() {
        isClosing = true
        for pending in accepting.take(.max) { pending.told(.failure(.closed)) }
        for pending in settling.take(.max) { pending.told(.failure(.closed)) }
        hinting?.close()
        listening?.close()
        pool.close()
    }
}
