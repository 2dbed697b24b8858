import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

/// Hints from node to node that something waits: each may be lost, since every node also looks by itself.
extension FleetCore {
    /// Nanoseconds between two hints of one route, in which the node may take the job itself.
    private static let interval: Int64 = 10_000_000
    /// Milliseconds within which a hint has all lines of its route looked for.
    private static let rescan: Int64 = 50
    /// Nanoseconds until hints are tried again after they could not be sent.
    private static let pause: Int64 = 1_000_000_000

    private var channel: String { options.database.schema }

    /// Connects to hear hints, where nothing does so yet; the connection does nothing else.
    func keepListening() {
        guard listener?.isOver != false, !isDialling, let settings = options.listening else { return }
        isDialling = true
        spawn { core in
            core.listener = try? await core.dial(settings) { [weak core] in core?.take(hint: $0) }
            core.isDialling = false
        }
    }

    private func dial(
        _ settings: PostgresSettings,
        _ heard: ((String) -> Void)? = nil
    ) async throws(PostgresError) -> PostgresConnection {
        let statementTimeout = options.statementTimeout
        var settings = settings
        settings.applicationName += " hints"
        let connection = try await PostgresConnection.connect(
            settings,
            library,
            on: loop,
            within: statementTimeout
        )
        if let heard {
            connection.onNotification = { heard($1) }
            let listen = PostgresStatement("LISTEN \(FleetSchema.quoted(channel))")
            try await connection.run([listen], within: statementTimeout)
        }
        if isClosing { connection.close() }
        return connection
    }

    /// Another node has work of a route: this one may have some of it.
    private func take(hint: String) {
        let numbers = Self.numbers(hint)
        guard numbers.count == 2, numbers[0] != generation else { return }
        let route = Int32(clamping: numbers[1])
        guard let name = routeNames[route], refusal == nil else { return }
        // Where more is known to wait, lines are looked for again soon, and not for every hint.
        let due = lines[route]?.isEmpty == false ? steady + Self.rescan : 0
        lines[route, default: FleetLines()].rescanAt = min(lines[route]?.rescanAt ?? 0, due)
        var fresh = FreshWork()
        fresh.add(dueAt: .min, now: now)
        events.ready([name: fresh])
    }

    /// Tells the other nodes that the route has work, on a connection of its own that writes nothing.
    func hint(_ route: Int32) {
        guard hasPeers, hints.insert(route).inserted, !isHinting, !isClosing else { return }
        isHinting = true
        spawn { await $0.sendHints() }
    }

    private func sendHints() async {
        while !hints.isEmpty, !isClosing {
            try? await loop.sleep(until: loop.currentTime() + Self.interval)
            let waiting = hints.filter { lines[$0]?.isEmpty == false }
            hints = []
            guard !waiting.isEmpty, !isClosing else { continue }
            let batch = waiting.map { route in
                PostgresStatement(
                    "SELECT pg_notify($1, $2)",
                    [.text(channel), .text("\(generation),\(route)")]
                )
            }
            do throws(PostgresError) {
                let connection: PostgresConnection
                if let hinter, !hinter.isOver {
                    connection = hinter
                } else {
                    connection = try await dial(options.listening ?? options.database)
                    hinter = connection
                }
                try await connection.run(batch, within: options.statementTimeout)
            } catch {
                // Nobody relies on hints: what is not told is found by looking.
                try? await loop.sleep(until: loop.currentTime() + Self.pause)
            }
        }
        isHinting = false
    }
}
