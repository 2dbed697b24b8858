package import RelayCore
package import RelayEngine

/// Makes a kept job of one admitted request that a rule answers in the upstream's stead.
package final class StandInKeeper: RequestKeeper {
    private let admission: Admission
    private let durable: DurableJobs
    private let ports: RelayPorts

    /// Nil where no rule keeps the request; a failing initializer would make the object first.
    package static func made(
        _ admission: Admission,
        _ durable: DurableJobs,
        _ ports: RelayPorts
    ) -> StandInKeeper? {
        admission.keptLater == nil ? nil : StandInKeeper(admission, durable, ports)
    }

    private init(_ admission: Admission, _ durable: DurableJobs, _ ports: RelayPorts) {
        self.admission = admission
        self.durable = durable
        self.ports = ports
    }

    package func keep(_ body: Body, _ past: JobPast) async -> KeepAnswer {
        let intake = JobIntake(durable, ports, past: past)
        do throws(Problem) {
            let accepted: Acceptance.Accepted
            switch body {
            case .empty: accepted = try await intake.keep(admission, [])
            case .bytes(let bytes): accepted = try await intake.keep(admission, bytes)
            case .stream(let source):
                accepted = try await intake.keep(admission, source) { Problem(.badRequest, $0.detail) }
            }
            if accepted.isReplayed, let reason = try await undelivered(accepted.id) {
                return .refused(reason)
            }
            admission.letKeyGo()
            return .kept(KeptJobName(accepted.id, isReplayed: accepted.isReplayed))
        } catch {
            return .refused(error.detail)
        }
    }

    /// Why the earlier job of the same key will not deliver the request; nil where it will, or has.
    ///
    /// - Throws: what the store does not tell.
    private func undelivered(_ id: JobID) async throws(Problem) -> String? {
        let found = try await durable.store.told(route: admission.route.name) { store throws(StoreError) in
            try await store.job(id)
        }
        let state: String
        switch found?.state {
        case nil: state = "no longer there"
        case .dead?, .cancelled?, .expired?: state = found?.state.name ?? ""
        case .scheduled?, .queued?, .running?, .retrying?, .held?, .succeeded?: return nil
        }
        return "its idempotency key belongs to job \(id), which is \(state)"
    }
}
