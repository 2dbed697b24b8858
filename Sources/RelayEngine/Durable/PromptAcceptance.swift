import RelayBase
import RelayCore
import RelayJobs
import RelayRoute
import Synchronization

/// One job on its way to disk whose caller has no task: the store's word is told on the caller's loop.
///
/// In every other case its caller takes a task, which goes on with `finish` as any other acceptance does.
package final class PromptAcceptance: Sendable {
    /// The word that the caller is told, once.
    package enum Reply: Sendable {
        case accepted(Acceptance.Accepted)
        case refused(Problem)
        /// The next step has to be waited for: `finish` goes on from there.
        case waits
    }

    package typealias Receiver = @Sendable (Reply) -> Void

    private struct State: ~Copyable {
        /// Nil once the caller has been told, or has a task.
        var receiver: Receiver?
        /// Held until the job is known to be on disk, or not to be.
        var reservation: QueueCapacity.Reservation?
        var offer: Dispatcher.Offer?
        /// The answer that the store has given, for a task.
        var answer: AcceptanceWaits.Answer?
        /// Where the task waits for that.
        var waiter: AcceptanceWaits.Waiter?
    }

    private let acceptance: Acceptance
    private let offered: OfferedJob
    private let moment: JobMoment
    private let storageDeadline: StorageDeadline
    private let deadline: Instant
    private let state: Mutex<State>

    fileprivate init(
        _ acceptance: Acceptance,
        _ offered: OfferedJob,
        _ moment: JobMoment,
        _ storageDeadline: StorageDeadline,
        _ reservation: consuming QueueCapacity.Reservation,
        _ offer: consuming Dispatcher.Offer?,
        _ receiver: @escaping Receiver
    ) {
        self.acceptance = acceptance
        self.offered = offered
        self.moment = moment
        self.storageDeadline = storageDeadline
        deadline = storageDeadline.ports.time.now().advanced(by: storageDeadline.limit)
        state = Mutex(State(receiver: receiver, reservation: reservation, offer: offer))
    }

    /// How long the caller is to wait for the word before it takes a task.
    package var limit: Duration { storageDeadline.limit }

    /// The caller takes a task, and is told nothing.
    package func takeTask() { state.withLock { $0.receiver = nil } }

    /// Asks the store.
    ///
    /// - Returns: false where it needs a task; nobody is told anything then.
    fileprivate func begin() -> Bool {
        let isBegun = acceptance.store.enqueue(offered, at: moment) { [self] answer in
            acceptance.announceUnawaited(offered, answer)
            storageDeadline.ports.execute { [self] in landed(answer) }
        }
        if !isBegun { giveBack() }
        return isBegun
    }

    /// The store has said its word.
    private func landed(_ answer: AcceptanceWaits.Answer) {
        let (receiver, waiter) = state.withLock { state in
            let receiver = state.receiver.take()
            if receiver == nil || !PromptAcceptance.needsNoTask(answer) { state.answer = answer }
            return (receiver, state.waiter)
        }
        guard let receiver else {
            waiter?.pending.give(answer)
            return
        }
        guard case .success(let result) = answer, PromptAcceptance.needsNoTask(answer) else {
            return receiver(.waits)
        }
        do throws(Problem) {
            receiver(.accepted(try conclude(result)))
        } catch {
            receiver(.refused(error))
        }
    }

    /// Nothing has to be asked of the store about a new job, nor about another one that has its key.
    private static func needsNoTask(_ answer: AcceptanceWaits.Answer) -> Bool {
        guard case .success(let result) = answer else { return false }
        if case .duplicate = result { return false }
        return true
    }

    /// Tells of the job and runs it, as far as it is accepted.
    private func conclude(_ result: EnqueueResult) throws(Problem) -> Acceptance.Accepted {
        acceptance.announce(offered, result)
        var offer = state.withLock { $0.offer.take() }
        offer?.begin(offered, result, at: moment)
        offer = nil
        giveBack()
        return try acceptance.accepted(offered.job, result)
    }

    /// Waits for the store, and for whatever else has to be waited for.
    ///
    /// - Throws: what `Acceptance.accept` throws.
    package func finish() async throws(Problem) -> Acceptance.Accepted {
        guard let answer = await answer() else {
            giveBack()
            if offered.job.wait?.isInDoubt == true {
                throw Problem(.unconfirmed, accepting: offered.job)
            }
            return try acceptance.accepted(offered.job, .abandoned)
        }
        let refusal: StoreError
        switch answer {
        case .success(let result): return try conclude(result)
        case .failure(let error): refusal = error
        }
        _ = state.withLock { $0.offer.take() }
        defer { giveBack() }
        return try await acceptance.known(offered.job, storageDeadline, after: refusal)
    }

    /// The store's answer; nil when the patience is over first.
    private func answer() async -> AcceptanceWaits.Answer? {
        guard let wait = offered.job.wait else { preconditionFailure("a job without a task has a wait") }
        if let known = state.withLock({ $0.answer }) { return known }
        let waiter = acceptance.waits.enter(until: deadline, storageDeadline.ports)
        defer { acceptance.waits.remove(waiter) }
        let known = state.withLock { state in
            state.waiter = waiter
            return state.answer
        }
        if let known { waiter.pending.give(known) }
        return await waiter.answer(unlessGivenUp: wait)
    }

    private func giveBack() {
        // Outside of the lock: whoever waits for a permit goes on at once.
        _ = state.withLock { $0.offer.take() }
        _ = state.withLock { $0.reservation.take() }
    }
}

extension Acceptance {
    /// Hands an admitted job over to the disk for a caller without a task.
    ///
    /// - Returns: nil where more than the disk has to be waited for, or nothing; nothing is done then, and `accept` says
    ///   why.
    package func acceptPromptly(
        _ admission: Admission,
        _ bytes: [UInt8],
        _ storageDeadline: StorageDeadline,
        _ receiver: @escaping PromptAcceptance.Receiver
    ) -> PromptAcceptance? {
        let context = admission.context
        // A request with a timeout of its own is watched more closely.
        guard context.options.timeout == nil, bytes.count <= StoredBodyFile.pieceSize,
            !StorageDeadline.isOver(store, storageDeadline.ports.time),
            let reservation = capacity.reserve(of: context.client?.user, isBounded: context.share != nil)
        else { return nil }
        let body = StoredBody.bytes(bytes)
        let moment = JobMoment(engine.time)
        var offer =
            mayBeOffered(body, admission.keeping.due, past: nil)
            ? dispatcher.offer(admission.route.name) : nil
        let run = PromptAcceptance(
            self,
            OfferedJob(newJob(admission, body, wait: AcceptanceWait(), upstream: offer?.upstream)),
            moment,
            storageDeadline,
            reservation,
            offer.take(),
            receiver
        )
        return run.begin() ? run : nil
    }
}
