package import RelayBase
package import RelayJobs
import Synchronization

/// The job store of a daemon that starts also where the disk has no room to open it.
///
/// Until it is open every call is refused as by a store that is full.
package final class LateJobStore: Sendable {
    private struct State {
        /// Nil while it waits for room; once there it stays.
        var store: SQLiteJobStore?
        /// Why it is not open.
        var refusal: StoreError?
        var maxSize: UInt64
        var isClosed = false
    }

    private let state: Mutex<State>
    private let options: StoreOptions

    private init(_ options: StoreOptions, _ store: SQLiteJobStore?, _ refusal: StoreError?) {
        self.options = options
        state = Mutex(State(store: store, refusal: refusal, maxSize: options.maxSize))
    }

    /// Opens the store in a directory, or waits with it until there is room.
    ///
    /// - Throws: what opening throws, but not `full`.
    package static func open(
        _ options: StoreOptions,
        at now: JobMoment
    ) async throws(StoreError) -> LateJobStore {
        let store: SQLiteJobStore
        do throws(StoreError) {
            store = try await SQLiteJobStore.open(options, at: now)
        } catch {
            guard error.code == .full else { throw error }
            return LateJobStore(options, nil, error)
        }
        return LateJobStore(options, store, nil)
    }

    /// The store; nil while it waits for room.
    package var store: SQLiteJobStore? { state.withLock { $0.store } }

    /// Why it is not open; nil once it is.
    package var refusal: StoreError? { state.withLock { $0.refusal } }

    /// Tries once more to open it; to be called by one task only.
    ///
    /// - Returns: whether it is open now.
    /// - Throws: what opening throws, but not `full`; `closed`.
    package func tryOpening(at now: JobMoment) async throws(StoreError) -> Bool {
        if store != nil { return true }
        let new: SQLiteJobStore
        do throws(StoreError) {
            new = try await SQLiteJobStore.open(options, at: now)
        } catch {
            guard error.code == .full else { throw error }
            return false
        }
        let isWanted = state.withLock { state in
            guard !state.isClosed else { return false }
            new.setMaxSize(state.maxSize)
            (state.store, state.refusal) = (new, nil)
            return true
        }
        if isWanted { return true }
        await new.close()
        throw .closed
    }

    /// - Throws: why it is not open.
    func inUse() throws(StoreError) -> SQLiteJobStore {
        let (store, refusal) = state.withLock { ($0.store, $0.refusal) }
        guard let store else { throw refusal ?? .closed }
        return store
    }

    package func close() async {
        let store = state.withLock { state in
            (state.isClosed, state.refusal) = (true, nil)
            return state.store
        }
        await store?.close()
    }

    /// Sets how many bytes may be in use, from the next transaction on.
    package func setMaxSize(_ bytes: UInt64) {
        state.withLock { state in
            state.maxSize = bytes
            state.store?.setMaxSize(bytes)
        }
    }

    /// The facts as of the last transaction, at once and from anywhere.
    package var standing: StoreFacts {
        if let store { return store.standing }
        var facts = StoreFacts()
        facts.maxBytes = state.withLock { $0.maxSize }
        facts.isFull = true
        facts.disk = ReserveFile(path: options.directory + "/ballast", limit: 0).disk
        return facts
    }
}
