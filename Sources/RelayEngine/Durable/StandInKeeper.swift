package import RelayBase
package import RelayCore
import RelayInterface
package import RelayJobs
import RelayRoute

/// Makes a kept job of one admitted request that a rule answers in the upstream's stead.
package final class StandInKeeper: RequestKeeper {
    private let admission: Admission
    private let intake: JobIntake

    /// Nil where no rule keeps the request; a failing initializer would make the object first.
    ///
    /// `countsBytes` tells whether a body in memory counts as its caller's by what holds it.
    package static func made(
        _ admission: Admission,
        _ durable: DurableJobs,
        _ ports: RelayPorts,
        countsBytes: Bool = true
    ) -> StandInKeeper? {
        if !admission.mayBeKept { return nil }
        return StandInKeeper(admission, JobIntake(durable, ports, countsBytes: countsBytes))
    }

    private init(_ admission: Admission, _ intake: JobIntake) {
        self.admission = admission
        self.intake = intake
    }

    package func keep(_ body: Body, _ past: PriorAttempts) async -> KeepAnswer {
        var intake = intake
        intake.past = past
        let began = intake.ports.time.now()
        do throws(Problem) {
            let accepted: Acceptance.Accepted
            switch body {
            case .empty: accepted = try await intake.keep(admission, [])
            case .bytes(let bytes): accepted = try await intake.keep(admission, bytes)
            case .stream(let source):
                accepted = try await intake.keep(admission, source) { Problem(.badRequest, $0.detail) }
            }
            if accepted.isReplayed {
                let deadline = intake.deadline(admission, since: began)
                if let reason = try await undelivered(accepted.id, deadline) { return .refused(reason) }
            }
            admission.releaseIdempotencyKey()
            return .kept(KeptJobName(accepted.id, isReplayed: accepted.isReplayed))
        } catch {
            return .refused(error.detail)
        }
    }

    /// Why the earlier job of the same key will not deliver the request, or is not known to; nil where it will, or has.
    ///
    /// - Throws: what the store does not tell.
    private func undelivered(_ id: JobID, _ deadline: StorageDeadline) async throws(Problem) -> String? {
        let (store, route) = (intake.durable.store, admission.route.name)
        var deadline = deadline
        let found = try await deadline.wait { () async throws(Problem) in
            try await store.told(route: route) { (store) async throws(StoreError) in try await store.job(id) }
        }
        let standing: String
        switch found {
        case nil: standing = "of which the disk of the job store does not tell in time"
        case .some(nil): standing = "which is no longer there"
        case .some(let job?):
            if job.state == .succeeded || !job.state.isTerminal { return nil }
            standing = "which is \(job.state.name)"
        }
        return "its idempotency key belongs to job \(id), \(standing)"
    }
}
