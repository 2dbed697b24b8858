import RelayBase
import RelayJobs
import RelayPosix
import RelayPostgres

/// Hints from node to node that something waits: each may be lost, since every node also looks by itself.
extension FleetCore {
    /// Nanoseconds in which the node may take the job itself, and those between two hints of one route.
    private static let delay: Int64 = 2_000_000
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
        guard numbers.count >= 2, numbers[0] != generation else { return }
        let route = Int32(clamping: numbers[1])
        guard let name = routeNames[route], refusal == nil else { return }
        let hint = FleetHint(numbers, heads)
        for (line, work) in hint?.lines ?? [:] {
            let isFar = work.isFar || steady < headsSettleAt
            lines[route, default: FleetLines()].wake(line, from: work.low, to: now, isFar: isFar)
        }
        if hint?.lines.isEmpty != false {
            // Where more is known to wait, lines are looked for again soon, and not for every hint.
            let due = lines[route]?.isEmpty == false ? steady + Self.rescan : 0
            lines[route, default: FleetLines()].rescanAt = min(lines[route]?.rescanAt ?? 0, due)
        }
        // Of fewer than wait the others would be left until the next look.
        var fresh = FreshWork(hasDates: hint == nil)
        fresh.jobs = hint?.jobs ?? 0
        events.ready([name: fresh])
    }

    /// Tells the other nodes that so many jobs have come to wait, on a connection of its own that writes nothing.
    func hint(_ route: Int32, _ count: Int = 1, in line: FleetLines.Line, from low: Int64, isFar: Bool) {
        guard hasPeers, !isClosing else { return }
        hints[route, default: FleetHint()].add(count, in: line, from: low, isFar: isFar)
        guard !isHinting else { return }
        isHinting = true
        spawn { await $0.sendHints() }
    }

    private func sendHints() async {
        while !hints.isEmpty, !isClosing {
            let began = loop.currentTime()
            try? await loop.sleep(until: began + Self.delay)
            let waiting = hints.filter { lines[$0.key]?.isEmpty == false }
            hints = [:]
            guard !waiting.isEmpty, !isClosing else { continue }
            let batch = waiting.map { route, hint in
                PostgresStatement(
                    "SELECT pg_notify($1, $2)",
                    [.text(channel), .text(hint.text(generation, route, heads))]
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
                try? await loop.sleep(until: began + Self.interval)
            } catch {
                // Nobody relies on hints: what is not told is found by looking.
                try? await loop.sleep(until: loop.currentTime() + Self.pause)
            }
        }
        isHinting = false
    }
}
