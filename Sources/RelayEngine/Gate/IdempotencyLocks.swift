import RelayBase
import RelayCore
import RelayInterface
import Synchronization

/// The idempotency keys of requests that wait for their answer in this process.
final class IdempotencyLocks: Sendable {
    fileprivate struct Name: Hashable {
        var user: UInt32
        var route: String
        var key: String
    }

    private let holders = Mutex<[Name: JobID]>([:])

    /// A key that is one request's; it is free again when this is let go.
    final class Held: Sendable {
        private let name: Name
        private let keys: IdempotencyLocks
        private let isHeld = Atomic<Bool>(true)

        fileprivate init(_ name: Name, _ keys: IdempotencyLocks) {
            self.name = name
            self.keys = keys
        }

        func letGo() {
            guard isHeld.exchange(false, ordering: .relaxed) else { return }
            _ = keys.holders.withLock { $0.removeValue(forKey: name) }
        }

        deinit { letGo() }
    }

    /// - Throws: `idempotency_in_progress` while another request has the key.
    func acquire(
        _ key: String,
        of client: ClientIdentity?,
        route: String,
        by id: JobID
    ) throws(Problem) -> Held {
        let name = Name(user: client?.user ?? .max, route: route, key: key)
        let holder = holders.withLock { holders in
            let holder = holders[name]
            if holder == nil { holders[name] = id }
            return holder
        }
        guard let holder else { return Held(name, self) }
        throw Problem(
            .idempotencyInProgress,
            "another request with this idempotency key is under way; send it again when that one is answered",
            job: holder,
            retryAfter: .seconds(1)
        )
    }
}
