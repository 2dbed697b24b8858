package import RelayBase
package import RelayJobs
package import Synchronization

/// The calls that a test has a store in memory fail, hold back and remember.
package final class StoreFaults: Sendable {
    /// Tells what the store has to say, whenever it likes and on whatever thread.
    package typealias Teller = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// A call that can be held back after it was done.
    package enum Call: Hashable {
        case enqueue
        case claim
        case settle
        case apply(JobAction)
        /// A look at one job.
        case look
        /// A count of the jobs of each user.
        case countUsers
    }

    private let ofSettlements = Mutex<[StoreError]>([])
    private let ofAcceptance = Mutex<StoreError?>(nil)
    private let ofReads = Mutex<[StoreError?]>([])
    private let ofActions = Mutex<[StoreError?]>([])
    private let ofClaims = Mutex<[StoreError]>([])
    private let ofLooks = Mutex<StoreError?>(nil)
    private let ofBegin = Mutex<StoreError?>(nil)
    private let settled = Mutex<Settlement?>(nil)
    private let unsettled = Mutex<Settlement?>(nil)
    private let teller = Mutex<Teller?>(nil)
    /// A closure in a mutex gets a thunk more with each look at it.
    private struct Delay { let body: @Sendable () async -> Void }
    private let delay = Mutex<Delay?>(nil)
    private let interludes = Mutex<[Call: @Sendable () async -> Void]>([:])
    /// How often somebody looked at a job.
    package let looks = Atomic<Int>(0)
    private let isUnsure = Atomic<Bool>(false)
    private let lost = Atomic<UInt64>(0)
    /// Whether it asks for what it cannot take back before it writes a job.
    private let isFinal = Atomic<Bool>(false)

    init() {}

    /// The next settlements fail like that, one after the other.
    package func failSettlements(_ errors: [StoreError]) { ofSettlements.withLock { $0 = errors } }
    /// The next reads of counters and pauses end like that, one after the other; nil lets one pass.
    package func failReads(_ errors: [StoreError?]) { ofReads.withLock { $0 = errors } }
    /// The next actions end like that, one after the other; nil lets one pass.
    package func failActions(_ errors: [StoreError?]) { ofActions.withLock { $0 = errors } }
    /// The next claims fail like that, one after the other.
    package func failClaims(_ errors: [StoreError]) { ofClaims.withLock { $0 = errors } }
    /// Looks at jobs and lists of them fail like that; nil ends it.
    package func failLooks(_ error: StoreError?) { ofLooks.withLock { $0 = error } }
    /// From now on the store cannot take back what it begins to write.
    package func writeFinally() { isFinal.store(true, ordering: .relaxed) }
    /// From now on others may take over what it has claimed, or not any more.
    package func makeUnsure(_ isUnsure: Bool = true) { self.isUnsure.store(isUnsure, ordering: .relaxed) }
    /// Others have taken over the jobs of the claims up to this number.
    package func loseClaims(upTo number: UInt64) { lost.store(number, ordering: .relaxed) }
    package func failBegin(_ error: StoreError) { ofBegin.withLock { $0 = error } }
    package func failAcceptance(_ error: StoreError?) { ofAcceptance.withLock { $0 = error } }
    /// Does that after the next such call, before its caller learns of it.
    package func after(_ call: Call, _ body: @escaping @Sendable () async -> Void) {
        interludes.withLock { $0[call] = body }
    }

    /// From now on each write takes as long as that.
    package func delayWrites(_ body: @escaping @Sendable () async -> Void) {
        delay.withLock { $0 = Delay(body: body) }
    }

    /// From now on `teller` tells what the store has to say to who has no task; without one it is told at once.
    package func tellThrough(_ teller: @escaping Teller) { self.teller.withLock { $0 = teller } }

    /// The teller of the result of such a call without a task; nil where a body that is to follow it needs one.
    func teller(of call: Call) -> Teller? {
        if interludes.withLock({ $0[call] != nil }) || delay.withLock({ $0 != nil }) { return nil }
        return teller.withLock { $0 } ?? { $0() }
    }

    /// The settlement that the store was told last.
    package var lastSettlement: Settlement? { settled.withLock { $0 } }
    /// The last one that failed.
    package var lastFailedSettlement: Settlement? { unsettled.withLock { $0 } }
    package var readsToFail: Int { ofReads.withLock { $0.count } }
    package var settlementsToFail: Int { ofSettlements.withLock { $0.count } }
    package var claimsToFail: Int { ofClaims.withLock { $0.count } }

    func enqueue(_ jobs: [NewJob]) throws(StoreError) {
        if let fault = ofAcceptance.withLock({ $0 }), !jobs.allSatisfy(\.lacksCapacity) { throw fault }
        guard isFinal.load(ordering: .relaxed) else { return }
        for job in jobs { _ = job.wait?.send() }
    }

    private var maySend: Bool { !isUnsure.load(ordering: .relaxed) }

    func maySend(_ token: ClaimToken) -> Bool { maySend && token.number > lost.load(ordering: .relaxed) }

    func claim() throws(StoreError) {
        if !maySend { throw StoreError(.unavailable, "the lease is nearly over") }
        if let fault = ofClaims.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw fault }
    }

    func look() throws(StoreError) { if let fault = ofLooks.withLock({ $0 }) { throw fault } }

    func read() throws(StoreError) {
        if let fault = ofReads.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw fault }
    }

    func act() throws(StoreError) {
        if let fault = ofActions.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw fault }
    }

    func begin() throws(StoreError) { if let fault = ofBegin.withLock({ $0.take() }) { throw fault } }

    func settle(_ settlements: [Settlement]) throws(StoreError) {
        if let fault = ofSettlements.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            unsettled.withLock { $0 = settlements.last }
            throw fault
        }
        settled.withLock { $0 = settlements.last }
    }

    func write() async { await delay.withLock { $0 }?.body() }

    func interlude(_ call: Call) async { await interludes.withLock { $0.removeValue(forKey: call) }?() }
}
