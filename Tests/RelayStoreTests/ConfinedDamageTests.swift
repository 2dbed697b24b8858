import Glibc
import RelayBase
import RelayJobs
import RelayRecords
import RelayStoreBench
import RelayTestSupport
import Testing

@testable import RelayStore

@Suite("A damaged job is given up, and the jobs beside it go on", .timeLimit(.minutes(5)))
struct ConfinedDamageTests {
    private func damage(
        _ bench: SQLiteBench,
        _ id: JobID,
        _ change: String = "crashes = 77"
    ) throws {
        let database = try Database(bench.scratch.path + "/jobs.db", readOnly: false)
        let seq = try #require(try database.seq(of: id))
        try database.execute("UPDATE job SET \(change), sum = sum + 1 WHERE seq = \(seq)")
    }

    private func corrupt(_ id: JobID) -> String {
        JobChange(id: id, route: "hooks", user: nil, state: .dead, end: .corrupt).text
    }

    private func keyed(_ bench: SQLiteBench, _ count: Int) async throws -> [JobID] {
        var ids: [JobID] = []
        for _ in 0..<count { ids.append(try await bench.accept { $0.record.orderingKey = "k" }) }
        return ids
    }

    /// Claims and settles until nothing is left.
    private func drain(_ bench: SQLiteBench) async throws -> [JobID] {
        var seen: [JobID] = []
        for _ in 0..<20 {
            let claims = try await bench.claim()
            #expect(claims.count <= 1)
            guard let claim = claims.first else { continue }
            seen.append(claim.token.id)
            #expect(try await bench.settle(claim, .succeeded) == .applied(.succeeded))
        }
        return seen
    }

    @Test(
        "The others of its ordering key go in their order, whatever is damaged and wherever it stands",
        arguments: 0..<5,
        [
            "crashes = 77", "prv = NULL", "nxt = NULL", "nxt = 99", "prv = 99, nxt = 1", "okey = 'other'",
            "okey = NULL", "state = 2", "state = 6, fin = 5",
        ]
    )
    func orderingKey(place: Int, change: String) async throws {
        let bench = try await SQLiteBench(orderingKeysInMemory: place % 2 == 0 ? 1 : 1_000)
        var ids = try await keyed(bench, 5)
        try damage(bench, ids[place], change)
        if place < 4 { ids += try await keyed(bench, 1) }
        let lost = ids[place]
        let seen = try await drain(bench)
        ids += try await keyed(bench, 1)
        #expect(try await seen + drain(bench) == ids.filter { $0 != lost })
        // A job whose record says that it is over was told of when it ended.
        #expect(try await bench.ended() == (change.hasPrefix("state = 6") ? [] : [corrupt(lost)]))
    }

    @Test(
        "Several at once leave the rest in order, also a job that was replayed and stands behind newer ones"
    )
    func several() async throws {
        let bench = try await SQLiteBench()
        let ids = try await keyed(bench, 8)
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
        try await bench.apply(.retry, ids[0])
        for index in [2, 5] { try damage(bench, ids[index], "prv = NULL, nxt = NULL") }
        #expect(try await drain(bench) == [ids[1], ids[3], ids[4], ids[6], ids[7], ids[0]])
        #expect(try await Set(bench.ended()) == [corrupt(ids[2]), corrupt(ids[5])])
    }

    @Test("A store opens when a job ends beside a damaged one at the opening", arguments: [1, 0])
    func opening(place: Int) async throws {
        let bench = try await SQLiteBench()
        var ids: [JobID] = []
        for _ in 0..<3 {
            ids.append(
                try await bench.accept {
                    $0.record.orderingKey = "k"
                    $0.record.mayRepeat = false
                }
            )
        }
        #expect(try await bench.claim().map(\.token.id) == [ids[0]])
        try damage(bench, ids[place])
        try await bench.reopen()
        let flying = JobChange(
            id: ids[0],
            route: "hooks",
            user: nil,
            state: .dead,
            end: .outcomeUnknown,
            attemptCount: 1
        ).text
        #expect(try await Set(bench.ended()) == (place == 0 ? [corrupt(ids[0])] : [flying, corrupt(ids[1])]))
        #expect(try await drain(bench) == (place == 0 ? [ids[1], ids[2]] : [ids[2]]))
    }

    @Test("Others of its route are claimed when the indexes no longer agree with it")
    func indexes() async throws {
        let bench = try await SQLiteBench()
        let ids = [try await bench.accept(), try await bench.accept()]
        try await bench.rearrange()
        let path = bench.scratch.path + "/jobs.db"
        let database = try Database(path, readOnly: false)
        // It knows of the log once it has read.
        _ = try database.seq(of: ids[0])
        #expect(try database.checkpoint(truncate: true))
        let file = Files.read(path)
        let due = (0..<6).map { UInt8(truncatingIfNeeded: bench.now.wall >> Int64(40 - 8 * $0)) }
        // In the table, and there alone, the due time stands close behind the id.
        var places: [Int] = []
        for place in file.indices.dropLast(40) where file[place..<place + 16].elementsEqual(ids[0].bytes) {
            for gap in 16..<28 where file[place + gap..<place + gap + 6].elementsEqual(due) {
                places.append(place + gap + 5)
            }
        }
        let place = try #require(places.first)
        Files.write(path, [file[place] ^ 1], at: off_t(place))
        // A commit of another makes the store read its pages again.
        try database.execute("UPDATE meta SET v = v WHERE k = 'epoch'")
        #expect(try await bench.claim().map(\.token.id) == [ids[1]])
        #expect(try await bench.ended() == [corrupt(ids[0])])
    }

    @Test("An index that names a job which is not there is made anew, and the others are claimed")
    func orphan() async throws {
        let bench = try await SQLiteBench()
        let ids = [try await bench.accept(), try await bench.accept(), try await bench.accept()]
        try await bench.rearrange()
        let path = bench.scratch.path + "/jobs.db"
        let database = try Database(path, readOnly: false)
        let seq = UInt8(try #require(try database.seq(of: ids[1])))
        #expect(try database.checkpoint(truncate: true))
        let file = Files.read(path)
        // An entry of the index ends with the due time and the number of the job.
        let due = (0..<6).map { UInt8(truncatingIfNeeded: bench.now.wall >> Int64(40 - 8 * $0)) }
        let places = file.indices.dropLast(40).filter { place in
            file[place..<place + 7].elementsEqual(due + [seq])
                && !(16..<28).contains {
                    place >= $0 && file[place - $0..<place - $0 + 16].elementsEqual(ids[1].bytes)
                }
        }
        #expect(places.count == 1)
        for place in places { Files.write(path, [seq ^ 0x40], at: off_t(place + 6)) }
        try database.execute("UPDATE meta SET v = v WHERE k = 'epoch'")
        // The entry of the second stands for a job that is not there; from the table it is made anew.
        #expect(try await bench.claim().map(\.token.id) == ids)
        #expect(try await bench.claim().isEmpty)
    }

    @Test("A supersede key that meets it takes new jobs")
    func supersede() async throws {
        let bench = try await SQLiteBench()
        var ids: [JobID] = []
        for place in 0..<3 {
            ids.append(
                try await bench.accept(body: SQLiteBench.unremembered) { $0.record.supersedeKey = "s" }
            )
            if place == 0 { try damage(bench, ids[0]) }
        }
        #expect(try await bench.claim().map(\.token.id) == [ids[2]])
        let superseded = JobChange(
            id: ids[1],
            route: "hooks",
            user: nil,
            state: .cancelled,
            end: .superseded
        )
        #expect(try await bench.ended() == [corrupt(ids[0]), superseded.text])
    }

    @Test(
        "Settlements of it and beside it are applied: what runs is known without its row, which is whole again"
    )
    func settlement() async throws {
        let bench = try await SQLiteBench()
        let ids = [try await bench.accept(), try await bench.accept()]
        let claims = try await bench.claim()
        try damage(bench, ids[0])
        let answers = try await bench.store.settle(
            claims.map { Settlement($0.token, .succeeded) },
            at: bench.now
        )
        #expect(answers == [.applied(.succeeded), .applied(.succeeded)])
        for id in ids { #expect(try await bench.job(id).state == .succeeded) }
        #expect(try await bench.ended().isEmpty)
    }
}
