package import RelayBase
package import RelayFleet
package import RelayJobs
import RelayTestSupport
import Synchronization

private let jobs = Atomic<UInt64>(1)

extension NewJob {
    /// A job of the route that tests of a fleet use.
    package static func ofFleet(_ change: (inout NewJob) -> Void = { _ in }) -> NewJob {
        let number = jobs.add(1, ordering: .relaxed).newValue
        let id = JobID(milliseconds: JobMoment.present.wall, random: (8, number))
        var job = NewJob(JobRecord(id: id, route: "hooks", method: .post, target: "x"), body: .bytes([1, 2]))
        change(&job)
        return job
    }

    package var id: JobID { record.id }

    /// The id as the database has it.
    package var uuid: String {
        let digits = Array("0123456789abcdef")
        return String(
            [id.high, id.low].flatMap { word in
                stride(from: 60, through: 0, by: -4).map { digits[Int(word >> UInt64($0) & 15)] }
            }
        )
    }
}

extension PostgreSQLJobStore {
    /// The answer of the store for one job.
    package func answer(_ job: NewJob) async -> Result<EnqueueResult, StoreError> {
        do throws(StoreError) { return .success(try await enqueue([job], at: .present)[0]) } catch {
            return .failure(error)
        }
    }

    /// Claims until there is something.
    package func nextClaim() async throws -> Claim {
        var claims: [Claim] = []
        try await until {
            claims = try await claim("hooks", limit: 1, upstream: "eu", at: .present).claims
            return !claims.isEmpty
        }
        return claims[0]
    }

    /// How many jobs are in each state that has any.
    package func states() async throws(StoreError) -> [JobState: Int] {
        let counts = try await counters(at: .present, withDue: false).counts
        return Dictionary(counts.map { ($0.key.state, $0.value) }, uniquingKeysWith: +).filter {
            $0.value != 0
        }
    }

    /// Does the action to one job.
    package func apply(_ action: JobAction, to id: JobID) async throws(StoreError) -> ActionReport {
        var filter = JobFilter()
        filter.ids = [id]
        return try await apply(
            ActionOrder(action, filter, limit: 1, by: .user(nil, isBulk: false)),
            at: .present
        )
    }
}
