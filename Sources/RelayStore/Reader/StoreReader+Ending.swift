import RelayBase
import RelayJobs

/// The unfinished jobs that are over soon: looked for only while somebody asks, and never on a job's way.
extension StoreReader {
    /// Jobs of each sort that one look takes in, those first that expire first or were accepted first.
    static let endingLimit = 10_000
    /// Blocks of plain jobs that one look takes in.
    private static let endingBlocks: Int64 = 8

    /// Jobs that wait and expire by `end`, by route.
    func expiring(by end: Int64) throws(StoreError) -> [String: EndingJobs] {
        try read { () throws(StoreError) in
            let (names, timeline) = (try routeNames(), shared.timeline)
            let select = try database.statement(
                """
                SELECT route, state = 4, count(*), min(expires) FROM (
                SELECT route, state, expires FROM job INDEXED BY job_expires WHERE expires <= ?1 AND expires IS NOT NULL
                AND fin IS NULL AND state BETWEEN 0 AND 4 AND state <> 2 ORDER BY expires LIMIT ?2) GROUP BY 1, 2
                """
            )
            select.bind(1, timeline.line(ofWall: end))
            select.bind(2, Int64(Self.endingLimit))
            defer { select.reset() }
            var found: [String: EndingJobs] = [:]
            while try select.step() {
                guard let name = names[select.int(0)] else { continue }
                let share = EndingJobs.Share(Int(select.int(2)), first: timeline.wall(ofLine: select.int(3)))
                var jobs = found[name] ?? EndingJobs()
                if select.int(1) == 1 {
                    jobs.held = jobs.held + share
                } else {
                    jobs.expiring = jobs.expiring + share
                }
                found[name] = jobs
            }
            for (route, share) in try plainExpiring(by: end) {
                guard let name = names[route] else { continue }
                var jobs = found[name] ?? EndingJobs()
                jobs.expiring = jobs.expiring + share
                found[name] = jobs
            }
            return found
        }
    }

    /// Plain jobs that wait, in a queue or for their time, and expire by `end`, by the route's number.
    private func plainExpiring(by end: Int64) throws(StoreError) -> [Int64: EndingJobs.Share] {
        let running = try database.claimedPositions()
        let select = try database.statement(
            """
            SELECT plain.route, plain.seq, expires FROM (
            SELECT route, block FROM (SELECT route, block FROM zone WHERE open > 0 ORDER BY block LIMIT ?2)
            UNION SELECT route, block FROM (SELECT route, block FROM zone WHERE due IS NOT NULL LIMIT ?2)
            ) AS place CROSS JOIN plain ON plain.seq BETWEEN block << 10 AND (block << 10) + 1023
            WHERE plain.route = place.route AND expires <= ?1 AND lane BETWEEN 0 AND 8
            AND NOT EXISTS (SELECT 1 FROM ended WHERE ended.seq = plain.seq)
            """
        )
        select.bind(1, shared.timeline.line(ofWall: end))
        select.bind(2, Self.endingBlocks)
        defer { select.reset() }
        var found: [Int64: EndingJobs.Share] = [:]
        while try select.step() {
            guard !running.contains(select.int(1)) else { continue }
            let share = EndingJobs.Share(1, first: shared.timeline.wall(ofLine: select.int(2)))
            found[select.int(0)] = (found[select.int(0)] ?? EndingJobs.Share()) + share
        }
        return found
    }

    /// Jobs of a route that have failed, are due by `end` and do not expire by then; the first `limit` that have failed.
    func failed(of route: String, dueBy end: Int64, limit: Int) throws(StoreError) -> [EndingJobs.Failed] {
        try read { () throws(StoreError) in
            guard let number = try routeNames().first(where: { $0.value == route })?.key else { return [] }
            let timeline = shared.timeline
            let select = try database.statement(
                """
                SELECT kind, status, attempts - earlier, spent, min(run_at), count(*) FROM (
                SELECT seq FROM mark WHERE list = 2 AND route = ?1 ORDER BY word, at LIMIT ?2) AS failed
                CROSS JOIN job ON job.seq = failed.seq
                WHERE run_at <= ?3 AND (expires IS NULL OR expires > ?3) AND fin IS NULL AND state IN (1, 3)
                GROUP BY 1, 2, 3, 4, run_at / 60000
                """
            )
            select.bind(1, number)
            select.bind(2, Int64(limit))
            select.bind(3, timeline.line(ofWall: end))
            defer { select.reset() }
            var found: [EndingJobs.Failed] = []
            while try select.step() {
                guard let kind = select.text(0) else { continue }
                found.append(
                    EndingJobs.Failed(
                        FailureKind(rawValue: kind),
                        select.optionalInt(1).map { Status(rawValue: UInt16(truncatingIfNeeded: $0)) },
                        made: Int(select.int(2)),
                        spent: Int(select.int(3)),
                        due: timeline.wall(ofLine: select.int(4)),
                        count: Int(select.int(5))
                    )
                )
            }
            return found
        }
    }
}
