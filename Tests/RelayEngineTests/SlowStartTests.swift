import RelayBase
import RelayEngine
import RelayEngineBench
import RelayJobs
import RelayTestSupport
import Testing

@Suite("A store that is slow as the daemon starts", .runQueue, .timeLimit(.minutes(5)))
struct SlowStartTests {
    private func slow(_ count: Int) -> [StoreError?] {
        Array(repeating: StoreError(.slow, "the machine is busy"), count: count)
    }

    /// Why the start failed; nil when it did not.
    private func start(_ bench: DurableBench) async -> StoreError.Code? {
        do {
            try await bench.start()
            return nil
        } catch { return (error as? StoreError)?.code ?? .failed }
    }

    @Test(
        "A read that is too slow is made again, each of them forty times in all",
        arguments: [(0, 0), (1, 0), (39, 0), (0, 39), (39, 39)]
    )
    func again(counters: Int, pauses: Int) async throws {
        let bench = DurableBench { _ in .answer(200) }
        bench.faults.failReads(slow(counters) + [nil] + slow(pauses))
        #expect(await start(bench) == nil && bench.faults.readsToFail == 0)
        let id = try await bench.submit()
        try await bench.job(id, is: .succeeded)
        #expect(await bench.stop())
    }

    @Test("One that is slow each time ends the start", arguments: [0, 1])
    func over(passed: Int) async {
        let bench = DurableBench { _ in .answer(200) }
        bench.faults.failReads(Array(repeating: nil, count: passed) + slow(50))
        #expect(await start(bench) == .slow && bench.faults.readsToFail == 10)
        #expect(await bench.stop())
    }

    @Test("A read that fails for another reason than time is not tried again")
    func broken() async {
        let bench = DurableBench { _ in .answer(200) }
        bench.faults.failReads([StoreError(.corrupt, "damaged"), nil, nil])
        #expect(await start(bench) == .corrupt && bench.faults.readsToFail == 2)
        #expect(await bench.stop())
    }
}
