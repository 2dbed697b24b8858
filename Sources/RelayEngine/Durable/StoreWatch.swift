import RelayBase
package import RelayJobs
import Synchronization

/// How many jobs there are and how the store is, as of the last sweep: a second ago, or when the
/// store was last changed.
package final class StoreWatch: Sendable {
    private struct State {
        var counters = JobCounters()
        var facts = StoreFacts()
    }

    private let store: any JobStore
    private let capacity: QueueCapacity
    private let time: any ClockSource
    private let state = Mutex(State())

    init(_ store: any JobStore, _ capacity: QueueCapacity, _ time: any ClockSource) {
        self.store = store
        self.capacity = capacity
        self.time = time
        capacity.configure(users: store.member?.usersNode ?? .none)
    }

    package var counters: JobCounters { state.withLock { $0.counters } }
    package var facts: StoreFacts { state.withLock { $0.facts } }

    /// Asks the store both.
    ///
    /// - Returns: whether what is shown of them is another now.
    @discardableResult
    func count() async throws(StoreError) -> Bool {
        let told = capacity.told
        let counters = try await store.counters(at: JobMoment(time), withDue: true)
        let facts = try await store.facts()
        let notices = counters.notices
        capacity.counted(
            counters.unfinished() - notices,
            notices: notices,
            since: told,
            sharedBy: facts.nodes
        )
        return state.withLock { state in
            defer { (state.counters, state.facts) = (counters, facts) }
            return state.counters != counters || state.facts.isFull != facts.isFull
        }
    }

    /// Whether the jobs of each user are to be counted now, by `countUsers`: where users have a bound, at the start and
    /// after a refusal.
    func beginsUserCount() -> Bool { capacity.beginsUserCount(time.now(), isShared: isShared) }

    private var isShared: Bool { store.member != nil }

    /// Asks how many jobs each user has; to be called once for each count that begins.
    func countUsers() async throws(StoreError) {
        do throws(StoreError) {
            capacity.counted(try await store.unfinishedByUser(), isShared: isShared)
        } catch {
            capacity.counted(nil)
            throw error
        }
    }

    /// Asks how the store is; what it cannot say now is asked again within a second.
    func look() async {
        guard let facts = try? await store.facts() else { return }
        state.withLock { $0.facts = facts }
    }
}
