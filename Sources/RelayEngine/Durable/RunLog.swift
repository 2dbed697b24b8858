import RelayBase
import RelayJobs
import Synchronization

/// The record of one run's attempts: the first stands there since the claim, each later one before it is sent.
final class RunLog: AttemptLog {
    private struct State {
        /// The attempt that stands on record as begun.
        var number: Int
        var upstream: String?
        /// Attempts of the run whose end is on record.
        var recorded = 0
        /// The last attempt that has begun.
        var begun = 0
    }

    private let run: JobRun
    private let state: Mutex<State>

    private var token: ClaimToken { run.claim.token }

    init(_ run: JobRun) {
        self.run = run
        let claim = run.claim
        state = Mutex(State(number: claim.attemptNumber, upstream: claim.job.begun?.upstream))
    }

    /// Attempts of the run, from its first on, that a settlement need not tell of.
    var recorded: Int { state.withLock { $0.recorded } }

    func begin(_ attempt: Attempt, after earlier: ArraySlice<Attempt>) async throws(Failure) -> Bool {
        if let isNew = beginNow(attempt) { return isNew }
        try await record(attempt, after: earlier)
        return beginNow(attempt) ?? true
    }

    func beginNow(_ attempt: Attempt) -> Bool? {
        run.started()
        return state.withLock { state in
            guard state.number == attempt.number, state.upstream == attempt.upstream else { return nil }
            defer { state.begun = attempt.number }
            return state.begun != attempt.number
        }
    }

    private func record(_ attempt: Attempt, after earlier: ArraySlice<Attempt>) async throws(Failure) {
        let next = NextAttempt(
            token,
            upstream: attempt.upstream,
            earlier: earlier.dropFirst(recorded).map(\.onRecord)
        )
        try await keep(next)
        state.withLock { state in
            state.number = attempt.number
            state.upstream = attempt.upstream
            state.recorded = earlier.count
        }
    }

    var maySend: Bool { run.store.maySend(token) }

    func resend() async throws(Failure) { try await keep(NextAttempt(resending: token)) }

    private func keep(_ next: NextAttempt) async throws(Failure) {
        guard maySend else { throw .unsure }
        do throws(StoreError) {
            guard try await run.store.begin(next, at: run.moment) else {
                throw StoreError(.closed, "the job is to have no other attempt")
            }
        } catch {
            throw Failure(
                error.code == .closed ? .cancelled : .attemptUnrecorded,
                sent: .neverSent,
                error.message
            )
        }
    }
}
