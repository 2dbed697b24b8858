import RelayBase
import RelayCore
import RelayInterface
import Synchronization

/// Locks on idempotency keys: while a request with a key is answered, no other one may use the key.
///
/// Requests that are answered by their own connection take one; the store checks the keys of kept jobs.
final class IdempotencyLocks: Sendable {
    fileprivate struct ScopedKey: Hashable {
        var user: UInt32
        var route: String
        var key: String
    }

    private let holders = Mutex<[ScopedKey: JobID]>([:])

    /// One request's lock on a key, which `release` or its last reference frees.
    final class Lock: Sendable {
        private let key: ScopedKey
        private let locks: IdempotencyLocks
        private let isHeld = Atomic<Bool>(true)

        fileprivate init(_ key: ScopedKey, _ locks: IdempotencyLocks) {
            self.key = key
            self.locks = locks
        }

        func release() {
            // A second call may not free the key of its next holder; the mutex orders all else.
            guard isHeld.exchange(false, ordering: .relaxed) else { return }
            _ = locks.holders.withLock { $0.removeValue(forKey: key) }
        }

        deinit { release() }
    }

    /// Locks the key for the request `id`.
    ///
    /// - Throws: `idempotency_in_progress` while another request has it.
    func acquire(
        _ key: String,
        of client: ClientIdentity?,
        route: String,
        by id: JobID
    ) throws(Problem) -> Lock {
        // Callers without a user share their keys; no process has the uid of all ones.
        let scoped = ScopedKey(user: client?.user ?? .max, route: route, key: key)
        let holder = holders.withLock { holders in
            let holder = holders[scoped]
            if holder == nil { holders[scoped] = id }
            return holder
        }
        guard let holder else { return Lock(scoped, self) }
        throw Problem(
            .idempotencyInProgress,
            "another request with this idempotency key is in progress; send this one again when that one is answered",
            job: holder,
            // Nobody knows when the other one ends.
            retryAfter: .seconds(1)
        )
    }
}
