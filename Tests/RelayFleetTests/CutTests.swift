import PostgresTestSupport
import RelayBase
import RelayFleet
import RelayFleetBench
import RelayJobs
import RelayPosix
import RelayPostgres
import RelayTestSupport
import Testing

@Suite("Whichever message to or from the database is lost, no job is", .timeLimit(.minutes(10)))
struct CutTests {
    /// All of them where the environment asks for it: `Tests/Fleet/cuts`.
    private static let cuts =
        environment("WAYSTATION_ALL_CUTS") == nil
        ? Array(stride(from: 7, through: 200, by: 16)) : Array(1...200)

    @Test("The k-th one: nothing is lost, invented or settled twice")
    func cut() async throws {
        let nodes = try await Nodes()
        let plain = try await nodes.open("plain")
        for cut in Self.cuts { try await life(nodes, plain, cut) }
        await plain.close()
    }

    /// Lives of jobs at a node whose way to the database loses one message.
    private func life(_ nodes: Nodes, _ plain: PostgreSQLJobStore, _ cut: Int) async throws {
        let proxy = try CuttingProxy(to: nodes.server, cuttingAt: cut)
        defer { proxy.end() }
        let store = try await nodes.open("cut_\(cut)") {
            ($0.database.host, $0.database.port) = ("127.0.0.1", Int(proxy.port))
            $0.statementTimeout = .seconds(2)
        }
        var (said, refused): ([JobID], [JobID]) = ([], [])
        var (sent, applied): ([JobID: Int], [JobID: Int]) = ([:], [:])
        var number = 0
        while proxy.messages < cut + 4 || number < 2 {
            number += 1
            let isOrdered = number.isMultiple(of: 3)
            let job = NewJob.ofFleet {
                $0.record.route = "cut_\(cut)"
                $0.record.orderingKey = isOrdered ? "o" : nil
                if number.isMultiple(of: 2) {
                    $0.idempotency = .init(
                        user: 1,
                        key: "\(cut) \(number)",
                        fingerprint: [1],
                        window: .seconds(60)
                    )
                }
            }
            switch await store.answer(job) {
            case .success(let result):
                #expect(result == .accepted, "\(cut)")
                said.append(job.id)
            case .failure(let error):
                #expect(error.code == .unavailable, "\(cut): \(error)")
                refused.append(job.id)
                continue
            }
            try await settle(store, cut, &sent, &applied, of: job.id)
        }
        for id in said {
            let job = try #require(try await plain.job(id), "\(cut)")
            #expect(job.state == .succeeded && sent[id] == 1 && applied[id] == 1, "\(cut): \(job.state)")
            #expect(try await plain.attempts(of: id, after: 0, limit: 9).count == 1, "\(cut)")
        }
        for id in refused { #expect(try await plain.job(id) == nil, "\(cut)") }
        await store.close()
    }

    /// Claims until the job is there, and settles it until the store has a word for that.
    private func settle(
        _ store: PostgreSQLJobStore,
        _ cut: Int,
        _ sent: inout [JobID: Int],
        _ applied: inout [JobID: Int],
        of id: JobID
    ) async throws {
        while applied[id] == nil {
            try Task.checkCancellation()
            let batch = try? await store.claim("cut_\(cut)", limit: 3, upstream: "eu", at: .present)
            for claim in batch?.claims ?? [] {
                sent[claim.token.id, default: 0] += 1
                let attempt = Attempt(number: claim.job.attempts + 1, upstream: "eu", beganAt: 1)
                var answer: Settlement.Answer?
                while answer == nil {
                    try Task.checkCancellation()
                    answer = try? await store.settle(
                        [Settlement(claim.token, .succeeded, attempts: [attempt])],
                        at: .present
                    )[0]
                }
                #expect(answer == .applied(.succeeded), "\(cut)")
                applied[claim.token.id, default: 0] += 1
            }
        }
    }
}
