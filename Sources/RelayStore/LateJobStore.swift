package import RelayCore
import Synchronization

/// The job store of a daemon that starts also where the disk has no room to open it.
///
/// Until it is open every call is refused as by a store that is full.
package final class LateJobStore: Sendable {
    private enum Wait {
        /// Why it is not open. Can transition to: over, closed.
        case room(StoreError)
        case over
        case closed
    }

    private let opened = AtomicLazyReference<SQLiteJobStore>()
    private let wait: Mutex<Wait>
    private let maxSize: Mutex<UInt64>
    private let options: SQLiteJobStore.Options

    private init(_ options: SQLiteJobStore.Options, _ wait: Wait) {
        self.options = options
        self.wait = Mutex(wait)
        maxSize = Mutex(options.maxSize)
    }

    /// Opens the store in a directory, or waits with it until there is room.
    ///
    /// - Throws: what opening throws, but not `full`.
    package static func open(
        _ options: SQLiteJobStore.Options,
        at now: JobMoment
    ) async throws(StoreError) -> LateJobStore {
        let store: SQLiteJobStore
        do throws(StoreError) {
            store = try await SQLiteJobStore.open(options, at: now)
        } catch {
            guard error.code == .full else { throw error }
            return LateJobStore(options, .room(error))
        }
        let late = LateJobStore(options, .over)
        _ = late.opened.storeIfNil(store)
        return late
    }

    /// The store; nil while it waits for room.
    package var store: SQLiteJobStore? { opened.load() }

    /// Why it is not open; nil once it is.
    package var refusal: StoreError? {
        wait.withLock { wait in
            if case .room(let error) = wait { error } else { nil }
        }
    }

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
        new.setMaxSize(maxSize.withLock { $0 })
        let isWanted = wait.withLock { wait in
            if case .closed = wait { return false }
            // Whoever no longer reads that it waits finds it.
            _ = opened.storeIfNil(new)
            wait = .over
            return true
        }
        if isWanted { return true }
        await new.close()
        throw .closed
    }

    /// - Throws: why it is not open.
    func inUse() throws(StoreError) -> SQLiteJobStore {
        if let store { return store }
        let refusal = wait.withLock { wait -> StoreError? in
            switch wait {
            case .room(let error): error
            case .over: nil
            case .closed: .closed
            }
        }
        if let refusal { throw refusal }
        guard let store else { throw .closed }
        return store
    }

    package func close() async {
        wait.withLock { $0 = .closed }
        await store?.close()
    }

    /// Sets how many bytes may be in use, from the next transaction on.
    package func setMaxSize(_ bytes: UInt64) {
        maxSize.withLock { $0 = bytes }
        store?.setMaxSize(bytes)
    }

    /// The facts as of the last transaction, at once and from anywhere.
    package var standing: StoreFacts {
        if let store { return store.standing }
        var facts = StoreFacts()
        facts.maxBytes = maxSize.withLock { $0 }
        facts.isFull = true
        facts.disk = Ballast(path: options.directory + "/ballast", limit: 0).disk
        return facts
    }
}
