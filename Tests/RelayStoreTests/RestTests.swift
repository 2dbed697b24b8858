import Foundation
import RelayBase
import RelayJobs
import RelayStore
import RelayStoreBench
import RelayTestSupport
import Testing

@Suite("A store with nothing to do says for how long, and leaves the disk alone", .timeLimit(.minutes(5)))
struct RestTests {
    private static let day: Duration = .seconds(86_400)

    /// The report of a sweep, with the rest after it: a sweep that does anything does not look for the rest.
    private func swept(_ bench: SQLiteBench, _ retention: Retention = Retention()) async throws -> SweepReport
    {
        var report = try await bench.store.sweep(retention, limit: 100, at: bench.now)
        if report.idleTime == .zero {
            report.idleTime = try await bench.store.sweep(retention, limit: 100, at: bench.now).idleTime
        }
        return report
    }

    /// The bytes of the log and when they were last written, as the file system has it.
    private func log(_ bench: SQLiteBench) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: bench.scratch.path)
        return try names.filter { $0.hasSuffix("-wal") }.map { name in
            let path = bench.scratch.path + "/" + name
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path)).hashValue
            return "\(name) \(facts[.modificationDate] ?? "") \(bytes)"
        }
    }

    @Test("An empty one writes nothing, however often it is swept, and a step of the clock once")
    func empty() async throws {
        let bench = try await SQLiteBench()
        _ = try await swept(bench)
        let before = try log(bench)
        #expect(before.count == 1)
        for _ in 0..<10 {
            try await bench.advance(by: 600_000)
            #expect(try await swept(bench).idleTime == Self.day)
        }
        #expect(try log(bench) == before)
        #expect(try await bench.store.facts().commitTimes.count <= 2)
        bench.stepWall(by: 60_000)
        _ = try await swept(bench)
        let stepped = try log(bench)
        #expect(stepped != before)
        _ = try await swept(bench)
        #expect(try log(bench) == stepped)
    }

    @Test("One with jobs writes once an hour how far time has come")
    func hourly() async throws {
        let bench = try await SQLiteBench()
        try await bench.accept { $0.due = .after(.seconds(86_400)) }
        _ = try await swept(bench)
        var last = try log(bench)
        var writes = 0
        for _ in 0..<30 {
            try await bench.advance(by: 600_000)
            _ = try await swept(bench)
            let now = try log(bench)
            if now != last { writes += 1 }
            last = now
        }
        #expect(writes == 5)
    }

    @Test("Erased content has the store swept until it is overwritten")
    func erased() async throws {
        let bench = try await SQLiteBench(eraseDelay: .milliseconds(1))
        var retention = Retention()
        (retention.dead, retention.bodies) = (.seconds(10), .seconds(10))
        try await bench.accept()
        try await bench.settle(try await bench.claim()[0], .dead(.exhausted))
        try await bench.advance(by: 10_000)
        #expect(try await bench.store.sweep(retention, limit: 100, at: bench.now).idleTime == .zero)
        for _ in 0..<1_000 {
            _ = try await bench.store.sweep(retention, limit: 100, at: bench.now)
            // Behind the writer's own work.
            _ = try await bench.store.settle([], at: bench.now)
            if try await !bench.store.facts().wantsSweeps { return }
        }
        Issue.record("the store never rests")
    }
}
