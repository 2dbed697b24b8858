import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

/// Hints between nodes: of work that waits they are told at once, so that one with room takes it. Nobody relies on that,
/// since every node looks by itself as well.
extension FleetCore {
    /// Nanoseconds between two hints, in which the node may take the job itself.
    private static let interval: Int64 = 10_000_000
    /// Nanoseconds until hints are tried again after they could not be sent.
    private static let pause: Int64 = 1_000_000_000

    /// Tells the others soon that a job of the route waits, unless it is taken by then.
    func hint(_ route: Int32) {
        hints.insert(route)
        guard !isHinting else { return }
        isHinting = true
        spawn { await $0.sendHints() }
    }

    private func sendHints() async {
        while !hints.isEmpty, !isClosing {
            try? await loop.sleep(until: loop.currentTime() + Self.interval)
            let told = hints.filter { lines[$0]?.isEmpty == false }.compactMap { routeNames[$0] }
            hints = []
            guard !told.isEmpty, !isClosing else { continue }
            do throws(PostgresError) {
                // One of its own, which writes nothing: a commit with a hint waits for all others that have one.
                let connection: PostgresConnection
                if let hinting, !hinting.isOver {
                    connection = hinting
                } else {
                    connection = try await pool.connectAside(nil)
                }
                hinting = connection
                let statement = PostgresStatement(
                    "SELECT pg_notify($1, r) FROM unnest($2::text[]) r",
                    [.text(options.database.schema), .texts(told.map { "\(generation) \($0)" })]
                )
                try await connection.run([statement], within: options.statementTimeout)
            } catch {
                hinting = nil
                try? await loop.sleep(until: loop.currentTime() + Self.pause)
            }
        }
        isHinting = false
    }

    /// Listens where it does not yet and can: behind a pooler only on a way past it.
    func listen() {
        guard !isListening, listening?.isOver != false, !options.database.isPooled || options.direct != nil
        else {
            return
        }
        isListening = true
        spawn { core in
            do throws(PostgresError) {
                let connection = try await core.pool.connectAside(core.options.direct)
                connection.onNotification = { [weak core] _, payload in core?.heard(payload) }
                let statement = PostgresStatement("LISTEN \(core.statements.s)")
                try await connection.run([statement], within: core.options.statementTimeout)
                core.listening = core.isClosing ? nil : connection
            } catch { core.listening = nil }
            core.isListening = false
        }
    }

    private func heard(_ payload: String) {
        let words = payload.parts(between: " ")
        guard words.count == 2, Int64(words[0]) != generation, let number = routes[String(words[1])] else {
            return
        }
        lines[number, default: FleetLines()].rescanAt = 0
        var fresh = FreshWork()
        fresh.add(dueAt: .min, now: now)
        events.ready([String(words[1]): fresh])
    }
}
